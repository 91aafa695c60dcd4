"""The format of an admission case: its keys, their defaults, and clear messages for mistakes."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct, field

from shared.errors import InvalidRequest
from shared.parties import LARGEST, SMALLEST


class Moment(int):
    """Milliseconds since 1970, written as ISO-8601 with an offset."""


Count = Annotated[int, Meta(ge=0)]
Issue = Annotated[int, Meta(ge=1, le=255)]
Amount = Annotated[float, Meta(ge=0, le=1_000_000)]
DirectionName = Literal["entry", "exit"]
ModeName = Literal["real", "test"]
Code = Literal[
    "valid",
    "altered",
    "garbage",
    "future_version",
    "critical_extension",
    "unknown_key",
    "revoked_key",
    "distrusted_key",
    "other_organisation",
    "other_organisation_same_key_id",
    "other_event",
]
Status = Literal["draft", "published", "live", "ended", "cancelled", "postponed", "archived"]
ZoneKind = Literal["reserved_seating", "ga_seated", "ga_standing", "vip_reserved", "vip_standing"]
Right = Literal[
    "single_entry", "limited_reentry_per_day", "unlimited_reentry", "unlimited_multi_day", "ga_seated", "ga_standing"
]
Flag = Literal["wheelchair", "companion", "companion_reserved", "vip", "membership", "exempt"]


class CaseModel(Struct, frozen=True, forbid_unknown_fields=True):
    """Refuses unknown keys, because a mistyped key would silently mean its default."""


class Device(CaseModel, frozen=True):
    """The device, for row 0 of the admission table."""

    ready: bool = True
    can_record: bool = True


class Clock(CaseModel, frozen=True):
    """How certain the gate is of the time."""

    uncertainty_seconds: Amount = 0


class Event(CaseModel, frozen=True):
    """The event; times left out lie around `at`."""

    status: Status = "live"
    starts: Moment | None = None
    ends: Moment | None = None
    rescheduled_at: Moment | None = None
    go_live_at: Moment | None = None
    end_at_auto: Moment | None = None
    counts_from: Moment | None = None
    timezone: str = "Europe/Berlin"
    cutover_hour: Annotated[int, Meta(ge=0, le=23)] = 5
    cutover_empties: bool = True
    anti_passback: bool = False


class Gate(CaseModel, frozen=True):
    """The gate; `zones` by name."""

    code: str = "A"
    open: bool = True
    zones: tuple[str, ...] = ()
    capacity: Count | None = None
    inside: Count = 0


class Zone(CaseModel, frozen=True):
    """The ticket's zone."""

    name: str = "floor"
    kind: ZoneKind = "ga_standing"
    capacity: Count | None = None
    inside: Count = 0
    membership_tier: str | None = None


class Membership(CaseModel, frozen=True):
    """The membership the ticket was bought with."""

    tier: str
    state: Literal["active", "revoked"] = "active"
    until: Moment | None = None


class TicketCase(CaseModel, frozen=True):
    """The ticket; `days` by date, or by number from 1."""

    known: bool = True
    issued: Literal["after_snapshot", "before_snapshot"] = "after_snapshot"
    issue: Issue = 1
    current_issue: Issue = 1
    state: Literal["valid", "cancelled", "blocked", "unpaid"] = "valid"
    days: tuple[Annotated[int, Meta(ge=1, le=400)] | str, ...] = ()
    entitlement: Right = "single_entry"
    limit: Annotated[int, Meta(ge=0, le=255)] | None = None
    not_before: Moment | None = None
    not_after: Moment | None = None
    flags: tuple[Flag, ...] = ()
    membership: Membership | None = None
    check: str | None = None


class Policy(CaseModel, frozen=True):
    """The organiser's policy, and the age of the gate's snapshot."""

    known_tickets_only: bool = False
    max_snapshot_age_hours: Amount | None = None
    snapshot_age_hours: Amount = 0
    clock_uncertain: Literal["admit", "deny"] = "admit"


class PastScan(CaseModel, frozen=True):
    """One earlier scan of this ticket."""

    at: Moment
    gate: str = "A"
    direction: DirectionName = "entry"
    mode: ModeName = "real"
    verdict: Literal["admit", "deny"] = "admit"
    annulled: bool = False


