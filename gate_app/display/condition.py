"""Sums up the state of the gate for the edges of its screens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gate_app.display.json_fields import JsonObject, number, sequence, text
from gate_app.words import say
from shared.words.ago import ago

STALE_AFTER_S = 15 * 60
STUCK = say("trouble.stuck")


@dataclass(frozen=True, slots=True)
class Condition:
    """What every screen shows at its edges."""

    ready: bool
    why: str
    """Why it is not ready; empty if it is."""
    event: str
    gate: str
    exit_lane: bool
    test: bool
    online: bool
    unsent: int
    snapshot: str
    snapshot_old: bool
    heard: str
    """How long ago the server last told what other gates did and which tickets are revoked."""
    inside: str
    warnings: tuple[str, ...]


def condition(status: JsonObject, faults: Mapping[str, str]) -> Condition:
    """Builds the condition from the object of `status --json` and the devices' faults."""
    age = number(status, "snapshot_age_s")
    return Condition(
        ready=status.get("ready") is not False,
        why=text(status, "not_ready"),
        event=text(status, "event"),
        gate=text(status, "gate"),
        exit_lane=text(status, "direction") == "exit",
        test=text(status, "mode") == "test",
        online=status.get("online") is True,
        unsent=round(number(status, "unsent") or 0),
        snapshot=duration(age) if age is not None else say("span.never"),
        snapshot_old=age is None or age > STALE_AFTER_S,
        heard=ago(round(age * 1000)) if age is not None else say("span.never"),
        inside=text(status, "inside"),
        warnings=(*_own_warnings(status), *faults.values()),
    )


def stuck(last: Condition) -> Condition:
    """The condition of a gate that has said nothing about itself for a while: a failing card hangs in the middle."""
    return replace(last, ready=False, why=STUCK, warnings=(STUCK, *last.warnings))


def not_yet(last: Condition, why: str) -> Condition:
    """The condition of a gate that is starting, and what it does or waits for."""
    return replace(last, ready=False, why=why)


def _own_warnings(status: JsonObject) -> tuple[str, ...]:
    return tuple(line for line in sequence(status.get("warnings")) if isinstance(line, str))


def duration(seconds: float) -> str:
    """A duration in a single suitable unit."""
    if seconds < 60:
        return say("span.seconds", n=max(0, round(seconds)))
    if seconds < 3600:
        return say("span.minutes", n=round(seconds / 60))
    if seconds < 48 * 3600:
        return say("span.hours", n=f"{seconds / 3600:.1f}")
    return say("span.days", n=round(seconds / 86_400))
