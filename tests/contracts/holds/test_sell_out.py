"""The last seats, places and tickets under concurrent holds, sales, cancellations and moves: all tables agree."""

from __future__ import annotations

import random
import threading
from collections import Counter
from functools import partial
from typing import Any

import pytest

from tests.app_server import ApiClient, AppServer, Concert, a_concert
from tests.builders import MINUTE, a_ticket_type
from tests.contracts.holds.agreement import disagreements
from tests.contracts.holds.at_once import guests, together, tried
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.contracts.seating.stage import a_layout, floor, stalls

ROOM = {"seats": 12, "floor": 6}
CLERKS = 8
ROUNDS = 8


def a_small_sale(app_server: AppServer, *, seats: int = 10, places: int = 100, **event: Any) -> SeatedEvent:
    """Twelve seats and a floor for six, with a limited number of tickets of each type."""
    layout = a_layout(zones=[stalls("AB", 6), floor(capacity=ROOM["floor"])])
    sale = a_seated_event(app_server, layout=layout, **event)
    sale.api.patch("/api/organisation/seating-policy", {"orphan_avoidance_strict": False})
    sale.api.post(f"{sale.path}/ticket-types", a_ticket_type(name="Seat", zone=1, quantity=seats))
    sale.api.post(f"{sale.path}/ticket-types", a_ticket_type(name="Floor", zone=2, quantity=places))
    return sale


def anything(
    sale: SeatedEvent, guest: ApiClient, clerk: ApiClient, seed: int, middle: threading.Barrier
) -> Counter[tuple[int, str]]:
    """What one guest and one clerk do, in a random order of the seed."""
    picks = random.Random(seed)
    mine: list[str] = []
    answers: Counter[tuple[int, str]] = Counter()

    def issue(**body: Any) -> None:
        answer = clerk.ask("POST", f"{sale.path}/tickets", body)
        answers[answer.status_code, answer.json["error"]["code"] if answer.status_code >= 400 else ""] += 1  # type: ignore[index]
        if answer.status_code == 201:
            mine.extend(ticket["id"] for ticket in answer.json["items"])  # type: ignore[index]

    def ask(who: ApiClient, path: str, **body: Any) -> None:
        answers[tried(who, path, body)] += 1

    for index in range(ROUNDS):
        if index == ROUNDS // 2:
            middle.wait(60)
        seat = picks.choice(list(sale.seats))
        works = [
            partial(issue, ticket_type=1, seats=[{"seat_id": seat}]),
            partial(issue, ticket_type=2, count=2),
            partial(ask, guest, sale.reserve_path(seat)),
            partial(ask, guest, f"{sale.path}/holds", count=2, zone_id=sale.zones["Floor"]),
            partial(ask, guest, f"{sale.path}/holds", best=2),
        ]
        if mine:
            works.append(partial(ask, clerk, f"/api/tickets/{mine.pop()}/cancel"))
        picks.choice(works)()
    return answers


def a_rush(sale: SeatedEvent, nodes: list[AppServer], *others: Any) -> Counter[tuple[int, str]]:
    """All guests and clerks at once, and halfway through the others."""
    middle = threading.Barrier(CLERKS + len(others))

    def come(other: Any) -> Any:
        middle.wait(60)
        return other()

    crowd = guests(sale, nodes, CLERKS)
    clerks = [ApiClient(nodes[index % len(nodes)].app.test_client(), sale.api.headers) for index in range(CLERKS)]
    works = [partial(anything, sale, crowd[index], clerks[index], index, middle) for index in range(CLERKS)]
    answers: Counter[tuple[int, str]] = sum(together([*works, *(partial(come, other) for other in others)]), Counter())
    # While guests are being moved, the event is not on sale for a moment.
    assert {status for status, code in answers if code != "guests_being_moved"} <= {200, 201, 400, 409, 429}, answers
    assert answers[201, ""], answers
    return answers


def found_disagreements(sale: SeatedEvent) -> list[str]:
    with sale.app_server.database.reading() as session:
        return disagreements(session, sale.id)


def one(who: ApiClient, path: str, body: Any) -> Counter[tuple[int, str]]:
    return Counter([tried(who, path, body)])


