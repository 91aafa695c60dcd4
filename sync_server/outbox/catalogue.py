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
SEATS: Final[Schema] = {"type": "array", "items": {"type": "integer"}, "description": "numbers in the layout"}
SEAT_ID: Final[Schema] = {"type": ["string", "null"], "description": "the seat's id in the layout; null: places"}
NUMBERS: Final[Schema] = {"type": "array", "items": {"type": "integer"}}
WORDS: Final[Schema] = {"type": "array", "items": {"type": "string"}}

_CHANGE: Final[Mapping[str, Schema]] = {"before": FIELDS, "after": FIELDS}
_TOLD_CHANGE: Final[Mapping[str, Schema]] = {**_CHANGE, "reason": TEXT}
_EVENT: Final[Mapping[str, Schema]] = {"event": ID, "event_number": NUMBER, "venue": ID}
_TICKET: Final[Mapping[str, Schema]] = {"ticket": TEXT, "event": ID, "event_number": NUMBER}
_HOLD: Final[Mapping[str, Schema]] = {"hold": ID, "event": ID, "event_number": NUMBER}
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


def _guests(says: str) -> Kind:
    return Kind(says, {"event": ID}, {"zone": ID, "guests": NUMBER})


def _membership(says: str) -> Kind:
    return Kind(says, {"membership": ID}, {"tickets": NUMBER})


def _companions(says: str) -> Kind:
    return Kind(says, {"event": ID}, {"zone": ID, "seats": WORDS})


def _key(says: str) -> Kind:
    return Kind(says, {"key": NUMBER}, {"state": {"enum": [state.value for state in KeyState]}, "signs_from": MILLIS})


def _device(says: str) -> Kind:
    return Kind(says, {"device": ID})


def _at_gate(says: str) -> Kind:
    payload = {"device": NUMBER, "gate": NUMBER, "supervisor": NUMBER, "at": NUMBER}
    return Kind(says, {"event": ID, "event_number": NUMBER}, payload)


def _venue(says: str) -> Kind:
    return Kind(says, {"venue": ID}, _CHANGE)


def _gate(says: str) -> Kind:
    return Kind(says, {"venue": ID, "gate": NUMBER}, _CHANGE)


def _layout(says: str) -> Kind:
    return Kind(says, _LAYOUT, _CHANGE)


def _hold(says: str, **more: Schema) -> Kind:
    seat = {"type": ["integer", "null"], "description": "its number in the event's layout; null: places of a zone"}
    what: dict[str, Schema] = {"kind": {"enum": ["seat", "places"]}, "seat": seat, "zone": NUMBER, "quantity": NUMBER}
    bearer = {"type": "string", "description": "guest, user or token, and its id"}
    return Kind(says, _HOLD, {**what, "held_until": MILLIS, "bearer": bearer, **more})


def _holds(says: str, **payload: Schema) -> Kind:
    return Kind(says, {"event": ID, "event_number": NUMBER}, payload)


FACTS: Final[Mapping[str, Kind]] = {
    "venue_created": _venue("A house was described."),
    "venue_changed": _venue("A house is described otherwise; events that stand keep what they copied of it."),
    "venue_archived": _venue("A house was laid by: nothing new takes place there."),
    "venue_restored": _venue("A house was taken back out of the archive."),
    "venue_deleted": _venue("A house on which nothing hung is gone for good."),
    "gate_created": _gate("A house has a new entrance."),
    "gate_changed": _gate("An entrance was opened, closed, or described otherwise."),
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
    "event_moved_at_short_notice": _event("Times of an event that people know of changed close to its start."),
    "event_moved": _event("An event takes place at another venue; what it means stands in `after.means`."),
    "event_replaced": _event("Another event takes place instead of one that was called off, or none does."),
    "event_covers_changed": _event("An event is shown with other pictures."),
    "event_deleted": _event("A draft on which nothing hung is gone for good."),
    "event_zone_added": _event("An event has a new zone."),
    "event_zone_changed": _event("A zone of an event has other words or bounds."),
    "event_gate_changed": _event("A gate serves other zones at an event."),
    "event_layout_chosen": _event("An event takes place on this seating layout.", _CHANGE),
    "event_layout_dropped": _event("An event has no seating layout any more.", _CHANGE),
    "zone_guests_added": _guests("Guests were put on the list of a zone; who they are is not told."),
    "zone_guests_removed": _guests("Guests were taken off the list of a zone; who they are is not told."),
    "event_reseated": Kind(
        "An event moved to another layout; guests who sit elsewhere have new codes. Its report says who.",
        {"event": ID, "reseating": ID},
        {"from": ID, "to": ID, "stay": NUMBER, "move": NUMBER},
    ),
    "house_emptied": _event("Nobody counts as inside any more, and no entry as spent."),
    "gate_doors_opened": _at_gate("A supervisor opened the doors, or a closed gate, on one device."),
    "gate_doors_closed": _at_gate("A supervisor took back that doors or a gate were opened on one device."),
    "tickets_issued": Kind(
        "Tickets of one type were issued, with consecutive numbers; seats by their numbers in the layout.",
        {"event": ID, "event_number": NUMBER},
        {"ticket_type": NUMBER, "count": NUMBER, "first": NUMBER, "last": NUMBER, "seats": NUMBERS},
    ),
    "ticket_cancelled": _ticket("A ticket admits nobody any more."),
    "ticket_blocked": _ticket("A ticket admits nobody until it is unblocked."),
    "ticket_unblocked": _ticket("A ticket admits again."),
    "ticket_settled": _ticket("A ticket that was not paid for is."),
    "ticket_reissued": _ticket("A ticket has a new code; the old one admits nobody.", issue=NUMBER, key=NUMBER),
    "membership_granted": Kind(
        "Somebody is a member of a tier from now on.",
        {"membership": ID},
        {"tier": TEXT, "until": MILLIS, "state": TEXT},
    ),
    "membership_revoked": _membership("A membership is no more; where a zone asks for it its tickets are refused."),
    "membership_renewed": _membership("A membership goes on, and so do the tickets that hang on it."),
    "companion_seats_released": _companions("A zone is so full that its free companion seats are for everybody."),
    "companion_seats_kept_again": _companions("A zone emptied: its free companion seats are kept again."),
    "key_created": _key("An organisation has a new key to sign tickets with."),
    "key_active": _key("A key signs tickets from now on."),
    "key_retired": _key("A key signs nothing new; what it signed stays good."),
    "key_distrusted": _key("A key may have leaked: only tickets that gates know are good."),
    "key_revoked": _key("Nothing that this key signed is good any more."),
    "seat_held": _hold("Somebody holds a seat, or places of a zone without seats, for some minutes.", seat_id=SEAT_ID),
    "seat_hold_extended": _hold("A hold lasts longer."),
    "seat_hold_released": _hold("A hold was given up; what it held is free."),
    "seat_hold_expired": _hold("The time of a hold is over; what it held is free."),
    "seat_hold_converted": _hold("What was held is sold."),
    "holds_ended": _holds("All holds of an event ended together.", seats=SEATS, count=NUMBER, reason=TEXT),
    "holds_suspended": _holds("The holds of an event keep their seats, and their time stands still.", count=NUMBER),
    "holds_resumed": _holds("The time of an event's holds goes on.", count=NUMBER),
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
