"""How fast pages are: those of the shop that a crowd opens, and each of the organiser's desk when it is full.

What the cases measure is said where they are measured: `shop_pages` and `desk_pages` of scripts/benchmarking/parts.
"""

from __future__ import annotations

from collections.abc import Iterator

from scripts.benchmarking.parts import desk_pages, shop_pages
from scripts.benchmarking.result import Result


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure the shop over HTTP, then the desk within this process."""
    yield from shop_pages.measure(quick=quick)
    yield from desk_pages.measure(quick=quick)
