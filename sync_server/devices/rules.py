"""What a device may do, how long an enrolment code is valid, and when a device is silent: pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from shared.errors import Conflict, Forbidden, InvalidRequest

CODE_LIFETIME_MS = 15 * 60_000
CODE_TRIES = 5
CodeState = Literal["none", "open", "used", "expired", "dead"]
ASK = "Ask for a new code on the device's page."
_CLOSED_CODES: Mapping[CodeState, str] = {
    "used": "This code has been used already.",
    "dead": f"This code was entered wrongly {CODE_TRIES} times and cannot be used any more.",
    "expired": "This code has expired.",
}
SILENT_AFTER_MS = 60_000


@dataclass(frozen=True, slots=True)
class EventAssignment:
    """What a device does at one event."""

    event_id: str
    event_number: int
    gate: int | None
    gates_allowed: tuple[int, ...] = ()
    zones: tuple[int, ...] = ()
    direction: str = "entry"
    mode: str = "real"


class DeviceAction(StrEnum):
    """What a device asks to do."""

    PULL = "pull"
    PUSH = "push"


PROFILES: dict[str, frozenset[DeviceAction]] = {
    "gate": frozenset({DeviceAction.PULL, DeviceAction.PUSH}),
    "spare": frozenset({DeviceAction.PUSH}),
}
"""A spare keeps its key and may deliver its journal, but holds no rows. An unlisted profile may do nothing."""


class DeviceState(StrEnum):
    """The state of a device's life cycle."""

    WAITING = "waiting"
    ENROLLED = "enrolled"
    REVOKED = "revoked"


def may(profile: str, action: DeviceAction) -> bool:
    """Whether that profile allows it; an unknown profile allows nothing."""
    return action in PROFILES.get(profile, frozenset())


def require(profile: str, revoked: bool, action: DeviceAction) -> None:
    """Raise Forbidden, with a message for the gate's operator."""
    if revoked and action is not DeviceAction.PUSH:
        raise Forbidden(
            "The organiser has revoked this device. It may still deliver its journal.", code="device_revoked"
        )
    if not may(profile, action):
        raise Forbidden(f"The device's profile {profile!r} does not allow this.", code="profile_forbids")


def require_profile(profile: str) -> str:
    """The profile, if it is one that exists."""
    if profile not in PROFILES:
        raise InvalidRequest(f"There is no profile {profile!r}. Choose one of: {', '.join(PROFILES)}.", field="profile")
    return profile


def state_of(enrolled_at: int | None, revoked_at: int | None) -> DeviceState:
    """Revoked wins: enrolling again does not bring a device back."""
    if revoked_at is not None:
        return DeviceState.REVOKED
    return DeviceState.WAITING if enrolled_at is None else DeviceState.ENROLLED


def require_open_code(state: CodeState) -> None:
    """Raise Conflict if the code cannot be used, saying why and what to do."""
    if state in _CLOSED_CODES:
        raise Conflict(f"{_CLOSED_CODES[state]} {ASK}", code=f"enrolment_code_{state}")


def is_silent(now: int, last_seen_at: int | None) -> bool:
    """Whether a device has been silent for so long that its numbers are missing from totals."""
    return last_seen_at is None or now - last_seen_at > SILENT_AFTER_MS


HOT_CELSIUS = 80.0
"""From here on a machine slows itself down, and reads codes late."""
WEAK_PERCENT = 20


def health_problems(health: Mapping[str, Any] | None) -> list[str]:
    """What is wrong with a machine by what it said last, the gravest first; each has a text on the pages."""
    said = health or {}
    on_battery = said.get("on_battery") is not False
    found = (
        ("faults", bool(said.get("faults"))),
        ("under_voltage", said.get("under_voltage") is True),
        ("battery", on_battery and said.get("battery_percent", 100) < WEAK_PERCENT),
        ("hot", said.get("celsius", 0) >= HOT_CELSIUS),
        ("disk", said.get("disk_low") is True),
        ("throttled", said.get("throttled") is True),
    )
    return [name for name, wrong in found if wrong]
