"""Images of ticket codes, degraded as they are at a real gate."""

import cv2
import numpy as np
import zxingcpp
from numpy.typing import NDArray

Picture = NDArray[np.uint8]

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


def ticket_text(seed: int = 1) -> str:
    """174 characters like a ticket's, and nobody's ticket."""
    letters = np.random.default_rng(seed).integers(0, len(ALPHABET), 170)
    return "MAY1" + "".join(ALPHABET[n] for n in letters)


def code(text: str, module_px: float = 4, quiet: int = 4) -> Picture:
    """The QR code of a text, dark on white, with a quiet zone of so many modules."""
    barcode = zxingcpp.create_barcode(text, zxingcpp.BarcodeFormat.QRCode, ec_level="M")
    modules = np.array(zxingcpp.write_barcode_to_image(barcode, scale=1, add_quiet_zones=False), dtype=np.uint8)
    framed = np.pad(modules, quiet, constant_values=255)
    size = round(framed.shape[0] * module_px)
    way = cv2.INTER_NEAREST if float(module_px).is_integer() else cv2.INTER_AREA
    return np.asarray(cv2.resize(framed, (size, size), interpolation=way), dtype=np.uint8)


def turned(picture: Picture, degrees: float) -> Picture:
    """Rotated about its middle, on white."""
    height, width = picture.shape
    room = round(1.5 * max(height, width))
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1.0)
    turn[:, 2] += ((room - width) / 2, (room - height) / 2)
    return np.asarray(cv2.warpAffine(picture, turn, (room, room), borderValue=(255,)), dtype=np.uint8)


def blurred(picture: Picture, sigma: float) -> Picture:
    return np.asarray(cv2.GaussianBlur(picture, (0, 0), sigma), dtype=np.uint8)


def faint(picture: Picture, dark: int = 110, light: int = 140) -> Picture:
    """Black and white squeezed into a narrow band of greys."""
    return np.asarray(dark + picture.astype(np.float32) * (light - dark) / 255, dtype=np.uint8)


def inverted(picture: Picture) -> Picture:
    return np.asarray(255 - picture, dtype=np.uint8)


def tilted(picture: Picture, depth: float) -> Picture:
    """Seen from the side: the right edge is farther away."""
    height, width = picture.shape
    inset = depth * height / 2
    seen = np.array([[0, 0], [width, inset], [width, height - inset], [0, height]], dtype=np.float32)
    flat = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float32)
    bend = cv2.getPerspectiveTransform(flat, seen)
    return np.asarray(cv2.warpPerspective(picture, bend, (width, height), borderValue=(255,)), dtype=np.uint8)


def grainy(picture: Picture, strength: float, seed: int = 7) -> Picture:
    noise = np.random.default_rng(seed).normal(0, strength, picture.shape)
    return np.asarray(np.clip(picture + noise, 0, 255), dtype=np.uint8)


def room(width: int = 1280, height: int = 720, seed: int = 3) -> Picture:
    """What a camera at a door sees while nobody is there: shapes, edges, light and grain."""
    chance = np.random.default_rng(seed)
    scene = np.full((height, width), 90, dtype=np.uint8)
    for _ in range(40):
        corner = chance.integers(0, (width, height))
        size = chance.integers(20, 200, 2)
        cv2.rectangle(scene, corner.tolist(), (corner + size).tolist(), int(chance.integers(0, 255)), -1)
    return grainy(blurred(scene, 1.2), 3, seed)


def held_up(picture: Picture, scene: Picture, at: tuple[int, int] = (400, 150)) -> Picture:
    """A code in front of a scene, its upper left corner at (column, row)."""
    shown = scene.copy()
    column, row = at
    shown[row : row + picture.shape[0], column : column + picture.shape[1]] = picture
    return shown


def damaged(picture: Picture) -> Picture:
    """A code that can be found but not read: a broad strip of it is worn off."""
    worn = picture.copy()
    middle, strip = worn.shape[0] // 2, worn.shape[0] // 6
    worn[middle - strip : middle + strip, :] = 255
    return worn
