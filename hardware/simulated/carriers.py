"""What guests hold up: phones and paper that show a code, drawn flat as seen from the front."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import cv2
import numpy as np
import zxingcpp
from numpy.typing import NDArray

from hardware.vision.pixels import Image

TEXTURE_PX = 8
"""Pixels of a module in a drawing: more than any camera at a door resolves."""
QUIET = 4
Points = NDArray[np.float32]
Chance = np.random.Generator


class Carrier(StrEnum):
    """What a code is shown on, in the words of a steward."""

    PHONE = "phone"
    DIM_PHONE = "dim phone"
    BRIGHT_PHONE = "bright phone"
    DARK_MODE = "dark-mode phone"
    INVERTED = "inverted code on a phone"
    CRACKED = "cracked phone"
    GLARE = "phone with glare"
    PIXELS = "phone with visible pixels"
    PAPER = "printed ticket"
    FOLDED = "folded paper"
    CURVED = "curved paper"
    COLOURED = "coloured code on paper"
    CROWDED = "code without a quiet zone"
    WORN = "worn print"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A carrier seen from the front, and where on it the code is."""

    pixels: Image
    module_px: float
    code: Points
    """The four corners of the code in the drawing, clockwise from the upper left."""


def modules_of(text: str) -> Image:
    """The modules of the QR code of a text, 0 dark and 255 light, without a quiet zone."""
    barcode = zxingcpp.create_barcode(text, zxingcpp.BarcodeFormat.QRCode, ec_level="M")
    return np.array(zxingcpp.write_barcode_to_image(barcode, scale=1, add_quiet_zones=False), dtype=np.uint8)


def draw(text: str, carrier: Carrier, chance: Chance) -> Drawing:
    """Draws what a guest holds up."""
    modules = cv2.resize(modules_of(text), None, fx=TEXTURE_PX, fy=TEXTURE_PX, interpolation=cv2.INTER_NEAREST)
    return _DRAWN[carrier](np.asarray(modules, dtype=np.uint8), chance)


def _on_phone(
    code: Image, *, dark: int = 18, light: int = 235, page: int = 235, quiet: int = QUIET, body: int = 25
) -> Drawing:
    """A screen with the code in the middle of a page, in the frame of a phone."""
    size, margin = code.shape[0], quiet * TEXTURE_PX
    across = size + 2 * margin + 6 * TEXTURE_PX
    tall, edge = round(across * 1.8), 3 * TEXTURE_PX
    face = np.full((tall, across), page, dtype=np.uint8)
    top, left = (tall - size) // 2, (across - size) // 2
    box = (slice(top - margin, top + size + margin), slice(left - margin, left + size + margin))
    face[box] = max(dark, light)
    face[top : top + size, left : left + size] = _inked(code, dark, light)
    _write_lines(face, top - margin - 17 * TEXTURE_PX, 170 if page < 100 else 60)
    whole = cv2.copyMakeBorder(face, edge, edge, edge, edge, cv2.BORDER_CONSTANT, value=(body,))
    return _drawing(np.asarray(whole, dtype=np.uint8), top + edge, left + edge, size)


def _on_paper(code: Image, *, dark: int = 45, light: int = 215, quiet: int = QUIET) -> Drawing:
    """A sheet with the code and some lines of print."""
    size = code.shape[0]
    across, tall = round(size * 1.8), round(size * 2.2)
    sheet = np.full((tall, across), light, dtype=np.uint8)
    top, left = size // 3, (across - size) // 2
    if quiet < QUIET:
        cv2.rectangle(sheet, (0, 0), (left - quiet * TEXTURE_PX - 1, tall), dark, -1)
    sheet[top : top + size, left : left + size] = _inked(code, dark, light)
    _write_lines(sheet, top + size + 12 * TEXTURE_PX, dark)
    return _drawing(sheet, top, left, size)


def _inked(code: Image, dark: int, light: int) -> Image:
    return np.asarray(dark + code.astype(np.float32) * (light - dark) / 255, dtype=np.uint8)


