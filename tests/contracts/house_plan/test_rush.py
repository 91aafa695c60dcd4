"""Everybody wants seats at once, and an open page ends up with what is true."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from sync_server.workers import Worker
from tests.contracts.holds.house import House as Shop
from tests.contracts.holds.house import a_house as a_shop
from tests.contracts.house_plan.house import FREE, HELD, TAKEN, House, Page, a_house
from tests.contracts.house_plan.test_streams import Stream
from tests.contracts.house_plan.test_with_holds import Shown
from tests.contracts.seating.stage import a_layout, stalls
from tests.office import Desk, Office

ROWS = "ABCDEFGHIJ"
GONE = 24
"""Six of eight seats in each of four rows."""


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
    while worker.run_once():  # however far behind it fell
        continue
    page.follow()
    assert page.follow() == []
    assert page.seats == house.page().seats
    assert set(page.seats) == {2}


def test_open_pages_of_both_kinds_show_what_the_database_says_while_guests_reserve(office: Office) -> None:
    shop = a_shop(office, layout=a_layout(zones=[stalls(ROWS[:4], 8)]))
    told = Shown(shop)
    organisers = [Desk(office.app.test_client(), shop.desk.headers) for _ in range(3)]
    pages = [
        told.page(desk) for pair in zip(organisers, (shop.guest() for _ in range(3)), strict=True) for desk in pair
    ]
    streams, polls = [Stream(page) for page in pages[:3]], pages[3:]
    stop = threading.Event()
    working = threading.Thread(target=Worker(office.parts).run, args=(stop,))
    working.start()
    with ThreadPoolExecutor(6) as crowd:
        done = [crowd.submit(_follow_by_polls, told, page) for page in polls]
        done += [crowd.submit(_follow_by_stream, *pair) for pair in zip(pages[:3], streams, strict=True)]
        try:
            with ThreadPoolExecutor(4) as buyers:
                list(buyers.map(lambda row: _reserve_most(shop, row), ROWS[:4], timeout=60))
            for one in done:
                one.result(60)
        finally:
            stop.set()
            office.parts.stop.set()
    working.join()
    for stream in streams:
        stream.end()
    taken = {shop.number(name) for name, state in shop.states().items() if state == HELD}
    assert len(taken) == GONE
    for page in pages:
        look = HELD if page.desk in organisers else TAKEN
        assert bytes(page.seats) == bytes(look if page.first + at in taken else FREE for at in range(32))


def _reserve_most(shop: Shop, row: str) -> None:
    """From the left, and not so many that a single seat would be left."""
    guest = shop.guest()
    for number in range(1, GONE // 4 + 1):
        shop.reserve(guest, f"{row}-{number}")


def _is_behind(page: Page) -> bool:
    return len(page.seats) - page.seats.count(FREE) < GONE and not page.house.office.parts.stop.is_set()


def _follow_by_polls(told: Shown, page: Page) -> None:
    while _is_behind(page):
        page.hear(page.desk.get(f"{told.path}/changes?since={page.version}&wait=10"))


def _follow_by_stream(page: Page, stream: Stream) -> None:
    while _is_behind(page):
        page.hear((stream.next() or ("", {}))[1])


def _hold_some(house: House, seats: range) -> None:
    for seat in seats:
        house.hold(seat)