class PartyTicket(CaseModel, frozen=True):
    """One ticket of a party, with its own earlier scans."""

    ticket: TicketCase = field(default_factory=TicketCase)
    history: tuple[PastScan, ...] = ()


class SupervisorOverride(CaseModel, frozen=True):
    """An override, with the right PIN or a wrong one."""

    pin_ok: bool = True
    reason: str = ""


class Expectation(CaseModel, frozen=True):
    """What the author of the case expects; it does not affect the answer."""

    verdict: Literal["admit", "deny"]
    reason: str
    notices: tuple[str, ...] = ()


class Case(CaseModel, frozen=True):
    """One case to decide."""

    name: str
    at: Moment
    direction: DirectionName = "entry"
    mode: ModeName = "real"
    device: Device = field(default_factory=Device)
    clock: Clock = field(default_factory=Clock)
    code: Code = "valid"
    event: Event = field(default_factory=Event)
    gate: Gate = field(default_factory=Gate)
    zone: Zone | None = field(default_factory=Zone)
    ticket: TicketCase = field(default_factory=TicketCase)
    policy: Policy = field(default_factory=Policy)
    history: tuple[PastScan, ...] = ()
    party: Annotated[tuple[PartyTicket, ...], Meta(min_length=SMALLEST, max_length=LARGEST)] | None = None
    override: SupervisorOverride | None = None
    expect: Expectation | None = None


def _moment(_kind: type, value: Any) -> Moment:
    moment = _iso(value)
    if moment is None or moment.tzinfo is None:
        raise ValueError(f"{value!r} is not a time like 2026-07-04T19:30:00+02:00, offset included")
    return Moment((moment - _EPOCH) // timedelta(milliseconds=1))


def _iso(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None


def read_case(raw: Any) -> Case:
    """The case in a JSON value. Raises InvalidRequest, which names the key."""
    try:
        case = msgspec.convert(raw, Case, dec_hook=_moment)
    except msgspec.ValidationError as error:
        raise InvalidRequest(_explain(str(error))) from error
    if case.party is not None and (case.ticket != TicketCase() or case.history):
        raise InvalidRequest("party: each of its tickets has its own ticket and history; leave out those of the case.")
    return case


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<key>.*?)`(?: - at `\$\.?(?P<path>.*)`)?$", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<key>.*?)`(?: - at `\$\.?(?P<path>.*)`)?$", re.DOTALL)
_WRONG = re.compile(r"(?P<what>.*) - at `\$\.?(?P<path>.*)`$", re.DOTALL)


def _explain(error: str) -> str:
    if unknown := _UNKNOWN.match(error):
        return f"Unknown key: {_path_of(unknown)}. Nothing was decided; correct the key or leave it out."
    if missing := _MISSING.match(error):
        return f"Missing key: {_path_of(missing)}."
    if wrong := _WRONG.match(error):
        return f"{wrong['path'] or 'The case'}: {wrong['what']}.{_choices(wrong)}"
    return f"The case: {error}."


def _choices(wrong: re.Match[str]) -> str:
    """The valid values, if the mistake was an invalid enum value; otherwise empty."""
    if not wrong["what"].startswith("Invalid enum value"):
        return ""
    value: Any = Case
    for key in re.findall(r"[a-z_]+", re.sub(r"\[[^]]*]", "", wrong["path"])):
        value = _fields_of(value).get(key)
    choices = [str(word) for word in _literals(value)]
    return f" Write one of: {', '.join(choices)}." if choices else ""


def _fields_of(value: Any) -> dict[str, Any]:
    """The keys of a model, or of the model inside a list or optional type."""
    parts = [value, *get_args(value)]
    form = next((part for part in parts if isinstance(part, type) and issubclass(part, CaseModel)), None)
    return get_type_hints(form) if form else {}


def _literals(value: Any) -> tuple[Any, ...]:
    if get_origin(value) is Literal:
        return get_args(value)
    return next((found for part in get_args(value) if (found := _literals(part))), ())


def _path_of(found: re.Match[str]) -> str:
    return f"{found['path']}.{found['key']}" if found["path"] else found["key"]