def moved(who: ApiClient, path: str, layout: str) -> Counter[tuple[int, str]]:
    """Request a report and move, until no sale comes in between: an outdated report moves nobody."""
    for _ in range(200):
        body = {"layout_id": layout, "holds": "release"}
        answer = tried(who, path, body | {"fingerprint": who.post(path, body)["fingerprint"]})
        if answer != (409, "report_outdated"):
            break
    return Counter([answer])


@pytest.mark.parametrize("capacity", [0, 14])
def test_the_last_seats_places_and_tickets(app_server: AppServer, nodes: list[AppServer], capacity: int) -> None:
    sale = a_small_sale(app_server, capacity=capacity, seats=8, places=6)
    a_rush(sale, nodes)
    assert found_disagreements(sale) == []
    ((issued, held),) = sale.rows(
        "SELECT tickets_issued, (SELECT COALESCE(SUM(quantity), 0) FROM holds WHERE event_id = events.id "
        "AND status = 'active') FROM events WHERE id = :event",
        event=sale.id,
    )
    assert issued + held <= (capacity or sum(ROOM.values()))


def test_the_event_is_cancelled_halfway(app_server: AppServer, nodes: list[AppServer]) -> None:
    sale = a_small_sale(app_server)
    api = ApiClient(app_server.app.test_client(), sale.api.headers)
    a_rush(sale, nodes, partial(one, api, f"{sale.path}/cancel", {"reason": "storm"}))
    assert found_disagreements(sale) == []
    assert sale.rows("SELECT COUNT(*) FROM holds WHERE status = 'active'") == [(0,)]


def test_guests_are_moved_to_another_layout_halfway(app_server: AppServer, nodes: list[AppServer]) -> None:
    sale = a_small_sale(app_server)
    now = sale.api.get(f"{sale.path}/layout")["layout_id"]
    venue = f"/api/venues/{sale.event['venue_id']}/layouts"
    wider = a_layout(zones=[stalls("ABC", 6), floor(capacity=10)])
    newer = sale.api.post(f"{venue}/{now}/versions", wider)
    sale.api.post(f"{venue}/{newer['id']}/activate", status=200)
    api = ApiClient(app_server.app.test_client(), sale.api.headers)
    answers = a_rush(sale, nodes, partial(moved, api, f"{sale.path}/layout/migrate", newer["id"]))
    assert sale.api.get(f"{sale.path}/layout")["layout_id"] == newer["id"], answers
    assert found_disagreements(sale) == []


def test_held_places_count_against_the_last_ones(app_server: AppServer) -> None:
    """For an event without a layout, and one that sells less than its zones have."""
    concert = a_concert(app_server.api(app_server.organisation("tent")), kind=a_ticket_type(quantity=5), capacity=5)
    concert.api.post(f"{concert.path}/publish", {}, 200)
    guest = _guest(app_server, "tent")
    guest.post(f"{concert.path}/holds", {"count": 3})
    _two_are_left(concert, app_server)
    sale = a_small_sale(app_server, seats=1, places=6, capacity=7)
    sale.guest().post(f"{sale.path}/holds", {"best": 5})
    _two_are_left(Concert(sale.api, {}, sale.event), app_server)


def _two_are_left(concert: Concert, app_server: AppServer) -> None:
    kind = 2 if len(concert.api.get(f"{concert.path}/ticket-types")["items"]) == 2 else 1
    body = {"ticket_type": kind, "count": 3}
    assert concert.api.refused("POST", f"{concert.path}/tickets", body) == (409, "capacity_exceeded")
    concert.api.post(f"{concert.path}/tickets", body | {"count": 2})
    assert concert.api.refused("POST", f"{concert.path}/tickets", body | {"count": 1}) == (409, "capacity_exceeded")
    app_server.advance(6 * MINUTE)
    concert.api.post(f"{concert.path}/tickets", body | {"count": 1})


def _guest(app_server: AppServer, slug: str) -> ApiClient:
    client = app_server.app.test_client()
    answer = client.post(f"/api/o/{slug}/session")
    return ApiClient(client, {"X-CSRF-Token": answer.json["csrf_token"]})  # type: ignore[index]
