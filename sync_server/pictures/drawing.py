"""Draws a picture anew in every size and form it is shown in: what comes out was made here, and carries nothing else.

Nothing of a file is believed: its kind is read from its content, its size before anything is unpacked.
"""

from __future__ import annotations

import io
import struct
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from PIL import Image, ImageCms, ImageOps

from shared.errors import InvalidRequest, TooLarge

MOST_BYTES: Final = 10 * 1024 * 1024
MOST_PIXELS: Final = 40_000_000
LONGEST_SIDE: Final = 16_000
WIDTHS: Final = (320, 800, 1600)
_FORMS: Final = {"webp": ("WEBP", "image/webp"), "jpg": ("JPEG", "image/jpeg")}
_KINDS: Final = {b"\xff\xd8\xff": "JPEG", b"\x89PNG\r\n\x1a\n": "PNG"}
VARIANTS: Final = tuple(f"{width}.{form}" for width in WIDTHS for form in _FORMS)


@dataclass(frozen=True, slots=True)
class Variant:
    """A picture in one size and form."""

    name: str
    content_type: str
    width: int
    height: int
    content: bytes


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture as it will be shown."""

    original: bytes
    width: int
    height: int
    variants: tuple[Variant, ...]


def draw(content: bytes) -> Drawn:
    """The picture in all its variants; InvalidRequest or TooLarge, in words, for what is none or too much."""
    try:
        kind = kind_of(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # our own bound is tighter, and comes first
            picture = _opened(content, kind)
            return Drawn(content, *picture.size, tuple(_variants(picture)))
    except Image.DecompressionBombError:
        raise _too_many_pixels() from None
    except (OSError, SyntaxError, ValueError, EOFError, struct.error, IndexError, OverflowError, KeyError):
        raise InvalidRequest(
            "The picture is damaged: it cannot be drawn. Save it anew as JPEG, PNG or WebP and send that.",
            code="picture_damaged",
        ) from None


def kind_of(content: bytes) -> str:
    """JPEG, PNG or WEBP, by content and whatever the name says; refuses anything else, and more bytes than we take."""
    if len(content) > MOST_BYTES:
        raise TooLarge(f"A picture has at most {MOST_BYTES // 1024 // 1024} MB. Save it smaller and send that.")
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        _check_size(*_size_of_webp(content))  # the decoder sets memory aside as soon as it sees such a file
        return "WEBP"
    for start, kind in _KINDS.items():
        if content.startswith(start):
            return kind
    raise InvalidRequest("This is no picture in JPEG, PNG or WebP.", code="picture_unknown")


def _opened(content: bytes, kind: str) -> Image.Image:
    picture = Image.open(io.BytesIO(content), formats=(kind,))  # reads the head only
    _check_size(*picture.size)
    if kind == "JPEG":
        picture.draft("RGB", (2 * WIDTHS[-1], 2 * WIDTHS[-1]))  # unpacks no more than is shown
    upright = ImageOps.exif_transpose(picture)
    return _in_common_colours(upright)


def _in_common_colours(picture: Image.Image) -> Image.Image:
    clear = picture.mode in {"RGBA", "LA", "PA"} or "transparency" in picture.info
    profile = picture.info.get("icc_profile")
    plain = picture.convert("RGBA" if clear else "RGB") if picture.mode != "CMYK" else picture
    if profile:
        plain = _as_srgb(plain, profile)
    return plain.convert("RGBA" if clear else "RGB")


def _as_srgb(picture: Image.Image, profile: bytes) -> Image.Image:
    try:
        known = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        mode = "RGBA" if picture.mode == "RGBA" else "RGB"
        return ImageCms.profileToProfile(picture, known, ImageCms.createProfile("sRGB"), outputMode=mode) or picture
    except (ImageCms.PyCMSError, OSError, ValueError):
        return picture  # an odd profile spoils no more than the shades


def _check_size(width: int, height: int) -> None:
    if not width or not height:
        raise ValueError("a picture of no size")
    if width * height > MOST_PIXELS or max(width, height) > LONGEST_SIDE:
        raise _too_many_pixels()


def _too_many_pixels() -> TooLarge:
    return TooLarge(
        f"A picture has at most {MOST_PIXELS // 1_000_000} million pixels, and {LONGEST_SIDE} on a side. Save it "
        "smaller and send that.",
        code="too_many_pixels",
    )


def _size_of_webp(content: bytes) -> tuple[int, int]:
    form, body = content[12:16], content[20:30]
    if len(body) < 10:
        return 0, 0
    if form == b"VP8X":
        return int.from_bytes(body[4:7], "little") + 1, int.from_bytes(body[7:10], "little") + 1
    if form == b"VP8L":
        bits = int.from_bytes(body[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return int.from_bytes(body[6:8], "little") & 0x3FFF, int.from_bytes(body[8:10], "little") & 0x3FFF


def _variants(picture: Image.Image) -> Iterator[Variant]:
    for width in WIDTHS:
        sized = picture.copy()
        sized.thumbnail((width, 2 * width), Image.Resampling.LANCZOS)  # never larger than it came
        for form, (kind, content_type) in _FORMS.items():
            yield Variant(f"{width}.{form}", content_type, *sized.size, _encoded(sized, kind))


def _encoded(picture: Image.Image, kind: str) -> bytes:
    out = io.BytesIO()
    if kind == "WEBP":
        picture.save(out, kind, quality=80, method=4)
    else:
        _on_white(picture).save(out, kind, quality=82, optimize=True, progressive=True)
    return out.getvalue()


def _on_white(picture: Image.Image) -> Image.Image:
    if picture.mode != "RGBA":
        return picture
    paper = Image.new("RGB", picture.size, "white")
    paper.paste(picture, mask=picture.getchannel("A"))
    return paper
