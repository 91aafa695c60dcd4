"""The last ones of everything: whoever holds, buys, cancels and moves at once, all tables agree, nothing is doubled."""

from __future__ import annotations

import random
import threading
from collections import Counter
from functools import partial
from typing import Any

import pytest

from tests.builders import MINUTE, a_ticket_type
from tests.contracts.holds.agreement import disagreements
from tests.contracts.holds.house import House, a_house
from tests.contracts.holds.test_at_once import guests, nodes, together, tried  # noqa: F401 - a fixture among them
from tests.contracts.seating.stage import a_layout, floor, stalls
from tests.office import Desk, Evening, Office, an_evening

ROOM = {"seats": 12, "floor": 6}
CLERKS = 8
TURNS = 8


def a_small_house(office: Office, *, seats: int = 10, places: int = 100, **event: Any) -> House:
    """Twelve seats and a floor for six, with so many tickets of each type."""
    layout = a_layout(zones=[stalls("AB", 6), floor(capacity=ROOM["floor"])])
    house = a_house(office, layout=layout, **event)
    house.desk.patch("/api/organisation/seating-policy", {"orphan_avoidance_strict": False})
    house.desk.post(f"{house.path}/ticket-types", a_ticket_type(name="Seat", zone=1, quantity=seats))
    house.desk.post(f"{house.path}/ticket-types", a_ticket_type(name="Floor", zone=2, quantity=places))
    return house


def anything(house: House, guest: Desk, clerk: Desk, seed: int, middle: threading.Barrier) -> Counter[tuple[int, str]]:
    """What one guest and the clerk beside them do within a minute, in an order that the seed says."""
    picks = random.Random(seed)
    mine: list[str] = []
    answers: Counter[tuple[int, str]] = Counter()

    def issue(**wish: Any) -> None:
        answer = clerk.ask("POST", f"{house.path}/tickets", wish)
        answers[answer.status_code, answer.json["error"]["code"] if answer.status_code >= 400 else ""] += 1  # type: ignore[index]
        if answer.status_code == 201:
            mine.extend(ticket["id"] for ticket in answer.json["items"])  # type: ignore[index]

    def ask(who: Desk, path: str, **body: Any) -> None:
        answers[tried(who, path, body)] += 1

    for turn in range(TURNS):
        if turn == TURNS // 2:
            middle.wait(60)
        seat = picks.choice(list(house.seats))
        works = [
            partial(issue, ticket_type=1, seats=[{"seat_id": seat}]),
            partial(issue, ticket_type=2, count=2),
            partial(ask, guest, house.reserve_path(seat)),
            partial(ask, guest, f"{house.path}/holds", count=2, zone_id=house.zones["Floor"]),
            partial(ask, guest, f"{house.path}/holds", best=2),
        ]
        if mine:
            works.append(partial(ask, clerk, f"/api/tickets/{mine.pop()}/cancel"))
        picks.choice(works)()
    return answers


def a_rush(house: House, nodes: list[Office], *others: Any) -> Counter[tuple[int, str]]:  # noqa: F811
    """All of them at the same moment, and in the middle of it the others."""
    middle = threading.Barrier(CLERKS + len(others))

    def come(other: Any) -> Any:
        middle.wait(60)
        return other()

    crowd = guests(house, nodes, CLERKS)
    clerks = [Desk(nodes[turn % len(nodes)].app.test_client(), house.desk.headers) for turn in range(CLERKS)]
    works = [partial(anything, house, crowd[turn], clerks[turn], turn, middle) for turn in range(CLERKS)]
    answers: Counter[tuple[int, str]] = sum(together([*works, *(partial(come, other) for other in others)]), Counter())
    # Only while guests are being moved is the house closed for a moment, in words.
    assert {status for status, code in answers if code != "guests_being_moved"} <= {200, 201, 400, 409, 429}, answers
    assert answers[201, ""], answers
    return answers


def said(house: House) -> list[str]:
    with house.office.database.reading() as session:
        return disagreements(session, house.id)


def one(who: Desk, path: str, body: Any) -> Counter[tuple[int, str]]:
    return Counter([tried(who, path, body)])


