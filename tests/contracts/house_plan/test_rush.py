"""Everybody wants seats at once, and an open page ends up with what is true."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from sync_server.workers import Worker
from tests.contracts.house_plan.house import House, a_house
from tests.contracts.seating.stage import a_layout, stalls
from tests.office import Desk, Office

ROWS = "ABCDEFGHIJ"


def test_page_that_follows_a_rush_is_right_in_the_end(office: Office, desk: Desk) -> None:
    house = a_house(office, desk, a_layout(zones=[stalls(ROWS, 12)]))
    page, quiet, worker = house.page(), threading.Event(), Worker(office.parts)

    def relay() -> None:
        while not quiet.is_set():
            worker.run_once()

    def follow() -> int:
        looks = 0
        while not quiet.is_set():
            page.follow()
            looks += 1
        return looks

    with ThreadPoolExecutor(6) as crowd:
        telling, looking = crowd.submit(relay), crowd.submit(follow)
        holding = [crowd.submit(_hold_some, house, range(first, 121, 4)) for first in (1, 2, 3, 4)]
        for one in holding:
            one.result(60)
        quiet.set()
        telling.result(60)
        assert looking.result(60) > 1
    office.work()
    page.follow()
    assert page.follow() == []
    assert page.seats == house.page().seats
    assert set(page.seats) == {2}


def _hold_some(house: House, seats: range) -> None:
    for seat in seats:
        house.hold(seat)
