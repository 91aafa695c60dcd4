"""How this gate is doing, in the few words that staff need while guests are waiting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gate_app.display.facts import Facts, number, sequence, words

STALE_AFTER_S = 15 * 60


@dataclass(frozen=True, slots=True)
class Condition:
    """What stands at the edges of every screen."""

    ready: bool
    event: str
    gate: str
    exit_lane: bool
    test: bool
    online: bool
    unsent: int
    snapshot: str
    snapshot_old: bool
    inside: str
    warnings: tuple[str, ...]


def condition(status: Facts, faults: Mapping[str, str]) -> Condition:
    """The status of `status --json` and the faults of devices, in words."""
    age = number(status, "snapshot_age_s")
    return Condition(
        ready=status.get("ready") is not False,
        event=words(status, "event"),
        gate=words(status, "gate"),
        exit_lane=words(status, "direction") == "exit",
        test=words(status, "mode") == "test",
        online=status.get("online") is True,
        unsent=round(number(status, "unsent") or 0),
        snapshot=duration(age) if age is not None else "never",
        snapshot_old=age is None or age > STALE_AFTER_S,
        inside=words(status, "inside"),
        warnings=(*_own_warnings(status), *faults.values()),
    )


def _own_warnings(status: Facts) -> tuple[str, ...]:
    return tuple(str(line) for line in sequence(status.get("warnings")))


def duration(seconds: float) -> str:
    """A span in the one unit that matters."""
    if seconds < 60:
        return f"{max(0, round(seconds))} s"
    if seconds < 3600:
        return f"{round(seconds / 60)} min"
    if seconds < 48 * 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{round(seconds / 86_400)} days"
