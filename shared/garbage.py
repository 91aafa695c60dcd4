"""How often a program searches its memory for garbage: seldom, and not once more when it ends."""

from __future__ import annotations

import atexit
import gc
import sys
from typing import Final

WHILE_IMPORTING: Final = 500_000
"""New objects between two searches: more than an import makes."""
COLLECT_AFTER: Final = 50_000
"""As many afterwards. With Python's 700, each request would start several."""
_WAITS_FOR_IT: Final = "zxingcpp"
"""A library that reports whatever has not been collected at the end."""


def seldom_collect() -> None:
    """For a program's `main`, before it imports what it runs; `keep_for_good` follows."""
    gc.set_threshold(WHILE_IMPORTING)
    atexit.register(_end_without_a_search)


def keep_for_good(*, searched: bool = True) -> None:
    """Exempt what this process has loaded from garbage collection, which would search all of it again and again.

    Not `searched` before, a short command keeps half a megabyte of garbage, and saves a tenth of its processor time.
    """
    if searched:
        gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)


def _end_without_a_search() -> None:
    """Searching everything once more takes a third of a short command."""
    if _WAITS_FOR_IT not in sys.modules:
        gc.freeze()
