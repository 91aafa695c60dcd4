"""The search for the best seats follows what others hold and release, and crowds are not led to the same seats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from sqlalchemy.orm import Session

from sync_server.holds import service
from sync_server.seating.event_seating import EventSeating, require_offer
from sync_server.seating.event_seatings import EventSeatings, event_seatings_of
from sync_server.seating.search.offers import SeatRequest
from sync_server.seating.taken import SeatChanges, SeatingPorts
from sync_server.workers import Worker
from tests.app_server import ApiClient, AppServer
from tests.contracts.holds.at_once import assert_every_seat_once, guests, together, tried
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.contracts.seating.stage import a_layout, floor, stalls

PAIR = {"best": 2}


@pytest.fixture
def big_sale(app_server: AppServer) -> SeatedEvent:
    """Twelve rows of twelve."""
    return a_seated_event(app_server, layout=a_layout(zones=[stalls("ABCDEFGHIJKL", 12), floor()]))


def hold_best(sale: SeatedEvent, who: ApiClient, size: int = 2) -> list[dict[str, Any]]:
    holds: list[dict[str, Any]] = who.post(f"{sale.path}/holds", {"best": size})["data"]["holds"]
    return holds


def fresh(server: AppServer) -> EventSeatings:
    """Seatings that know nothing yet, of the same server."""
    return EventSeatings(server.database, server.parts.metrics)


def seen(seatings: EventSeatings, sale: SeatedEvent, now: int) -> tuple[Any, ...]:
    with seatings.current(sale.organisation_id, sale.id, now) as seating:
        return _open_rows(seating), frozenset(seating.taken()), seating.best(SeatRequest(3))


def _open_rows(seating: EventSeating) -> list[tuple[int, int]]:
    return [(row.open, row.usable) for row in seating.grid.rows]


def assert_follows(servers: Sequence[AppServer], sale: SeatedEvent, now: int) -> None:
    for server in servers:
        ours, built = (seen(each, sale, now) for each in (event_seatings_of(server.parts), fresh(server)))
        assert ours[:2] == built[:2]
        assert getattr(ours[2], "seats", None) == getattr(built[2], "seats", None)


def test_forty_guests_at_once_get_forty_pairs(big_sale: SeatedEvent, nodes: list[AppServer]) -> None:
    path = f"{big_sale.path}/holds"
    works = [lambda who=who: tried(who, path, PAIR) for who in guests(big_sale, nodes, 40)]
    assert Counter(together(works)) == {(201, ""): 40}
    assert_every_seat_once(big_sale)
    assert_follows(nodes, big_sale, big_sale.app_server.now)


def test_whoever_comes_too_late_for_the_best_is_led_to_the_next_without_another_look(
    app_server: AppServer, big_sale: SeatedEvent, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold_best(big_sale, big_sale.guest())  # now the process knows the event
    with fresh(app_server).current(big_sale.organisation_id, big_sale.id, app_server.now) as seating:
        pair = {*require_offer(seating.best(SeatRequest(2)), seating.plan).seats}
    big_sale.sell(*(name for name in big_sale.seats if big_sale.number(name) in pair))
    ports = app_server.database.ports
    asked = ports.of(SeatingPorts)

    def deaf_once(session: Session, organisation_id: str, event_id: str, *known: Any) -> SeatChanges:
        ports.connect(asked)
        return replace(asked.seat_changes(session, organisation_id, event_id, *known), touched=set())

    ports.connect(replace(asked, seat_changes=deaf_once))
    monkeypatch.setattr(service, "hold", lambda *_: pytest.fail("a transaction need not find out what is known"))
    held = {big_sale.number(each["seat_name"]) for each in hold_best(big_sale, big_sale.guest())}
    assert held.isdisjoint(pair)
    assert ports.of(SeatingPorts) is asked, "it had not heard of them"


def test_last_seats_are_sold_to_as_many_as_fit(sale: SeatedEvent, nodes: list[AppServer]) -> None:
    works = [lambda who=who: tried(who, f"{sale.path}/holds", PAIR) for who in guests(sale, nodes, 12)]
    answers = Counter(together(works))
    assert {status for status, _ in answers} <= {201, 409} and 1 <= answers[201, ""] <= 8
    assert_every_seat_once(sale)
    assert_follows(nodes, sale, sale.app_server.now)


@pytest.mark.parametrize("seed", range(3))
def test_after_any_changes_the_search_sees_what_a_new_one_would(
    app_server: AppServer, big_sale: SeatedEvent, nodes: list[AppServer], seed: int
) -> None:
    """Guests of both servers hold, release and buy; holds run out; facts are relayed now and then, or not at all."""
    random, held = Random(seed), list[tuple[ApiClient, str]]()
    for step in range(25):
        match random.choice(["hold", "hold", "release", "sell", "wait", "relay"]):
            case "hold":
                who = guests(big_sale, [random.choice(nodes)], 1)[0]
                held += [(who, each["hold_id"]) for each in hold_best(big_sale, who, random.randint(1, 4))]
            case "release" if held:
                who, hold = held.pop(random.randrange(len(held)))
                assert who.ask("DELETE", f"/api/holds/{hold}").status_code == 204
            case "sell":
                free = sorted({*big_sale.seats} - {name for name, state in big_sale.states().items() if state})
                big_sale.sell(random.choice(free), first=step + 1)
            case "wait":
                app_server.advance(random.choice([1_000, 200_000]))
                for node in nodes:
                    node.now = app_server.now
            case "relay":
                Worker(app_server.parts).run_once()
        if random.random() < 0.5:
            assert_follows(nodes, big_sale, app_server.now)
    assert_follows(nodes, big_sale, app_server.now)


def test_taken_seats_are_read_once(app_server: AppServer, big_sale: SeatedEvent) -> None:
    ports, numbers = app_server.database.ports, list[Collection[int] | None]()
    asked = ports.of(SeatingPorts)

    def counted(
        session: Session, organisation_id: str, event_id: str, wanted: Collection[int] | None, days: int
    ) -> Iterable[tuple[int, int]]:
        numbers.append(wanted)
        return asked.taken_seats(session, organisation_id, event_id, wanted, days)

    for relayed in (False, True, True, False):
        ports.connect(replace(asked, taken_seats=counted))
        hold_best(big_sale, big_sale.guest())
        ports.connect(asked)
        if relayed:
            Worker(app_server.parts).run_once()
    assert numbers[0] is None and None not in numbers[1:]


def test_an_answer_that_was_refused_while_it_was_written_is_free_again(big_sale: SeatedEvent) -> None:
    greedy = big_sale.guest()
    hold_best(big_sale, greedy, 10)
    assert tried(greedy, f"{big_sale.path}/holds", PAIR)[0] in {409, 429}
    with fresh(big_sale.app_server).current(big_sale.organisation_id, big_sale.id, big_sale.app_server.now) as seating:
        pair = {*require_offer(seating.best(SeatRequest(2)), seating.plan).seats}
    held = hold_best(big_sale, big_sale.guest())
    assert {big_sale.number(each["seat_name"]) for each in held} == pair, "the pair that was refused to the greedy one"
    assert_follows([big_sale.app_server], big_sale, big_sale.app_server.now)
