"""Every fact that the server records: its row says all that is known of it, and nothing else lists fact names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from shared.keys import KeyState
from sync_server.outbox.fact_kinds import FactKind, Group, Interest, Outcome, Schema, Seats, Topic
from sync_server.outbox.payload_schemas import DAYS, FIELDS, ID, MARK, MILLIS, NUMBER, SEAT_ID, SEATS, STRINGS, TEXT

_CHANGE: Final[Mapping[str, Schema]] = {"before": FIELDS, "after": FIELDS}
_CHANGE_WITH_REASON: Final[Mapping[str, Schema]] = {**_CHANGE, "reason": TEXT}
_EVENT: Final[Mapping[str, Schema]] = {"event": ID, "event_number": NUMBER, "venue": ID}
_TICKET: Final[Mapping[str, Schema]] = {"ticket": TEXT, "event": ID, "event_number": NUMBER}
_HOLD: Final[Mapping[str, Schema]] = {"hold": ID, "event": ID, "event_number": NUMBER}
_ORDER: Final[Mapping[str, Schema]] = {"order": ID, "event": ID, "event_number": NUMBER}
_PAYMENT: Final[Mapping[str, Schema]] = {"cents": NUMBER, "method": TEXT}
_OF_EVENT: Final[Mapping[str, Schema]] = {"event": ID, "event_number": NUMBER}
_COUNT: Final[Mapping[str, Schema]] = {"count": NUMBER}
_MOVED: Final[Mapping[str, Schema]] = {"seats": SEATS, "from": TEXT, "to": TEXT, "issue": NUMBER}
_LAYOUT: Final[Mapping[str, Schema]] = {"layout": ID, "venue": ID, "version": NUMBER}

_EVENT_TOPIC: Final = frozenset({Topic.EVENT})
_EVENT_TOPICS: Final = frozenset({Topic.EVENT, Topic.ORGANISATION})
_TOLD: Final = (
    *("old_status", "new_status", "start_at", "end_at", "rescheduled_at", "go_live_at", "end_at_auto"),
    "reason",
)
_STATUS: Final = ("old_status", "new_status", "mark", "rescheduled_at", "replaced_by_event_id")


def _event(
    description: str,
    payload: Mapping[str, Schema] = _CHANGE_WITH_REASON,
    *,
    topics: frozenset[Topic] = _EVENT_TOPICS,
    seats: Seats = Seats.NONE,
    buyers: str = "",
) -> FactKind:
    return FactKind(description, Group.EVENT, _EVENT, payload, topics=topics, seats=seats, told=_TOLD, buyers=buyers)


def _status_change(description: str, *, seats: Seats = Seats.NONE, routing_key: str = "", buyers: str = "") -> FactKind:
    fields = {"status": TEXT, "rescheduled_at": MILLIS, "mark": MARK}
    status = {"type": "object", "properties": fields, "required": ["status"]}
    payload = {"before": status, "after": status, "reason": TEXT}
    kind = _event(description, payload, seats=seats, buyers=buyers)
    return replace(kind, routing_key=routing_key, organisers=_STATUS, public=_STATUS)


def _ticket(description: str, *logged: str, **payload: Schema) -> FactKind:
    fields = payload or {"state": TEXT}
    return FactKind(description, Group.TICKET, _TICKET, fields, topics=_EVENT_TOPIC, logged=logged or tuple(fields))


def _guests(description: str) -> FactKind:
    payload = {"zone": ID, "guests": NUMBER}
    return FactKind(description, Group.EVENT, {"event": ID}, payload, topics=_EVENT_TOPIC, logged=("zone", "guests"))


def _membership(description: str) -> FactKind:
    return FactKind(description, Group.MEMBERSHIP, {"membership": ID}, {"tickets": NUMBER})


def _companions(description: str) -> FactKind:
    payload = {"zone": ID, "seats": STRINGS, "days": DAYS}
    return FactKind(description, Group.EVENT, {"event": ID}, payload, topics=_EVENT_TOPIC, logged=("zone",))


def _key(description: str) -> FactKind:
    payload = {"state": {"enum": [state.value for state in KeyState]}, "signs_from": MILLIS}
    return FactKind(description, Group.KEY, {"key": NUMBER}, payload)


def _device(action: str, description: str) -> FactKind:
    return FactKind(description, Group.DEVICE, {"device": ID}, action=action)


def _at_gate(description: str) -> FactKind:
    payload = {"device": NUMBER, "gate": NUMBER, "supervisor": NUMBER, "at": NUMBER}
    return FactKind(description, Group.DEVICE, _OF_EVENT, payload, topics=_EVENT_TOPIC)


def _venue(action: str, description: str, **more: Schema) -> FactKind:
    topics = frozenset({Topic.ORGANISATION})
    return FactKind(description, Group.VENUE, {"venue": ID, **more}, _CHANGE, action=action, topics=topics)


def _layout(description: str, *logged: str) -> FactKind:
    return FactKind(description, Group.LAYOUT, _LAYOUT, _CHANGE, logged=logged)


def _hold(
    description: str,
    *,
    occupancy: bool = True,
    outcome: Outcome | None,
    interest: Interest | None = None,
    **more: Schema,
) -> FactKind:
    seat = {"type": ["integer", "null"], "description": "its number in the event's layout; null for places of a zone"}
    what: dict[str, Schema] = {"kind": {"enum": ["seat", "places"]}, "seat": seat, "zone": NUMBER, "quantity": NUMBER}
    holder = {"type": "string", "description": "guest, user or token, and its id"}
    payload = {**what, "held_until": MILLIS, "bearer": holder, "days": DAYS, **more}
    return FactKind(
        description,
        Group.HOLD,
        _HOLD,
        payload,
        topics=_EVENT_TOPIC,
        seats=Seats.NAMED,
        occupancy=occupancy,
        outcome=outcome,
        interest=interest,
        logged=tuple(name for name in payload if name != "days"),
    )


def _order(description: str, buyers: str = "", look: str = "", /, **more: Schema) -> FactKind:
    payload = {"state": TEXT, "channel": TEXT, "total_cents": NUMBER, "currency": TEXT, **more}
    kind = FactKind(description, Group.ORDER, _ORDER, payload, topics=_EVENT_TOPIC, buyers=buyers)
    return replace(kind, look=look, logged=tuple(payload))


def _cancellation(description: str) -> FactKind:
    numbers = dict.fromkeys(("orders", "done_orders", "failed_orders", "cents"), NUMBER)
    payload = {"choice": TEXT, **numbers, "new_date": MILLIS, "keep_until": MILLIS}
    return FactKind(description, Group.EVENT, _OF_EVENT, payload, topics=_EVENT_TOPICS, logged=tuple(payload))


def _holds(description: str, became: str, payload: Mapping[str, Schema] = _COUNT) -> FactKind:
    return FactKind(
        description,
        Group.HOLD,
        {"event": ID, "event_number": NUMBER},
        payload,
        topics=_EVENT_TOPIC,
        seats=Seats.ALL,
        outcome=Outcome(became, "count"),
        logged=tuple(name for name in payload if name != "seats"),
    )


def _queue_change(description: str) -> FactKind:
    payload = {"before": FIELDS, "after": FIELDS, "commitment": TEXT}
    return FactKind(description, Group.EVENT, _OF_EVENT, payload, topics=_EVENT_TOPIC)


def _queue_draw(description: str) -> FactKind:
    payload = {"root": TEXT, "entries": NUMBER, "beacon": TEXT}
    return FactKind(description, Group.EVENT, _OF_EVENT, payload, topics=_EVENT_TOPIC, logged=("root", "entries"))


def _party(description: str, buyers: str = "", /, **more: Schema) -> FactKind:
    payload = {"state": TEXT, "size": NUMBER, "seq": NUMBER, **more}
    subjects = {"party": ID, "event": ID, "event_number": NUMBER}
    logged = tuple(payload)
    return FactKind(description, Group.WAITING, subjects, payload, topics=_EVENT_TOPIC, logged=logged, buyers=buyers)


FACTS: Final[Mapping[str, FactKind]] = {
    "queue_set": _queue_change("An event was given a queue, or its queue was changed."),
    "queue_removed": _queue_change("The queue of an event was taken away."),
    "queue_closed": _queue_draw("The waiting room has closed: these entries take part in the draw."),
    "queue_drawn": _queue_draw("The order of those who waited was drawn."),
    "venue_created": _venue("venue.created", "A venue was created."),
    "venue_changed": _venue("venue.changed", "A venue was changed; existing events keep what they copied of it."),
    "venue_archived": _venue("venue.archived", "A venue was archived: no new events take place there."),
    "venue_restored": _venue("venue.restored", "A venue was restored from the archive."),
    "venue_deleted": _venue("venue.deleted", "A venue without dependents was deleted."),
    "gate_created": _venue("gate.created", "A venue has a new gate.", gate=NUMBER),
    "gate_changed": _venue("gate.changed", "A gate was opened, closed or changed.", gate=NUMBER),
    "event_created": _event("An event was created, as a draft."),
    "event_updated": _event(
        "Texts, times or rules of an event were changed; the payload holds the changed fields only.", buyers="new_time"
    ),
    "event_days_changed": _event(
        "An event has more days, or fewer; what is for every day is for the new ones, too.", seats=Seats.ALL
    ),
    "event_published": _status_change("An event is listed, and on sale.", seats=Seats.MAP, buyers="takes_place"),
    "event_unpublished": _status_change("An event is a draft again; nothing had been sold.", seats=Seats.MAP),
    "event_went_live": _status_change("An event is live; gates admit.", buyers="takes_place"),
    "event_ended": _status_change("An event is over; gates no longer admit.", seats=Seats.MAP),
    "event_cancelled": _status_change(
        "An event was cancelled; sales have stopped.", seats=Seats.MAP, routing_key="event.canceled", buyers="cancelled"
    ),
    "event_postponed": _status_change("An event was postponed, with or without a new date.", buyers="postponed"),
    "event_rescheduled": replace(
        _event("A postponed event has its new date.", buyers="new_date"), organisers=("mark", "rescheduled_at")
    ),
    "event_archived": _status_change("An event was archived.", seats=Seats.MAP),
    "event_moved_at_short_notice": _event("Times of a published event changed close to its start."),
    "event_moved": _event("An event moved to another venue; `after.means` says what follows from it.", buyers="moved"),
    "event_replaced": replace(
        _event("Another event replaces one that was called off, or the replacement was withdrawn."),
        organisers=("replaced_by_event_id",),
    ),
    "event_covers_changed": _event("The cover images of an event changed."),
    "event_deleted": _event("A draft without dependents was deleted."),
    "event_zone_added": _event("An event has a new zone."),
    "event_zone_changed": _event("A zone of an event was changed."),
    "event_gate_changed": _event("A gate serves other zones at an event."),
    "event_layout_chosen": _event("A seating layout was chosen for an event.", _CHANGE, seats=Seats.MAP),
    "stranded_seats_released": _event(
        "Single seats that nobody had are on sale to anybody: the platform released them.", seats=Seats.MAP
    ),
    "event_layout_dropped": _event("An event no longer has a seating layout.", _CHANGE, seats=Seats.MAP),
    "zone_guests_added": _guests("Guests were added to the guest list of a zone; the fact does not name them."),
    "zone_guests_removed": _guests("Guests were removed from the guest list of a zone; the fact does not name them."),
    "event_reseated": FactKind(
        "An event moved to another layout; guests with another seat have new codes. The reseating report lists them.",
        Group.EVENT,
        {"event": ID, "reseating": ID},
        {"from": ID, "to": ID, "stay": NUMBER, "move": NUMBER},
        topics=_EVENT_TOPICS,
        seats=Seats.ALL,
        logged=("from", "to", "stay", "move"),
    ),
    "house_emptied": _event(
        "The venue was emptied: nobody counts as inside, and no entry as used.", topics=frozenset(Topic)
    ),
    "gate_doors_opened": _at_gate("A supervisor opened the doors, or a closed gate, on one device."),
    "gate_doors_closed": _at_gate("A supervisor closed doors, or a gate, that were opened on one device."),
    "tickets_issued": FactKind(
        "Tickets of one type were issued, with consecutive numbers; seats by their numbers in the layout.",
        Group.TICKET,
        {"event": ID, "event_number": NUMBER},
        {"ticket_type": NUMBER, "count": NUMBER, "first": NUMBER, "last": NUMBER, "seats": SEATS, "days": DAYS},
        topics=_EVENT_TOPIC,
        seats=Seats.NAMED,
        occupancy=True,
        page=True,
        interest=Interest(3, "count"),
        logged=("ticket_type", "count", "first", "last"),
    ),
    "ticket_cancelled": replace(
        _ticket("A ticket was cancelled and no longer admits."), seats=Seats.TICKET, occupancy=True
    ),
    "ticket_blocked": _ticket("A ticket was blocked; it does not admit until it is unblocked."),
    "ticket_unblocked": _ticket("A ticket was unblocked and admits again."),
    "ticket_settled": _ticket("A ticket that was unpaid is paid."),
    "ticket_reissued": _ticket(
        "A ticket has a new code; the old one no longer admits.", "issue", issue=NUMBER, key=NUMBER
    ),
    "ticket_moved": replace(
        _ticket("A guest has another seat and code.", **_MOVED), seats=Seats.NAMED, occupancy=True, buyers="other_seat"
    ),
    "membership_granted": FactKind(
        "Somebody became a member of a tier.",
        Group.MEMBERSHIP,
        {"membership": ID},
        {"tier": TEXT, "until": MILLIS, "state": TEXT},
    ),
    "membership_revoked": _membership("A membership was revoked; zones that require it refuse its tickets."),
    "membership_renewed": _membership("A membership was renewed, and with it the tickets that depend on it."),
    "companion_seats_released": _companions("A zone is nearly full: its free companion seats are on general sale."),
    "companion_seats_kept_again": _companions("A zone has room again: its free companion seats are reserved again."),
    "key_created": _key("An organisation has a new ticket key."),
    "key_active": _key("A key is now used to sign tickets."),
    "key_retired": _key("A key no longer signs; tickets it signed stay valid."),
    "key_distrusted": _key("A key may have leaked: of its tickets only those that gates know are valid."),
    "key_revoked": _key("A key was revoked: no ticket it signed is valid."),
    "seat_held": replace(
        _hold(
            "A seat, or places of a zone without seats, are held for some minutes.",
            outcome=Outcome("held"),
            interest=Interest(1),
            seat_id=SEAT_ID,
        ),
        action="seat_reserved",
    ),
    "seat_hold_extended": _hold("A hold was extended.", occupancy=False, outcome=None),
    "seat_hold_released": _hold("A hold was released; its seats are free.", outcome=Outcome("given_up")),
    "seat_hold_expired": _hold("A hold expired; its seats are free.", outcome=Outcome("expired")),
    "seat_hold_converted": _hold("The seats of a hold were sold.", outcome=Outcome("bought")),
    "holds_ended": replace(
        _holds(
            "All holds of an event ended together.",
            "ended_with_event",
            {"seats": SEATS, "count": NUMBER, "reason": TEXT},
        ),
        seats=Seats.NAMED,
        occupancy=True,
    ),
    "holds_suspended": _holds(
        "The holds of an event are suspended: they keep their seats, and do not expire.", "suspended"
    ),
    "holds_resumed": _holds("The holds of an event are resumed and expire again.", "resumed"),
    "order_created": _order("An order was made; it keeps its seats until it is paid or ends.", admissions=NUMBER),
    "order_invoiced": _order("An order waits until its invoice is due.", "invoice", due_at=MILLIS),
    "payment_received": _order("A payment for an order was noted in its ledger.", "", "money", **_PAYMENT),
    "order_paid": _order(
        "An order is paid; its tickets are valid.", "tickets", "money", admissions=NUMBER, method=TEXT
    ),
    "order_refunded": _order(
        "Admissions refunded, or money paid back.", "refunded", "bad", admissions=NUMBER, **_PAYMENT
    ),
    "order_renamed": _order(
        "Names on an order were changed: its buyer's, or those on tickets.",
        buyer=NUMBER,
        admissions=NUMBER,
        reissued=NUMBER,
    ),
    "payment_returned": _order(
        "A payment is paid back by itself: it came too late, twice, or for an order that had ended.",
        because=TEXT,
        **_PAYMENT,
    ),
    "payout_made": _order("A payment service has paid money back.", **_PAYMENT),
    "payout_due": _order("No payment service can pay this money back: the box office does.", "", "bad", **_PAYMENT),
    "new_date_offered": _order(
        "A buyer may keep the tickets for another date, or have the money back.",
        "date_offered",
        new_date=MILLIS,
        keep_until=MILLIS,
    ),
    "new_date_answered": _order("A buyer has chosen: keep the tickets for another date, or refund.", answer=TEXT),
    "cancellation_begun": _cancellation("The organiser has chosen what buyers of an event that is called off get."),
    "cancellation_stopped": _cancellation("The refunds, or offers, of an event that is called off were stopped."),
    "cancellation_resumed": _cancellation("The refunds, or offers, of an event that is called off go on."),
    "cancellation_finished": _cancellation("Every order of an event that is called off was refunded, or offered."),
    "payout_failed": _order(
        "A payment service could not pay money back; it is owed to the buyer.", "", "bad", **_PAYMENT
    ),
    "payment_disputed": _order("A buyer disputes a payment with the bank.", because=TEXT, **_PAYMENT),
    "dispute_funds_moved": _order(
        "Money of a disputed payment was withdrawn by the bank, or reinstated.", because=TEXT, **_PAYMENT
    ),
    "dispute_closed": _order("A disputed payment was won, or lost to the buyer.", outcome=TEXT, **_PAYMENT),
    "order_cancelled": _order(
        "An order that was not paid was cancelled; its seats are free.", "order_cancelled", "bad"
    ),
    "order_expired": _order("An order was not paid in time; its seats are free.", "order_expired", "bad"),
    "waiting_joined": _party("A party joined the waiting list of an event."),
    "waiting_joined_again": _party("The address of a party on the list was entered again; it stands.", "waiting_twice"),
    "waiting_offered": _party(
        "Places that came back are held for a party that waits, until the offer ends.",
        "waiting_offer",
        offer=ID,
        ends_at=MILLIS,
        ticket_type=NUMBER,
    ),
    "waiting_taken": _party("A party took what it was offered, to order it.", offer=ID),
    "waiting_offer_lapsed": _party("A party did not take an offer in time; the places go to the next.", offer=ID),
    "waiting_left": _party("A party left the waiting list."),
    "device_created": _device("device.created", "A gate device was created; it can be enrolled."),
    "device_changed": _device("device.changed", "The name or profile of a device changed."),
    "device_assigned": _device("device.assigned", "A device was assigned to other events or gates."),
    "device_enrolled": _device("device.enrolled", "A device has enrolled."),
    "device_revoked": _device("device.revoked", "A device was revoked, for good."),
    "scans_arrived": FactKind(
        "A gate delivered scans of an event.",
        Group.SCAN,
        {"event_number": NUMBER},
        {"scans": NUMBER, "admitted": NUMBER, "conflicts": STRINGS},
        topics=frozenset({Topic.OCCUPANCY}),
    ),
    "journal_moved_back": FactKind(
        "A device's journal is shorter than before, or differs from what the server holds.",
        Group.DEVICE,
        {"device": ID},
    ),
    "conflict_resolved": FactKind(
        "A scan conflict was resolved.",
        Group.SCAN,
        {"conflict": ID, "event_number": NUMBER},
        action="conflict.resolved",
        topics=frozenset({Topic.OCCUPANCY}),
    ),
    "layout_created": _layout("A version of a seating layout was created."),
    "layout_redrawn": _layout("A layout that is not in use yet was redrawn.", "before", "after"),
    "layout_active": _layout("A layout can be chosen for events.", "before", "after"),
    "layout_archived": _layout("A layout was archived and can no longer be chosen.", "before", "after"),
}


UNKNOWN: Final = FactKind("A fact of another version of the server.", Group.EVENT, topics=_EVENT_TOPIC)


def kind_of(name: str) -> FactKind:
    """The row of a fact; `UNKNOWN` during an upgrade, if a newer server has recorded it."""
    return FACTS.get(name, UNKNOWN)


def version_of(name: str) -> int:
    """The payload version of a fact of this name."""
    return kind_of(name).version


def routing_key(name: str) -> str:
    """`event_published` is `event.published` on the broker; `event_cancelled` is spelt `event.canceled` there."""
    return kind_of(name).routing_key or name.replace("_", ".", 1)


def audit_action(name: str) -> str:
    """What the audit line of a change is called that is recorded with this fact."""
    return kind_of(name).action or name
