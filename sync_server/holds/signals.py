"""What holds tell their caches inside the transaction of a change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shared.clock import Millis
from sync_server.holds.models import HoldRow
from sync_server.plumbing.signals import Signal


@dataclass(frozen=True, slots=True)
class HoldsMade(Signal):
    """Holds are made, or last longer than before."""

    holds: Sequence[HoldRow]
    now: Millis


@dataclass(frozen=True, slots=True)
class HoldsEnded(Signal):
    """Holds have ended: sold, given up or run out."""

    holds: Sequence[HoldRow]
