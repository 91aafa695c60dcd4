"""Every fact the server tells, by name: what it means, what it names and carries, and in which version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from shared.keys import KeyState
from sync_server.outbox.rules import routing_key

Schema = Mapping[str, Any]

TEXT: Final[Schema] = {"type": "string"}
ID: Final[Schema] = {"type": "string", "maxLength": 36}
NUMBER: Final[Schema] = {"type": "integer"}
MILLIS: Final[Schema] = {"type": ["integer", "null"], "description": "milliseconds since 1970, UTC"}
FIELDS: Final[Schema] = {"type": ["object", "null"], "description": "fields by name"}
WORDS: Final[Schema] = {"type": "array", "items": {"type": "string"}}

_CHANGE: Final[Mapping[str, Schema]] = {"before": FIELDS, "after": FIELDS}
_TOLD_CHANGE: Final[Mapping[str, Schema]] = {**_CHANGE, "reason": TEXT}
_EVENT: Final[Mapping[str, Schema]] = {"event": ID, "event_number": NUMBER, "venue": ID}
_TICKET: Final[Mapping[str, Schema]] = {"ticket": TEXT, "event": ID, "event_number": NUMBER}
_LAYOUT: Final[Mapping[str, Schema]] = {"layout": ID, "venue": ID, "version": NUMBER}


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of fact. Fields may be added to it; when one goes or changes its meaning, its version rises."""

    says: str
    subjects: Mapping[str, Schema] = field(default_factory=dict)
    payload: Mapping[str, Schema] = field(default_factory=dict)
    version: int = 1


def _event(says: str, payload: Mapping[str, Schema] = _TOLD_CHANGE) -> Kind:
    return Kind(says, _EVENT, payload)


def _walked(says: str) -> Kind:
    status = {"type": "object", "properties": {"status": TEXT, "rescheduled_at": MILLIS}, "required": ["status"]}
    return _event(says, {"before": status, "after": status, "reason": TEXT})


def _ticket(says: str, **payload: Schema) -> Kind:
    return Kind(says, _TICKET, payload or {"state": TEXT})


def _key(says: str) -> Kind:
    return Kind(says, {"key": NUMBER}, {"state": {"enum": [state.value for state in KeyState]}, "signs_from": MILLIS})


def _device(says: str) -> Kind:
    return Kind(says, {"device": ID})


def _layout(says: str) -> Kind:
    return Kind(says, _LAYOUT, _CHANGE)


FACTS: Final[Mapping[str, Kind]] = {
    "event_created": _event("An event was made, as a draft."),
    "event_updated": _event("Words, times or rules of an event were changed; only the changed fields are carried."),
    "event_published": _walked("An event is shown, and sold within its sale window."),
    "event_unpublished": _walked("An event is a draft again; nothing of it had been sold."),
    "event_went_live": _walked("An event has begun; gates admit."),
    "event_ended": _walked("An event is over; gates admit nobody any more."),
    "event_cancelled": _walked("An event does not take place; nothing of it is sold any more."),
    "event_postponed": _walked("An event takes place later, with or without a date yet."),
    "event_rescheduled": _event("A postponed event has its new date."),
    "event_archived": _walked("An event was laid by for the records."),
    "event_zone_added": _event("An event has a new zone."),
    "event_zone_changed": _event("A zone of an event has other words or bounds."),
    "event_gate_changed": _event("A gate serves other zones at an event."),
    "event_layout_chosen": _event("An event takes place on this seating layout.", _CHANGE),
    "event_layout_dropped": _event("An event has no seating layout any more.", _CHANGE),
    "house_emptied": _event("Nobody counts as inside any more, and no entry as spent."),
    "tickets_issued": Kind(
        "Tickets of one type were issued, with consecutive numbers.",
        {"event": ID, "event_number": NUMBER},
        {"ticket_type": NUMBER, "count": NUMBER, "first": NUMBER, "last": NUMBER},
    ),
    "ticket_cancelled": _ticket("A ticket admits nobody any more."),
    "ticket_blocked": _ticket("A ticket admits nobody until it is unblocked."),
    "ticket_unblocked": _ticket("A ticket admits again."),
    "ticket_settled": _ticket("A ticket that was not paid for is."),
    "ticket_reissued": _ticket("A ticket has a new code; the old one admits nobody.", issue=NUMBER, key=NUMBER),
    "key_created": _key("An organisation has a new key to sign tickets with."),
    "key_active": _key("A key signs tickets from now on."),
    "key_retired": _key("A key signs nothing new; what it signed stays good."),
    "key_distrusted": _key("A key may have leaked: only tickets that gates know are good."),
    "key_revoked": _key("Nothing that this key signed is good any more."),
    "device_created": _device("A gate device was made; it can be enrolled."),
    "device_changed": _device("A device has another name or profile."),
    "device_assigned": _device("A device works at other events or gates."),
    "device_enrolled": _device("A device has proved its code and may speak."),
    "device_revoked": _device("A device is shut out for good."),
    "scans_arrived": Kind(
        "A gate has delivered scans of an event.",
        {"event_number": NUMBER},
        {"scans": NUMBER, "admitted": NUMBER, "conflicts": WORDS},
    ),
    "journal_moved_back": _device("A device's journal is shorter than, or other than, what was seen of it before."),
    "conflict_resolved": Kind("Somebody has settled a conflict of scans.", {"conflict": ID, "event_number": NUMBER}),
    "layout_created": _layout("A version of a seating layout was begun."),
    "layout_redrawn": _layout("A layout that is not in use yet was drawn anew."),
    "layout_active": _layout("A layout can be chosen for events."),
    "layout_archived": _layout("A layout can be chosen no more."),
}


def version_of(name: str) -> int:
    """The version of what a fact of this name carries."""
    kind = FACTS.get(name)
    return kind.version if kind else 1


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a fact's letter on the broker; a consumer must let unknown fields pass."""
    kind = FACTS[name]
    fields: dict[str, Schema] = {
        "fact": {"const": name},
        "version": {"const": kind.version},
        "message_id": {**ID, "description": "the same however often the letter comes"},
        "organisation_id": ID,
        "at": {"type": "integer", "description": "milliseconds since 1970, UTC"},
        "order": {"type": "integer", "description": "rises within an event in the order of what happened"},
        "subjects": _object(kind.subjects),
        "payload": _object(kind.payload),
    }
    return {"title": f"{routing_key(name)} v{kind.version}", "description": kind.says, **_object(fields)}


def _object(fields: Mapping[str, Schema]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(fields), "required": list(fields)}
