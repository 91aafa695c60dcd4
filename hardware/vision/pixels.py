"""Loads images and converts them to grey for the decoders."""

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from hardware.ports import DeviceError

Image = NDArray[np.uint8]

LARGEST_IMAGE = 100_000_000
BARELY_SEEN = 12


class DamagedFrame(Exception):
    """A camera sent a frame that cannot be read, such as half a JPEG; the next one is on its way."""


JPEG_STARTS = (0xFF, 0xD8)


def grey(pixels: Image) -> Image:
    """Converts an image from a camera or file to grey. Raises DamagedFrame."""
    if is_jpeg(pixels):
        return _uncompressed(pixels, cv2.IMREAD_GRAYSCALE)
    if pixels.ndim == 2:
        return pixels
    channels = pixels.shape[2]
    if channels <= 2:
        return np.ascontiguousarray(pixels[:, :, 0])
    if channels == 4:
        return on_white(pixels)
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY), dtype=np.uint8)


def in_colour(pixels: Image) -> Image:
    """The same for people to look at, in blue, green and red. Raises DamagedFrame."""
    if is_jpeg(pixels):
        return _uncompressed(pixels, cv2.IMREAD_COLOR)
    if pixels.ndim == 3 and pixels.shape[2] == 3:
        return pixels
    if pixels.ndim == 3 and pixels.shape[2] == 2:
        return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_YUV2BGR_YUYV), dtype=np.uint8)
    return np.asarray(cv2.cvtColor(grey(pixels), cv2.COLOR_GRAY2BGR), dtype=np.uint8)


def is_jpeg(pixels: Image) -> bool:
    """Whether these are the bytes of a JPEG, as webcams send them, in one row or one column."""
    flat = pixels.reshape(-1) if pixels.ndim == 2 and 1 in pixels.shape else pixels
    return flat.ndim == 1 and flat.size > 2 and (int(flat[0]), int(flat[1])) == JPEG_STARTS


def _uncompressed(content: Image, way: int) -> Image:
    pixels = cv2.imdecode(content.reshape(-1), way)
    if pixels is None:
        raise DamagedFrame
    return np.asarray(pixels, dtype=np.uint8)


def colours(pixels: Image) -> tuple[Image, ...]:
    """Red, green and blue alone: a code may be printed in a colour that is as bright as its paper."""
    if pixels.ndim == 2 or pixels.shape[2] != 3:
        return ()
    return tuple(np.ascontiguousarray(pixels[:, :, one]) for one in range(3))


def on_white(pixels: Image) -> Image:
    """Puts an image with transparency on white; codes are often saved as black on transparent.

    On black if nothing is seen on white: such as a code for dark pages, saved as white on transparent.
    """
    opacity = pixels[:, :, 3].astype(np.float32) / 255
    ink = cv2.cvtColor(pixels, cv2.COLOR_BGRA2GRAY).astype(np.float32)
    shown = ink * opacity + 255 * (1 - opacity)
    return np.asarray(shown if np.ptp(shown) > BARELY_SEEN else ink * opacity, dtype=np.uint8)


def shrunk(image: Image, scale: float) -> Image:
    """The image in a smaller size; a line of pixels stays one, however thin it becomes."""
    if scale == 1:
        return image
    rows, columns = (max(1, round(side * scale)) for side in image.shape)
    return np.asarray(cv2.resize(image, (columns, rows), interpolation=cv2.INTER_AREA), dtype=np.uint8)


def load(path: Path) -> Image:
    """Loads an image file, keeping transparency. Raises DeviceError."""
    try:
        content = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    except OSError as why:
        raise unreadable(path, f"The file cannot be read ({why.strerror}).") from why
    pixels = decompress(content)
    if pixels is None:
        raise unreadable(path, "The file is not an image, or it is damaged.")
    if pixels.shape[0] * pixels.shape[1] > LARGEST_IMAGE:
        raise unreadable(path, "The image is far too large.")
    return pixels


def decompress(content: Image) -> Image | None:
    """Decompresses an image to 8 bits per channel; None if it is not an image."""
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
    return DeviceError(path.name, happened, "Choose a PNG, JPEG or other image file.")
