"""In a rush each process of a server looks for seats in rows of its own, so that they rarely choose the same ones."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

VARIABLE: Final = "_GATEHOUSE_ROW_SHARE"
"""Set by the process that starts the others; nobody else needs to know it."""


@dataclass(frozen=True, slots=True)
class RowShare:
    """Every so many-th row, counted from the nearest, beginning with one of the first."""

    number: int = 0
    of: int = 1

    @property
    def is_all(self) -> bool:
        """Whether these are all rows."""
        return self.of == 1

    def rows(self, count: int) -> int:
        """Its rows among so many, as bits by rank."""
        return _rows(self, count)


ALL: Final = RowShare()


@lru_cache(maxsize=64)
def _rows(share: RowShare, count: int) -> int:
    return sum(1 << rank for rank in range(share.number, count, share.of))


def assign(number: int, of: int) -> None:
    """Give the process that is started next this share."""
    os.environ[VARIABLE] = f"{number}/{of}"


def own() -> RowShare:
    """The share of this process: all rows where it has no siblings."""
    number, _, of = os.environ.get(VARIABLE, "0/1").partition("/")
    return RowShare(int(number), int(of))
