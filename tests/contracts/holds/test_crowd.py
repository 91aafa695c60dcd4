"""Guests who ask for seats at the same moment share a statement, and nobody notices the others by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.app_server import ApiClient, AppServer
from tests.contracts.holds.agreement import disagreements
from tests.contracts.holds.at_once import guests, tried, until_waiting
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.contracts.holds.sharing import asked_together

SEATS = ("A-1", "A-4", "A-8", "B-1", "B-4")
"""None of them leaves a single seat, and none is near another."""
HELD = (201, "")


@pytest.fixture
def sale(postgres_url: str, tmp_path: Path) -> Iterator[SeatedEvent]:
    """An event on sale, on PostgreSQL."""
    app_server = AppServer(postgres_url, tmp_path)
    yield a_seated_event(app_server)
    app_server.close()


def asks(sale: SeatedEvent, crowd: list[ApiClient], *seats: str) -> list[Callable[[], tuple[int, str]]]:
    return [partial(tried, who, sale.reserve_path(name), {}) for who, name in zip(crowd, seats, strict=True)]


def transactions(sale: SeatedEvent) -> list[set[str]]:
    """The seats that each transaction has held."""
    names = {number: name for name, (_, number) in sale.seats.items()}
    query = "SELECT array_agg(seat) FROM holds WHERE status = 'active' GROUP BY xmin::text"
    return [{names[seat] for seat in seats} for (seats,) in sale.rows(query)]


def met(sale: SeatedEvent, count: int) -> list[ApiClient]:
    """Guests who have held something before, and so have a counter."""
    crowd = guests(sale, [sale.app_server], count)
    for who in crowd:
        hold = sale.reserve(who, "B-8")
        assert who.ask("DELETE", f"/api/holds/{hold['hold_id']}").status_code == 204
    return crowd


def test_those_who_wait_share_a_statement(sale: SeatedEvent) -> None:
    first, *others = asks(sale, met(sale, 5), *SEATS)
    assert asked_together(sale, first, others) == [HELD] * 4
    assert sorted(map(sorted, transactions(sale))) == [[SEATS[0]], sorted(SEATS[1:])]
    for table in ("audit_lines WHERE action = 'seat_reserved'", "outbox WHERE name = 'seat_held'"):
        assert sale.rows(f"SELECT COUNT(*) FROM {table}") == [(10,)]  # five were released
    assert sale.rows("SELECT DISTINCT version FROM hold_counters") == [(3,)]
    with sale.app_server.database.reading() as session:
        assert disagreements(session, sale.id) == []


def test_each_gets_its_own_answer(sale: SeatedEvent) -> None:
    crowd = met(sale, 5)
    sale.sell("A-4")
    sale.reserve(crowd[2], "A-8")
    first, *others = asks(sale, crowd, *SEATS)
    assert asked_together(sale, first, others) == [(409, "seat_not_available"), (200, ""), HELD, HELD]
    assert {"B-1", "B-4"} in transactions(sale)


def test_what_one_of_them_breaks_fails_for_that_one_alone(sale: SeatedEvent) -> None:
    """A hold that `event_seats` does not know of: the second guard refuses another one."""
    crowd = met(sale, 4)
    hold = sale.reserve(sale.guest(), "A-4")["hold_id"]
    with sale.app_server.database.writing() as session:
        session.execute(text("DELETE FROM event_seats WHERE hold_id = CAST(:hold AS uuid)"), {"hold": hold})
    first, *others = asks(sale, crowd, *SEATS[:4])
    answers = asked_together(sale, first, others)
    assert answers == [(409, "seat_no_longer_available"), HELD, HELD]
    assert sale.states() == dict.fromkeys(("A-1", "A-8", "B-1"), 1) | {"B-8": 0}


def test_whoever_must_wait_for_a_lock_keeps_nobody_waiting(sale: SeatedEvent) -> None:
    crowd = met(sale, 3)
    other_tab = text("UPDATE hold_counters SET version = version WHERE bearer_id = CAST(:bearer AS uuid)")
    mine = sale.reserve(crowd[2], "B-8")["hold_id"]
    ((bearer,),) = sale.rows("SELECT CAST(bearer_id AS text) FROM holds WHERE id = CAST(:id AS uuid)", id=mine)
    first, second, locked = asks(sale, crowd, *SEATS[:3])
    with sale.app_server.database.engine.connect() as holder:
        holder.execute(other_tab, {"bearer": bearer})
        answered: list[tuple[int, str]] = []

        def free_when_the_other_is_answered() -> tuple[int, str]:
            answer = second()
            answered.append(answer)
            until_waiting(sale.app_server, 1)  # the one whose counter is locked, alone by now
            holder.commit()
            return answer

        assert asked_together(sale, first, [free_when_the_other_is_answered, locked]) == [HELD, HELD]
        assert answered == [HELD]
    assert len(transactions(sale)) == 4  # with what was held before


def test_a_hold_of_nobody_in_person_has_no_personal_part(sale: SeatedEvent) -> None:
    (who,) = met(sale, 1)
    who.client.environ_base["REMOTE_ADDR"] = ""
    who.client.environ_base["HTTP_USER_AGENT"] = ""
    assert tried(who, sale.reserve_path("A-1"), {}) == HELD
