"""Decides who sees which number of an event's occupancy: only organisers tell held from sold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def shown_counts(total: int, available: int, held: int, sold: int, *, organiser: bool) -> dict[str, Any]:
    """The counts and their percentages of the total, which are null where no total is set."""
    counts = {"held": held, "sold": sold} if organiser else {"taken": held + sold}
    numbers = {"available": available, **counts}
    percents = {f"percent_{name}": round(100 * count / total, 1) if total else None for name, count in numbers.items()}
    return {"total": total, **numbers, **percents}


def public_counts(organisers: Mapping[str, Any]) -> dict[str, Any]:
    """What the public may see of an organiser's counts."""
    numbers = (organisers[name] for name in ("total", "available", "held", "sold"))
    return shown_counts(*numbers, organiser=False)
