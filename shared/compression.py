"""Zstandard with both hands on the brake: what expands to more than was agreed is refused before it is expanded."""

from __future__ import annotations

import zstandard

from shared.strictly import unreadable

LEVEL = 3


def compressed(data: bytes) -> bytes:
    """One independent Zstandard frame that says how long its content is."""
    return zstandard.ZstdCompressor(level=LEVEL, write_content_size=True).compress(data)


class Allowance:
    """How many bytes one message may still expand to, over all its compressed parts."""

    def __init__(self, left: int, what: str) -> None:
        """`what` names the message in refusals."""
        self._left = left
        self.what = what
        self._decompressor = zstandard.ZstdDecompressor()

    def spend(self, size: int) -> None:
        """Set `size` bytes aside; Unreadable where so many are not left."""
        self._left -= size
        if self._left < 0:
            raise unreadable(self.what, "it would grow beyond what is allowed")

    def expanded(self, data: bytes) -> bytes:
        """The content of exactly one frame; Unreadable where it is too long, cut, or followed by anything."""
        try:
            # The library trusts the size that a frame claims, above its own limit, so the claim is paid for first.
            size = zstandard.get_frame_parameters(data).content_size
            if size == zstandard.CONTENTSIZE_UNKNOWN:
                raise unreadable(self.what, "a part does not say how long it is")
            self.spend(size)
            return self._decompressor.decompress(data, max_output_size=max(size, 1), allow_extra_data=False)
        except (zstandard.ZstdError, ValueError, MemoryError) as problem:
            raise unreadable(self.what, problem) from problem
