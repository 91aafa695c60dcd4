"""What a device may do, how long a code lives, and how words about a device's health are chosen: pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from shared.errors import Conflict, Forbidden, InvalidRequest

CODE_LIFETIME_MS = 15 * 60_000
CODE_TRIES = 5
SILENT_AFTER_MS = 60_000


@dataclass(frozen=True, slots=True)
class Work:
    """What a device shall do at one event."""

    event_id: str
    event_number: int
    gate: int | None
    gates_allowed: tuple[int, ...] = ()
    zones: tuple[int, ...] = ()
    direction: str = "entry"
    mode: str = "real"


class Act(StrEnum):
    """What a device asks to do."""

    PULL = "pull"
    PUSH = "push"


PROFILES: dict[str, frozenset[Act]] = {
    "gate": frozenset({Act.PULL, Act.PUSH}),
    "spare": frozenset({Act.PUSH}),
}
"""A spare keeps its key and may deliver what it has, but holds no rows. A profile that is not listed may do nothing."""


class DeviceState(StrEnum):
    """Where a device stands in its life."""

    WAITING = "waiting"
    ENROLLED = "enrolled"
    REVOKED = "revoked"


def may(profile: str, act: Act) -> bool:
    """Whether that profile allows it; a profile nobody knows allows nothing."""
    return act in PROFILES.get(profile, frozenset())


def require(profile: str, revoked: bool, act: Act) -> None:
    """Raise Forbidden in words its operator can read."""
    if revoked and act is not Act.PUSH:
        raise Forbidden(
            "This device has been shut out by the organiser. It may still deliver its journal.", code="device_revoked"
        )
    if not may(profile, act):
        raise Forbidden(f"The profile {profile!r} of this device does not allow it.", code="profile_forbids")


def require_profile(profile: str) -> str:
    """The profile, if it is one that exists."""
    if profile not in PROFILES:
        raise InvalidRequest(f"There is no profile {profile!r}. Choose one of: {', '.join(PROFILES)}.", field="profile")
    return profile


def state_of(enrolled_at: int | None, revoked_at: int | None) -> DeviceState:
    """Revoked wins: a device never comes back by enrolling again."""
    if revoked_at is not None:
        return DeviceState.REVOKED
    return DeviceState.WAITING if enrolled_at is None else DeviceState.ENROLLED


def require_open_code(now: int, expires_at: int, tries_left: int, used: bool, withdrawn: bool) -> None:
    """Raise Conflict telling why the code opens nothing (any more), and what to do."""
    ask = "Ask for a new code on the device's page."
    if used:
        raise Conflict(f"This code has been used already. {ask}", code="enrolment_code_used")
    if tries_left <= 0:
        raise Conflict(f"This code was tried {CODE_TRIES} times and is dead. {ask}", code="enrolment_code_dead")
    if withdrawn or now >= expires_at:
        raise Conflict(f"This code has expired. {ask}", code="enrolment_code_expired")


def is_silent(now: int, last_seen_at: int | None) -> bool:
    """Whether a device has not been heard for so long that its numbers are missing from the totals."""
    return last_seen_at is None or now - last_seen_at > SILENT_AFTER_MS