def _write_lines(face: Image, top: int, ink: int) -> None:
    for line in range(3):
        at = (face.shape[1] // 8, top + line * 6 * TEXTURE_PX)
        cv2.putText(face, "Admit one 19:30 C 14", at, cv2.FONT_HERSHEY_SIMPLEX, TEXTURE_PX / 8, ink, 2, cv2.LINE_AA)


def _drawing(pixels: Image, top: int, left: int, size: int) -> Drawing:
    corners = np.array([[left, top], [left + size, top], [left + size, top + size], [left, top + size]], np.float32)
    return Drawing(pixels, TEXTURE_PX, corners)


def _with(drawing: Drawing, pixels: Image | np.ndarray) -> Drawing:
    clipped = np.asarray(np.clip(pixels, 0, 255), dtype=np.uint8)
    return Drawing(clipped, drawing.module_px, drawing.code)


def _phone(code: Image, chance: Chance) -> Drawing:
    return _on_phone(code, light=int(chance.integers(200, 255)))


def _dim(code: Image, chance: Chance) -> Drawing:
    dark = int(chance.integers(20, 50))
    light = dark + int(chance.integers(35, 60))
    return _on_phone(code, dark=dark, light=light, page=light)


def _bright(code: Image, chance: Chance) -> Drawing:
    """A screen at full brightness in a dark place: the camera's white spills into the black."""
    plain = _on_phone(code, dark=int(chance.integers(70, 120)), light=255, page=255)
    spilled = cv2.GaussianBlur(plain.pixels, (0, 0), TEXTURE_PX * 3).astype(np.float32)
    return _with(plain, plain.pixels + 0.35 * spilled)


def _dark_mode(code: Image, chance: Chance) -> Drawing:
    return _on_phone(code, page=int(chance.integers(10, 40)), quiet=2)


def _inverted(code: Image, chance: Chance) -> Drawing:
    return _on_phone(code, dark=int(chance.integers(190, 240)), light=20, page=20, quiet=0)


def _cracked(code: Image, chance: Chance) -> Drawing:
    """Cracks run from one point over the glass; along them, thinner than a module, it scatters light."""
    plain = _on_phone(code)
    pixels, (tall, across) = plain.pixels.copy(), plain.pixels.shape
    origin = chance.integers((0, 0), (across, tall)).astype(np.float64)
    for angle in chance.uniform(0, 2 * np.pi, 5):
        bends = np.cumsum(angle + chance.normal(0, 0.25, 24))
        steps = np.stack([np.cos(angle + 0.1 * bends), np.sin(angle + 0.1 * bends)], 1) * across / 12
        line = (origin + np.cumsum(steps, 0)).astype(np.int32)
        cv2.polylines(pixels, [line], False, int(chance.integers(120, 250)), int(chance.integers(1, 4)), cv2.LINE_AA)
    return _with(plain, pixels)


def _glare(code: Image, chance: Chance) -> Drawing:
    """A lamp mirrored in the glass, beside or over a part of the code."""
    plain = _phone(code, chance)
    light = np.zeros_like(plain.pixels)
    tall, across = light.shape
    at = (int(chance.uniform(0.1, 0.9) * across), int(chance.uniform(0.2, 0.8) * tall))
    axes = (int(chance.uniform(0.08, 0.2) * across), int(chance.uniform(0.03, 0.09) * across))
    cv2.ellipse(light, at, axes, float(chance.uniform(0, 180)), 0, 360, 255, -1)
    soft = cv2.GaussianBlur(light, (0, 0), across / 40).astype(np.float32)
    return _with(plain, plain.pixels * 0.85 + 25 + soft)


def _pixels(code: Image, chance: Chance) -> Drawing:
    """The grid of the screen, which beats with the grid of the camera."""
    plain = _phone(code, chance)
    tall, across = plain.pixels.shape
    period = float(chance.uniform(2.1, 3.9))
    waves = np.sin(np.arange(tall)[:, None] * 2 * np.pi / period) * np.sin(np.arange(across) * 2 * np.pi / period)
    return _with(plain, plain.pixels * (0.8 + 0.2 * waves))


def _paper(code: Image, chance: Chance) -> Drawing:
    plain = _on_paper(code, dark=int(chance.integers(30, 70)), light=int(chance.integers(170, 225)))
    grain = cv2.GaussianBlur(chance.normal(0, 12, plain.pixels.shape).astype(np.float32), (0, 0), 2)
    return _with(plain, plain.pixels + grain)


def _folded(code: Image, chance: Chance) -> Drawing:
    """Folded once each way: an edge without ink, and one side in shade."""
    plain = _paper(code, chance)
    pixels = plain.pixels.astype(np.float32)
    (left, top), (right, bottom) = plain.code[0].astype(int), plain.code[2].astype(int)
    row, column = int(chance.integers(top, bottom)), int(chance.integers(left, right))
    pixels[row:] *= float(chance.uniform(0.7, 0.9))
    pixels[:, column:] *= float(chance.uniform(0.75, 1.0))
    worn = TEXTURE_PX // 2
    pixels[row - worn : row + worn] = np.maximum(pixels[row - worn : row + worn], 150)
    return _with(plain, pixels)


def _curved(code: Image, chance: Chance) -> Drawing:
    """Bent around an upright axis: the sides are pressed together and shaded."""
    plain = _paper(code, chance)
    tall, across = plain.pixels.shape
    bend = float(chance.uniform(0.5, 1.0))
    seen = np.linspace(-1, 1, across) * np.sin(bend)
    source = (np.arcsin(seen) / bend + 1) / 2 * (across - 1)
    columns = np.tile(source.astype(np.float32), (tall, 1))
    rows = np.tile(np.arange(tall, dtype=np.float32)[:, None], (1, across))
    bent = cv2.remap(plain.pixels, columns, rows, cv2.INTER_LINEAR).astype(np.float32)
    corners = plain.code.astype(np.float64).copy()
    corners[:, 0] = np.interp(corners[:, 0], source, np.arange(across))
    return Drawing(
        np.asarray(bent * np.sqrt(1 - (seen * 0.8) ** 2), np.uint8), plain.module_px, corners.astype(np.float32)
    )


def _coloured(code: Image, chance: Chance) -> Drawing:
    """Red or blue on yellow or grey, as grey sees it."""
    dark = int(chance.integers(70, 110))
    return _on_paper(code, dark=dark, light=dark + int(chance.integers(50, 90)))


def _crowded(code: Image, chance: Chance) -> Drawing:
    """A picture reaches up to the code on one side."""
    return _on_paper(code, dark=int(chance.integers(30, 60)), quiet=1)


def _worn(code: Image, chance: Chance) -> Drawing:
    """Ink has come off in specks."""
    plain = _paper(code, chance)
    specks = cv2.GaussianBlur(chance.normal(0, 1, plain.pixels.shape).astype(np.float32), (0, 0), TEXTURE_PX / 2)
    return _with(plain, np.where(specks > 0.17, 200, plain.pixels))


_DRAWN: Final[dict[Carrier, Callable[[Image, Chance], Drawing]]] = {
    Carrier.PHONE: _phone,
    Carrier.DIM_PHONE: _dim,
    Carrier.BRIGHT_PHONE: _bright,
    Carrier.DARK_MODE: _dark_mode,
    Carrier.INVERTED: _inverted,
    Carrier.CRACKED: _cracked,
    Carrier.GLARE: _glare,
    Carrier.PIXELS: _pixels,
    Carrier.PAPER: _paper,
    Carrier.FOLDED: _folded,
    Carrier.CURVED: _curved,
    Carrier.COLOURED: _coloured,
    Carrier.CROWDED: _crowded,
    Carrier.WORN: _worn,
}
