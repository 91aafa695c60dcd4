"""What events tell higher packages inside the transaction of a change."""

from __future__ import annotations

from dataclasses import dataclass

from shared.lifecycle import EventStatus
from sync_server.events.time_shift import TimeShift
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.signals import Signal


@dataclass(frozen=True, slots=True)
class EventCreated(Signal):
    """There is a new draft, with the first rows of its snapshot."""

    organisation_id: str
    event_id: str
    number: int
    context: ActionContext


@dataclass(frozen=True, slots=True)
class EventCopied(Signal):
    """A new draft is the copy of another event: packages copy what they store for it."""

    organisation_id: str
    source_id: str
    copy_id: str
    copy_number: int
    shift: TimeShift
    context: ActionContext


@dataclass(frozen=True, slots=True)
class EventChanged(Signal):
    """Something about an event has changed, and is recorded."""

    organisation_id: str
    event_id: str
    number: int
    context: ActionContext


@dataclass(frozen=True, slots=True)
class EventStatusChanged(Signal):
    """An event has a new status; its row shows it already."""

    organisation_id: str
    event_id: str
    number: int
    status: EventStatus
    context: ActionContext


@dataclass(frozen=True, slots=True)
class EventTimesMoved(Signal):
    """An event takes place at another time, and what is planned around it moves too."""

    organisation_id: str
    event_id: str
    shift: TimeShift
    context: ActionContext


@dataclass(frozen=True, slots=True)
class EventDaysChanged(Signal):
    """An event has more days or fewer; nothing that is for certain days is for one that it lost."""

    organisation_id: str
    event_id: str
    number: int
    before: int  # how many
    after: int
    context: ActionContext


@dataclass(frozen=True, slots=True)
class EventMoved(Signal):
    """An event takes place at another venue."""

    organisation_id: str
    event_id: str
    context: ActionContext


@dataclass(frozen=True, slots=True)
class NameChecksChanged(Signal):
    """Gates check the names on an event's tickets from now on, or no longer."""

    organisation_id: str
    event_id: str
    name_checks: bool


@dataclass(frozen=True, slots=True)
class SoldOutChanged(Signal):
    """An event's last ticket is gone, or one is available again."""

    organisation_id: str
    event_id: str
