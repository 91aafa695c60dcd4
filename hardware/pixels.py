"""Pictures as decoders want them: one brightness a pixel, from cameras and from files of any kind."""

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.ports import DeviceError

Picture = NDArray[np.uint8]

LARGEST_PICTURE = 100_000_000


def grey(pixels: Picture) -> Picture:
    """One brightness a pixel, from whatever a camera or a file delivers."""
    if pixels.ndim == 2:
        return pixels
    channels = pixels.shape[2]
    if channels <= 2:
        return np.ascontiguousarray(pixels[:, :, 0])
    if channels == 4:
        return on_white(pixels)
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY), dtype=np.uint8)


def on_white(pixels: Picture) -> Picture:
    """A picture with transparency as it looks on paper; codes are often saved as black on nothing."""
    opacity = pixels[:, :, 3].astype(np.float32) / 255
    ink = cv2.cvtColor(pixels, cv2.COLOR_BGRA2GRAY).astype(np.float32)
    return np.asarray(ink * opacity + 255 * (1 - opacity), dtype=np.uint8)


def load(path: Path) -> Picture:
    """The pixels of a picture file, with transparency kept."""
    try:
        content = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    except OSError as why:
        raise unreadable(path, f"The file cannot be read ({why.strerror}).") from why
    pixels = unpacked(content)
    if pixels is None:
        raise unreadable(path, "The file is not a picture, or it is damaged.")
    if pixels.shape[0] * pixels.shape[1] > LARGEST_PICTURE:
        raise unreadable(path, "The picture is far larger than any camera's.")
    return pixels


def unpacked(content: Picture) -> Picture | None:
    """The pixels of a packed picture, 8 bits each; None when it is none."""
    if content.size == 0:
        return None
    try:
        pixels = cv2.imdecode(content, cv2.IMREAD_UNCHANGED)
    except cv2.error:
        return None
    if pixels is None:
        return None
    deep = pixels.dtype == np.uint16
    return np.asarray(pixels // 257 if deep else pixels, dtype=np.uint8)


def unreadable(path: Path, happened: str) -> DeviceError:
    return DeviceError(path.name, happened, "Give a PNG, JPEG or other picture file.")
