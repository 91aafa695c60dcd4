"""Renders an uploaded image in every size and format that is served, without any of its metadata.

Uploads are not trusted: the format is read from the content, and the size before anything is decoded.
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
from sync_server.plumbing.lanes import Lane

MAX_BYTES: Final = 10 * 1024 * 1024
MAX_PIXELS: Final = 40_000_000
MAX_SIDE: Final = 16_000
WIDTHS: Final = (320, 800, 1600)
_OUTPUT_FORMATS: Final = {"webp": ("WEBP", "image/webp"), "jpg": ("JPEG", "image/jpeg")}
_SIGNATURES: Final = {b"\xff\xd8\xff": "JPEG", b"\x89PNG\r\n\x1a\n": "PNG"}
_LONGEST: Final = 2 * WIDTHS[-1]
"""The longer side of the largest variant."""
_RESIZABLE: Final = frozenset({"L", "LA", "RGB", "RGBA", "CMYK"})
_LANE: Final = Lane("other pictures", waiting=8, retry_after=10)
"""A picture of forty million pixels takes hundreds of megabytes and seconds to render."""
VARIANTS: Final = tuple(f"{width}.{extension}" for width in WIDTHS for extension in _OUTPUT_FORMATS)


@dataclass(frozen=True, slots=True)
class Variant:
    """An image in one size and format."""

    name: str
    content_type: str
    width: int
    height: int
    content: bytes


@dataclass(frozen=True, slots=True)
class RenderedImage:
    """An image in all its variants."""

    original: bytes
    width: int
    height: int
    variants: tuple[Variant, ...]


def render_image(content: bytes) -> RenderedImage:
    """Render an upload; InvalidRequest if it is not an image, TooLarge if it is too big."""
    try:
        file_format = image_format(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # our own limit is lower, and checked first
            with _LANE.turn():
                size, picture = _opened(content, file_format)
                return RenderedImage(content, *size, tuple(_variants(picture)))
    except Image.DecompressionBombError:
        raise _too_many_pixels() from None
    except (OSError, SyntaxError, ValueError, EOFError, struct.error, IndexError, OverflowError, KeyError):
        raise InvalidRequest(
            "The picture is damaged. Save it again as JPEG, PNG or WebP, and upload that.", code="picture_damaged"
        ) from None


def image_format(content: bytes) -> str:
    """JPEG, PNG or WEBP, by content; InvalidRequest for anything else, TooLarge for too many bytes."""
    if len(content) > MAX_BYTES:
        raise TooLarge(
            f"A picture may have at most {MAX_BYTES // 1024 // 1024} MB. Make it smaller and upload it again."
        )
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        _check_size(*_size_of_webp(content))  # the decoder allocates memory as soon as it opens such a file
        return "WEBP"
    for signature, file_format in _SIGNATURES.items():
        if content.startswith(signature):
            return file_format
    raise InvalidRequest("This is not a JPEG, PNG or WebP picture.", code="picture_unknown")


def _opened(content: bytes, file_format: str) -> tuple[tuple[int, int], Image.Image]:
    """The upright size of the picture, and the picture, not much larger than its largest variant."""
    picture: Image.Image = Image.open(io.BytesIO(content), formats=(file_format,))  # reads the header only
    _check_size(*picture.size)
    width, height = picture.size
    part = min(1, _LONGEST / max(width, height))
    if file_format == "JPEG":
        picture.draft("RGB", (round(width * part), round(height * part)))  # decodes no more than is needed
    picture = _shrunk(picture)  # before everything else that copies it
    upright = _to_srgb(ImageOps.exif_transpose(picture))
    turned = (upright.width > upright.height) != (width > height)
    return (height, width) if turned else (width, height), upright


def _shrunk(picture: Image.Image) -> Image.Image:
    if max(picture.size) <= _LONGEST:
        return picture
    if picture.mode not in _RESIZABLE:
        transparent = picture.mode == "PA" or "transparency" in picture.info
        picture = picture.convert("RGBA" if transparent else "RGB")
    elif "transparency" in picture.info:  # a colour of its own, which would not survive
        picture = picture.convert("RGBA")
    picture.thumbnail((_LONGEST, _LONGEST), Image.Resampling.LANCZOS, reducing_gap=2.0)
    return picture


def _to_srgb(picture: Image.Image) -> Image.Image:
    transparent = picture.mode in {"RGBA", "LA", "PA"} or "transparency" in picture.info
    profile = picture.info.get("icc_profile")
    plain = picture.convert("RGBA" if transparent else "RGB") if picture.mode != "CMYK" else picture
    if profile:
        plain = _apply_profile(plain, profile)
    return plain.convert("RGBA" if transparent else "RGB")


def _apply_profile(picture: Image.Image, profile: bytes) -> Image.Image:
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        mode = "RGBA" if picture.mode == "RGBA" else "RGB"
        return ImageCms.profileToProfile(picture, source, ImageCms.createProfile("sRGB"), outputMode=mode) or picture
    except (ImageCms.PyCMSError, OSError, ValueError):
        return picture  # a broken profile only shifts the colours


def _check_size(width: int, height: int) -> None:
    if not width or not height:
        raise ValueError("the picture has no size")
    if width * height > MAX_PIXELS or max(width, height) > MAX_SIDE:
        raise _too_many_pixels()


def _too_many_pixels() -> TooLarge:
    return TooLarge(
        f"A picture may have at most {MAX_PIXELS // 1_000_000} million pixels, and {MAX_SIDE} on a side. "
        "Make it smaller and upload it again.",
        code="too_many_pixels",
    )


def _size_of_webp(content: bytes) -> tuple[int, int]:
    chunk, body = content[12:16], content[20:30]
    if len(body) < 10:
        return 0, 0
    if chunk == b"VP8X":
        return int.from_bytes(body[4:7], "little") + 1, int.from_bytes(body[7:10], "little") + 1
    if chunk == b"VP8L":
        bits = int.from_bytes(body[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return int.from_bytes(body[6:8], "little") & 0x3FFF, int.from_bytes(body[8:10], "little") & 0x3FFF


def _variants(picture: Image.Image) -> Iterator[Variant]:
    for width in WIDTHS:
        sized = picture.copy()
        sized.thumbnail((width, 2 * width), Image.Resampling.LANCZOS)  # never larger than the original
        for extension, (file_format, content_type) in _OUTPUT_FORMATS.items():
            yield Variant(f"{width}.{extension}", content_type, *sized.size, _encoded(sized, file_format))


def _encoded(picture: Image.Image, file_format: str) -> bytes:
    out = io.BytesIO()
    if file_format == "WEBP":
        picture.save(out, file_format, quality=80, method=4)
    else:
        _on_white(picture).save(out, file_format, quality=82, optimize=True, progressive=True)
    return out.getvalue()


def _on_white(picture: Image.Image) -> Image.Image:
    if picture.mode != "RGBA":
        return picture
    background = Image.new("RGB", picture.size, "white")
    background.paste(picture, mask=picture.getchannel("A"))
    return background
