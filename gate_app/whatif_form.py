"""The form of an admission case: what may be written, what it means when left out, and words for what is wrong."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct, field

from shared.errors import InvalidRequest


class Moment(int):
    """Milliseconds since 1970, written as ISO-8601 with an offset."""


Count = Annotated[int, Meta(ge=0)]
Issue = Annotated[int, Meta(ge=1, le=255)]
Amount = Annotated[float, Meta(ge=0, le=1_000_000)]
Way = Literal["entry", "exit"]
Earnest = Literal["real", "test"]
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
    "other_event",
]
Status = Literal["draft", "published", "live", "ended", "cancelled", "postponed", "archived"]
ZoneKind = Literal["reserved_seating", "ga_seated", "ga_standing", "vip_reserved", "vip_standing"]
Right = Literal[
    "single_entry", "limited_reentry_per_day", "unlimited_reentry", "unlimited_multi_day", "ga_seated", "ga_standing"
]
Flag = Literal["wheelchair", "companion", "companion_reserved", "vip", "membership", "exempt"]


class Form(Struct, frozen=True, forbid_unknown_fields=True):
    """Every part refuses a key that it does not know: a mistyped one would silently mean its default."""


class Device(Form, frozen=True):
    """Row 0."""

    ready: bool = True
    can_record: bool = True


class ClockDoubt(Form, frozen=True):
    """How sure the gate is of the time."""

    uncertainty_seconds: Amount = 0


class Event(Form, frozen=True):
    """The event at whose gate it happens; times left out lie around `at`."""

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


class Gate(Form, frozen=True):
    """The gate at which it happens; `zones` by name."""

    code: str = "A"
    open: bool = True
    zones: tuple[str, ...] = ()
    capacity: Count | None = None
    inside: Count = 0


class Zone(Form, frozen=True):
    """The ticket's zone."""

    name: str = "floor"
    kind: ZoneKind = "ga_standing"
    capacity: Count | None = None
    inside: Count = 0
    membership_tier: str | None = None


class Membership(Form, frozen=True):
    """What the ticket was bought with."""

    tier: str
    state: Literal["active", "revoked"] = "active"
    until: Moment | None = None


class TicketCase(Form, frozen=True):
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


class Policy(Form, frozen=True):
    """The organiser's wishes, and how old the gate's snapshot is."""

    known_tickets_only: bool = False
    max_snapshot_age_hours: Amount | None = None
    snapshot_age_hours: Amount = 0
    clock_uncertain: Literal["admit", "deny"] = "admit"


class Past(Form, frozen=True):
    """One earlier scan of this ticket."""

    at: Moment
    gate: str = "A"
    direction: Way = "entry"
    mode: Earnest = "real"
    verdict: Literal["admit", "deny"] = "admit"
    annulled: bool = False


class SupervisorSays(Form, frozen=True):
    """An override, with the right PIN or a wrong one."""

    pin_ok: bool = True
    reason: str = ""


class Expectation(Form, frozen=True):
    """What the writer of the case wants to see; not looked at by the answer."""

    verdict: Literal["admit", "deny"]
    reason: str
    notices: tuple[str, ...] = ()


class Case(Form, frozen=True):
    """One question: what would happen if."""

    name: str
    at: Moment
    direction: Way = "entry"
    mode: Earnest = "real"
    device: Device = field(default_factory=Device)
    clock: ClockDoubt = field(default_factory=ClockDoubt)
    code: Code = "valid"
    event: Event = field(default_factory=Event)
    gate: Gate = field(default_factory=Gate)
    zone: Zone | None = field(default_factory=Zone)
    ticket: TicketCase = field(default_factory=TicketCase)
    policy: Policy = field(default_factory=Policy)
    history: tuple[Past, ...] = ()
    override: SupervisorSays | None = None
    expect: Expectation | None = None


def _moment(_kind: type, written: Any) -> Moment:
    moment = _iso(written)
    if moment is None or moment.tzinfo is None:
        raise ValueError(f"{written!r} is not a time like 2026-07-04T19:30:00+02:00, offset included")
    return Moment((moment - _EPOCH) // timedelta(milliseconds=1))


def _iso(written: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(written)
    except (TypeError, ValueError):
        return None


def read_case(raw: Any) -> Case:
    """The case that this JSON value holds; raises InvalidRequest, which names the key."""
    try:
        return msgspec.convert(raw, Case, dec_hook=_moment)
    except msgspec.ValidationError as error:
        raise InvalidRequest(_in_our_words(str(error))) from error


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<key>.*?)`(?: - at `\$\.?(?P<path>.*)`)?$", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<key>.*?)`(?: - at `\$\.?(?P<path>.*)`)?$", re.DOTALL)
_WRONG = re.compile(r"(?P<what>.*) - at `\$\.?(?P<path>.*)`$", re.DOTALL)


def _in_our_words(told: str) -> str:
    if unknown := _UNKNOWN.match(told):
        return f"Unknown key: {_named(unknown)}. Nothing was decided; correct the key or leave it out."
    if missing := _MISSING.match(told):
        return f"Missing key: {_named(missing)}."
    if wrong := _WRONG.match(told):
        return f"{wrong['path'] or 'The case'}: {wrong['what']}.{_choices(wrong)}"
    return f"The case: {told}."


def _choices(wrong: re.Match[str]) -> str:
    """The words that may stand where another stood; empty where the mistake was of another kind."""
    if not wrong["what"].startswith("Invalid enum value"):
        return ""
    written: Any = Case
    for key in re.findall(r"[a-z_]+", re.sub(r"\[[^]]*]", "", wrong["path"])):
        written = _within(written).get(key)
    words = [str(word) for word in _literals(written)]
    return f" Write one of: {', '.join(words)}." if words else ""


def _within(written: Any) -> dict[str, Any]:
    """The keys of a part, and of what it is a list of or may be left out as."""
    parts = [written, *get_args(written)]
    form = next((part for part in parts if isinstance(part, type) and issubclass(part, Form)), None)
    return get_type_hints(form) if form else {}


def _literals(written: Any) -> tuple[Any, ...]:
    if get_origin(written) is Literal:
        return get_args(written)
    return next((found for part in get_args(written) if (found := _literals(part))), ())


def _named(found: re.Match[str]) -> str:
    return f"{found['path']}.{found['key']}" if found["path"] else found["key"]
