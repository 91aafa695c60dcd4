"""Zstandard with both hands on the brake: what expands to more than was agreed is refused before it is expanded."""

from __future__ import annotations

import zstandard

from shared.errors import Unreadable
from shared.strictly import unreadable

LEVEL = 3


def compressed(data: bytes) -> bytes:
    """One independent Zstandard frame that says how long its content is."""
    return zstandard.ZstdCompressor(level=LEVEL, write_content_size=True).compress(data)


def expanded(data: bytes, limit: int, what: str) -> bytes:
    """The content of exactly one frame; Unreadable where it is longer than `limit`, cut, or followed by anything."""
    try:
        _require_size(zstandard.get_frame_parameters(data).content_size, limit, what)
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=limit, allow_extra_data=False)
    except (zstandard.ZstdError, ValueError, MemoryError) as problem:
        raise unreadable(what, problem) from problem


def _require_size(size: int, limit: int, what: str) -> None:
    # The library trusts the size that a frame claims and ignores its own limit then, so the claim is checked first.
    if size in (zstandard.CONTENTSIZE_UNKNOWN, zstandard.CONTENTSIZE_ERROR):
        raise Unreadable(f"{what} does not say how long it is. Nothing of it was used.")
    if size > limit:
        raise Unreadable(f"{what} would grow to {size} bytes, more than the {limit} allowed. Nothing of it was used.")
