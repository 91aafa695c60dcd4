"""Houses are drawn before anybody asks, and by one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from sync_server.house_plan import wiring
from sync_server.house_plan.warming import Warmer
from tests.contracts.house_plan.house import House, a_house, forget_pictures
from tests.office import Desk, Office


@contextmanager
def drawings(office: Office) -> Iterator[list[str]]:
    """Reads of all seats of a layout, as long as the block lasts: a picture takes one, and a plan one more."""
    seen: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if "FROM layout_seats" in statement and "ORDER BY layout_seats.number" in statement:
            seen.append(statement)

    event.listen(office.database.engine, "before_cursor_execute", note)
    yield seen
    event.remove(office.database.engine, "before_cursor_execute", note)


def a_warmer(office: Office) -> Warmer:
    """As every server process has one."""
    return Warmer(office.parts, wiring.board_of(office.parts))


def test_first_reader_finds_the_house_drawn(office: Office, desk: Desk) -> None:
    house = a_house(office, desk, published=False)
    assert a_warmer(office).run_once() == 0  # a draft is for its organisers: nobody crowds before it
    desk.post(f"/api/events/{house.id}/publish", status=200)
    office.work()
    assert a_warmer(office).run_once() == 1
    with drawings(office) as drawn:
        house.page()
        assert a_warmer(office).run_once() == 0
    assert drawn == []
    house.stage.choose(blocked_seat_ids=["A-2"])
    office.work()
    assert a_warmer(office).run_once() == 1
    forget_pictures(office)
    assert a_warmer(office).run_once() == 1  # a server that has just begun


def test_crowd_before_a_house_that_is_not_drawn_waits_for_one_drawing(house: House, office: Office) -> None:
    house.page()
    with drawings(office) as alone:
        forget_pictures(office)
        expected = house.page().state
    with drawings(office) as together, ThreadPoolExecutor(8) as crowd:
        forget_pictures(office)
        pages = [crowd.submit(house.page) for _ in range(8)]
        assert [page.result(60).state for page in pages] == [expected] * 8
    assert len(together) == len(alone) > 0
