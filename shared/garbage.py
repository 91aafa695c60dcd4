"""How often a program searches its memory for garbage: seldom, and not once more when it ends."""

from __future__ import annotations

import atexit
import gc
import sys
from typing import Final

COLLECT_AFTER: Final = 50_000
"""New objects between two searches. With Python's 700, a quarter of an import is spent on searching it."""
_WAITS_FOR_IT: Final = "zxingcpp"
"""A library that reports whatever has not been collected at the end."""


def seldom_collect() -> None:
    """For a program's `main`, before it imports what it runs."""
    gc.set_threshold(COLLECT_AFTER)
    atexit.register(_end_without_a_search)


def _end_without_a_search() -> None:
    """Searching everything once more takes a third of a short command."""
    if _WAITS_FOR_IT not in sys.modules:
        gc.freeze()
