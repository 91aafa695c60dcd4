"""Many want the same at the same moment: every seat goes to one of them, nobody waits for ever, nobody sees a 500."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from shared.errors import Conflict
from sync_server.holds import inventory
from sync_server.workers import Worker
from tests.builders import MINUTE
from tests.contracts.holds.house import House, a_house
from tests.contracts.seating.stage import a_layout, floor, stalls
from tests.office import Desk, Office

T = TypeVar("T")


@pytest.fixture
def nodes(office: Office, tmp_path: Path) -> Iterator[list[Office]]:
    """Two servers on one PostgreSQL, with connections and memories of their own; on SQLite there is only one."""
    if office.database.embedded:
        yield [office]
        return
    other = Office(office.url, tmp_path, fresh=False)
    yield [office, other]
    other.close()


def together(works: Sequence[Callable[[], T]]) -> list[T]:
    """Begin all of these at the same moment, each in a thread of its own."""
    start = threading.Barrier(len(works))

    def run(work: Callable[[], T]) -> T:
        start.wait(60)
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(run, works))


def guests(house: House, nodes: list[Office], count: int) -> list[Desk]:
    """So many guests, served by the nodes in turn."""
    made = []
    for turn in range(count):
        client = nodes[turn % len(nodes)].app.test_client()
        answer = client.post(f"/api/o/{house.slug}/session")
        made.append(Desk(client, {"X-CSRF-Token": answer.json["csrf_token"]}))  # type: ignore[index]
    return made


def tried(who: Desk, path: str, body: Any) -> tuple[int, str]:
    answer = who.ask("POST", path, body)
    return answer.status_code, answer.json["error"]["code"] if answer.status_code >= 400 and answer.json else ""


def assert_every_seat_once(house: House) -> None:
    """What the tables say: no seat has two owners, and seats and holds agree."""
    doubled = house.rows(
        "SELECT seat FROM holds WHERE event_id = :event AND status = 'active' AND seat IS NOT NULL "
        "GROUP BY seat HAVING COUNT(*) > 1",
        event=house.id,
    )
    assert doubled == []
    held = house.rows("SELECT seat, hold_id FROM event_seats WHERE event_id = :event AND state = 1", event=house.id)
    active = house.rows(
        "SELECT seat, id FROM holds WHERE event_id = :event AND status = 'active' AND seat IS NOT NULL", event=house.id
    )
    assert sorted(held) == sorted(active)


@pytest.mark.parametrize("count", [8, 24])
def test_one_seat_has_one_winner(house: House, nodes: list[Office], count: int) -> None:
    path = house.reserve_path("A-1")
    answers = Counter(together([lambda who=who: tried(who, path, {}) for who in guests(house, nodes, count)]))
    assert answers.pop((201, "")) == 1
    assert set(answers) <= {(409, "seat_held_by_another_user"), (409, "seat_no_longer_available")}
    assert_every_seat_once(house)


def test_two_hundred_random_seats_by_twenty_clients(office: Office, nodes: list[Office]) -> None:
    house = a_house(office, layout=a_layout(zones=[stalls("ABCDEFGH", 10), floor()]))
    house.desk.patch("/api/organisation/seating-policy", {"orphan_avoidance_strict": False})
    picks = random.Random(7)
    names = list(house.seats)

    def shop(who: Desk, wanted: list[str]) -> Counter[tuple[int, str]]:
        return Counter(tried(who, house.reserve_path(name), {}) for name in wanted)

    crowd = guests(house, nodes, 20)
    wishes = [picks.sample(names, 10) for _ in crowd]
    works = [lambda who=who, seats=seats: shop(who, seats) for who, seats in zip(crowd, wishes, strict=True)]
    answers: Counter[tuple[int, str]] = sum(together(works), Counter())
    assert answers.total() == 200
    assert set(answers) <= {(201, ""), (409, "seat_held_by_another_user"), (409, "seat_no_longer_available")}
    assert house.rows("SELECT COUNT(*) FROM holds WHERE status = 'active'") == [(answers[201, ""],)]
    assert_every_seat_once(house)


def test_overlapping_parties_neither_share_seats_nor_wait_in_a_circle(house: House, nodes: list[Office]) -> None:
    row = [house.seats[f"A-{number}"][0] for number in range(1, 9)]
    wishes = [row[:4], row[3::-1], row[2:6], row[5:1:-1], row[4:], row[:3:-1], row[1:5], row]
    works = [
        lambda who=who, ids=ids: tried(who, f"{house.path}/holds", {"seat_ids": ids})
        for who, ids in zip(guests(house, nodes, 8), wishes, strict=True)
    ]
    answers = Counter(together(works))
    assert answers[201, ""] >= 1 and all(status in {201, 409} for status, _ in answers), answers
    assert_every_seat_once(house)
    parties = house.rows("SELECT party_id, COUNT(*) FROM holds WHERE status = 'active' GROUP BY party_id")
    assert {count for _, count in parties} <= {4, 8}


def test_one_guest_who_clicks_eight_times_at_once_has_one_hold(house: House, nodes: list[Office]) -> None:
    (guest,) = guests(house, nodes, 1)
    path = house.reserve_path("A-1")

    def click() -> tuple[int, str]:
        answer = guest_again(guest).ask("POST", path, {})
        return answer.status_code, answer.json["data"]["hold_id"] if answer.json else ""

    answers = together([click] * 8)
    assert {status for status, _ in answers} <= {200, 201} and len({hold for _, hold in answers}) == 1
    assert house.rows("SELECT COUNT(*) FROM holds") == [(1,)]


def guest_again(guest: Desk) -> Desk:
    """The same guest in another tab."""
    client = guest.client.application.test_client()
    cookie = guest.client.get_cookie("gatehouse_guest_marquee")
    assert cookie is not None
    client.set_cookie(cookie.key, cookie.value)
    return Desk(client, guest.headers)


def test_one_guest_never_gets_more_than_ten_however_many_tabs(office: Office, nodes: list[Office]) -> None:
    house = a_house(office, layout=a_layout(zones=[stalls("ABC", 8), floor()]))
    house.desk.patch("/api/organisation/seating-policy", {"orphan_avoidance_strict": False})
    (guest,) = guests(house, nodes, 1)
    names = list(house.seats)[:16]
    answers = Counter(
        together([lambda name=name: tried(guest_again(guest), house.reserve_path(name), {}) for name in names])
    )
    assert answers[201, ""] == 10, answers
    assert answers[429, "rate_limited"] == 6, answers


def test_a_seat_is_sold_or_held_and_never_both(house: House, nodes: list[Office]) -> None:
    def sell(name: str, ticket: int) -> tuple[int, str]:
        try:
            house.sell(name, first=ticket)
        except Conflict as conflict:
            return 409, conflict.error_code
        return 201, "sold"

    names = ["A-1", "A-3", "A-5", "A-7", "B-1", "B-3", "B-5", "B-7"]
    house.desk.patch("/api/organisation/seating-policy", {"orphan_avoidance_strict": False})
    crowd = guests(house, nodes, 8)
    holding = [
        lambda who=who, name=name: tried(who, house.reserve_path(name), {})
        for who, name in zip(crowd, names, strict=True)
    ]
    selling = [lambda name=name, ticket=turn: sell(name, ticket) for turn, name in enumerate(names, start=1)]
    answers = Counter(together([*holding, *selling]))
    assert answers[201, ""] + answers[201, "sold"] == 8, answers
    assert_every_seat_once(house)


def test_nobody_holds_a_seat_of_an_event_that_was_cancelled_meanwhile(office: Office, nodes: list[Office]) -> None:
    house = a_house(office, layout=a_layout(zones=[stalls("ABCD", 8), floor()]))
    house.desk.patch("/api/organisation/seating-policy", {"orphan_avoidance_strict": False})
    crowd = guests(house, nodes, 15)

    def cancel() -> tuple[int, str]:
        desk = Desk(office.app.test_client(), house.desk.headers)
        return tried(desk, f"{house.path}/cancel", {"reason": "storm"})

    names = list(house.seats)
    works = [
        lambda who=who, turn=turn: tried(who, house.reserve_path(names[turn]), {}) for turn, who in enumerate(crowd)
    ]
    answers = Counter(together([*works, cancel]))
    assert answers[200, ""] == 1 and set(answers) <= {(200, ""), (201, ""), (400, "event_unavailable")}, answers
    assert house.rows("SELECT COUNT(*) FROM holds WHERE status = 'active'") == [(0,)]
    assert set(house.states().values()) <= {0}


def test_the_layout_is_not_changed_under_a_seat_that_is_held_meanwhile(house: House, nodes: list[Office]) -> None:
    layout = house.desk.get(f"{house.path}/layout")["layout_id"]
    crowd = guests(house, nodes, 6)
    block = {"layout_id": layout, "overrides": {"blocked_seat_ids": ["A-1"]}}

    def close() -> tuple[int, str]:
        answer = Desk(nodes[0].app.test_client(), house.desk.headers).ask("PUT", f"{house.path}/layout", block)
        return answer.status_code, "blocked" if answer.status_code == 200 else answer.json["error"]["code"]  # type: ignore[index]

    works = [lambda who=who: tried(who, house.reserve_path("A-1"), {}) for who in crowd]
    answers = Counter(together([*works, close]))
    held, blocked = answers[201, ""], answers[200, "blocked"]
    assert (held, blocked) in {(1, 0), (0, 1)}, answers


def test_four_workers_sweep_each_hold_once(house: House, nodes: list[Office]) -> None:
    house.desk.patch("/api/organisation/seating-policy", {"orphan_avoidance_strict": False})
    for who, name in zip(guests(house, nodes, 12), list(house.seats), strict=False):
        house.reserve(who, name)
    for node in nodes:
        node.now = house.office.now + 6 * MINUTE
    workers = [Worker(nodes[turn % len(nodes)].parts) for turn in range(4)]
    together([worker.run_once for worker in workers])
    assert house.rows("SELECT status, COUNT(*) FROM holds GROUP BY status") == [("expired", 12)]
    assert house.rows("SELECT COUNT(*) FROM outbox WHERE name = 'seat_hold_expired'") == [(12,)]


def test_whoever_finds_another_version_of_a_free_seat_tries_again(postgres_url: str, tmp_path: Path) -> None:
    """Somebody took the seat and gave it back between our look and our turn: it is free, so it is ours."""
    office = Office(postgres_url, tmp_path)
    try:
        house = a_house(office)
        (first, second) = guests(house, [office], 2)
        hold = house.reserve(first, "A-1")
        first.ask("DELETE", f"/api/holds/{hold['hold_id']}")
        engine = office.database.engine
        with ThreadPoolExecutor(1) as pool, engine.connect() as meddler:
            touch = text("UPDATE event_seats SET version = version + 2 WHERE event_id = :event")
            meddler.execute(touch, {"event": house.id})
            trying = pool.submit(tried, second, house.reserve_path("A-1"), {})
            _until_waiting(office, 1)
            meddler.commit()
            assert trying.result(60) == (201, "")
    finally:
        office.close()


def test_whoever_cancels_waits_for_those_who_hold_at_that_moment(postgres_url: str, tmp_path: Path) -> None:
    """Else a hold that was begun before would come to stand after all had been freed."""
    office = Office(postgres_url, tmp_path)
    try:
        house = a_house(office)
        (guest,) = guests(house, [office], 1)
        hold = house.reserve(guest, "A-1")
        guest.ask("DELETE", f"/api/holds/{hold['hold_id']}")
        lock = text("SELECT seat FROM event_seats WHERE event_id = :event FOR UPDATE")
        desk = Desk(office.app.test_client(), house.desk.headers)
        with ThreadPoolExecutor(2) as pool, office.database.engine.connect() as meddler:
            meddler.execute(lock, {"event": house.id}).all()
            holding = pool.submit(tried, guest, house.reserve_path("A-1"), {})
            _until_waiting(office, 1)
            cancelling = pool.submit(tried, desk, f"{house.path}/cancel", {"reason": "storm"})
            _until_waiting(office, 2, cancelling)
            meddler.rollback()
            assert (holding.result(60), cancelling.result(60)) == ((201, ""), (200, ""))
        assert house.states() == {"A-1": 0}
        assert house.rows("SELECT COUNT(*) FROM holds WHERE status = 'active'") == [(0,)]
    finally:
        office.close()


def _until_waiting(office: Office, count: int, unless: Future[Any] | None = None) -> None:
    """Until so many wait for a lock, or somebody did not need to."""
    waits = text(
        "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )
    for _ in range(3_000):
        with office.database.engine.connect() as line:
            if line.execute(waits).scalar_one() >= count or (unless is not None and unless.done()):
                return
        threading.Event().wait(0.01)
    raise AssertionError("nobody waited")


def test_the_tables_themselves_refuse_a_second_holder(house: House) -> None:
    hold = house.reserve(house.guest(), "A-1")
    copy = (
        "INSERT INTO holds SELECT :new, organisation_id, event_id, kind, seat, zone, quantity, bearer_kind, bearer_id, "
        "party_id, status, held_until, remaining_ms, extended, source, notes, origin, created_at, updated_at "
        "FROM holds WHERE id = :old"
    )
    with pytest.raises(IntegrityError), house.office.database.writing() as session:
        session.execute(text(copy), {"new": "other", "old": hold["hold_id"]})
    half = "UPDATE event_seats SET state = 2 WHERE hold_id = :old"
    with pytest.raises(IntegrityError), house.office.database.writing() as session:
        session.execute(text(half), {"old": hold["hold_id"]})


def test_places_are_never_held_twice(office: Office, nodes: list[Office]) -> None:
    house = a_house(office, layout=a_layout(zones=[stalls(), floor(capacity=10)]))
    works = [
        lambda who=who: tried(who, f"{house.path}/holds", {"count": 3, "zone_id": house.zones["Floor"]})
        for who in guests(house, nodes, 8)
    ]
    answers = Counter(together(works))
    assert answers == {(201, ""): 3, (409, "block_at_capacity"): 5}
    with house.office.database.writing() as session, pytest.raises(Conflict):
        inventory.sell_places(session, house.organisation_id, house.id, 2, 2, house.deed())