def moved(who: Desk, path: str, layout: str) -> Counter[tuple[int, str]]:
    """Report and move, again and again while others sell: a report that is out of date moves nobody."""
    for _ in range(200):
        wish = {"layout_id": layout, "holds": "release"}
        answer = tried(who, path, wish | {"fingerprint": who.post(path, wish)["fingerprint"]})
        if answer != (409, "report_outdated"):
            break
    return Counter([answer])


@pytest.mark.parametrize("capacity", [0, 14])
def test_the_last_seats_places_and_tickets(office: Office, nodes: list[Office], capacity: int) -> None:  # noqa: F811
    house = a_small_house(office, capacity=capacity, seats=8, places=6)
    a_rush(house, nodes)
    assert said(house) == []
    ((issued, held),) = house.rows(
        "SELECT tickets_issued, (SELECT COALESCE(SUM(quantity), 0) FROM holds WHERE event_id = events.id "
        "AND status = 'active') FROM events WHERE id = :event",
        event=house.id,
    )
    assert issued + held <= (capacity or sum(ROOM.values()))


def test_the_event_is_called_off_in_the_middle(office: Office, nodes: list[Office]) -> None:  # noqa: F811
    house = a_small_house(office)
    desk = Desk(office.app.test_client(), house.desk.headers)
    a_rush(house, nodes, partial(one, desk, f"{house.path}/cancel", {"reason": "storm"}))
    assert said(house) == []
    assert house.rows("SELECT COUNT(*) FROM holds WHERE status = 'active'") == [(0,)]


def test_guests_are_moved_to_another_layout_in_the_middle(office: Office, nodes: list[Office]) -> None:  # noqa: F811
    house = a_small_house(office)
    now = house.desk.get(f"{house.path}/layout")["layout_id"]
    venue = f"/api/venues/{house.event['venue_id']}/layouts"
    wider = a_layout(zones=[stalls("ABC", 6), floor(capacity=10)])
    newer = house.desk.post(f"{venue}/{now}/versions", wider)
    house.desk.post(f"{venue}/{newer['id']}/activate", status=200)
    desk = Desk(office.app.test_client(), house.desk.headers)
    answers = a_rush(house, nodes, partial(moved, desk, f"{house.path}/layout/migrate", newer["id"]))
    assert house.desk.get(f"{house.path}/layout")["layout_id"] == newer["id"], answers
    assert said(house) == []


def test_what_a_guest_holds_of_the_last_places_nobody_else_is_given(office: Office) -> None:
    """Of an event without a layout, and of one that sells less than its zones have, only the whole is counted."""
    evening = an_evening(office.desk(office.organisation("tent")), kind=a_ticket_type(quantity=5), capacity=5)
    evening.desk.post(f"{evening.path}/publish", {}, 200)
    guest = _guest(office, "tent")
    guest.post(f"{evening.path}/holds", {"count": 3})
    _two_are_left(evening, office)
    house = a_small_house(office, seats=1, places=6, capacity=7)
    house.guest().post(f"{house.path}/holds", {"best": 5})
    _two_are_left(Evening(house.desk, {}, house.event), office)


def _two_are_left(evening: Evening, office: Office) -> None:
    kind = 2 if len(evening.desk.get(f"{evening.path}/ticket-types")["items"]) == 2 else 1
    wish = {"ticket_type": kind, "count": 3}
    assert evening.desk.refused("POST", f"{evening.path}/tickets", wish) == (409, "capacity_exceeded")
    evening.desk.post(f"{evening.path}/tickets", wish | {"count": 2})
    assert evening.desk.refused("POST", f"{evening.path}/tickets", wish | {"count": 1}) == (409, "capacity_exceeded")
    office.advance(6 * MINUTE)
    evening.desk.post(f"{evening.path}/tickets", wish | {"count": 1})


def _guest(office: Office, slug: str) -> Desk:
    client = office.app.test_client()
    answer = client.post(f"/api/o/{slug}/session")
    return Desk(client, {"X-CSRF-Token": answer.json["csrf_token"]})  # type: ignore[index]
