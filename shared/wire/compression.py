"""Zstandard with size limits that are checked before anything is expanded."""

from __future__ import annotations

import zstandard

from shared.strictly import unreadable

LEVEL = 3


def compressed(data: bytes) -> bytes:
    """One independent Zstandard frame that states its content size."""
    return zstandard.ZstdCompressor(level=LEVEL, write_content_size=True).compress(data)


class Allowance:
    """How many bytes all compressed parts of a message may still expand to."""

    def __init__(self, left: int, what: str) -> None:
        """`what` names the message in error texts."""
        self._left = left
        self.what = what
        self._decompressor = zstandard.ZstdDecompressor()

    def spend(self, size: int) -> None:
        """Reserves `size` bytes. Raises Unreadable if there are not enough left."""
        self._left -= size
        if self._left < 0:
            raise unreadable(self.what, "it would grow beyond what is allowed")

    def expanded(self, data: bytes) -> bytes:
        """Expands exactly one frame. Raises Unreadable if it is too long, truncated, or followed by anything."""
        try:
            # The library allocates the size that a frame claims, so the claim is checked against the budget first.
            size = zstandard.get_frame_parameters(data).content_size
            if size == zstandard.CONTENTSIZE_UNKNOWN:
                raise unreadable(self.what, "a part does not say how long it is")
            self.spend(size)
            return self._decompressor.decompress(data, max_output_size=max(size, 1), allow_extra_data=False)
        except (zstandard.ZstdError, ValueError, MemoryError) as problem:
            raise unreadable(self.what, problem) from problem
