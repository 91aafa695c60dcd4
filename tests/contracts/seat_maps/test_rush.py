"""Many seats are taken at once, and every open page ends up with the state in the database."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor

from sync_server.workers import Worker
from tests.app_server import ApiClient, AppServer
from tests.contracts.holds.seated_event import SeatedEvent as Shop
from tests.contracts.holds.seated_event import a_seated_event as a_shop
from tests.contracts.seat_maps.mapped_event import FREE, HELD, TAKEN, MappedEvent, Page, a_mapped_event
from tests.contracts.seat_maps.test_streams import open_stream
from tests.contracts.seat_maps.test_with_holds import Shown
from tests.contracts.seating.stage import a_layout, stalls
from tests.stream_client import StreamClient, ask_listener

ROWS = "ABCDEFGHIJ"
GONE = 24
"""Six of eight seats in each of four rows."""


def test_page_is_right_after_a_rush(app_server: AppServer, api: ApiClient) -> None:
    mapped = a_mapped_event(app_server, api, a_layout(zones=[stalls(ROWS, 12)]))
    page, done_holding, worker = mapped.page(), threading.Event(), Worker(app_server.parts)

    def relay() -> None:
        while not done_holding.is_set():
            worker.run_once()

    def follow() -> int:
        count = 0
        while not done_holding.is_set():
            page.follow()
            count += 1
        return count

    with ThreadPoolExecutor(6) as crowd:
        relaying, following = crowd.submit(relay), crowd.submit(follow)
        holding = [crowd.submit(_hold_some, mapped, range(first, 121, 4)) for first in (1, 2, 3, 4)]
        try:
            for one in holding:
                one.result(60)
        finally:
            done_holding.set()
        relaying.result(60)
        assert following.result(60) > 1
    while worker.run_once():  # however far behind it fell
        continue
    page.follow()
    assert page.follow() == []
    assert page.seats == mapped.page().seats
    assert set(page.seats) == {2}


def test_polling_and_streaming_pages_are_right_while_guests_reserve(app_server: AppServer) -> None:
    shop = a_shop(app_server, layout=a_layout(zones=[stalls(ROWS[:4], 8)]))
    shop.api.patch("/api/organisation/seating-policy", {"max_holds_per_ip": None})  # all guests come from here
    mapped = Shown(shop)
    organisers = [ApiClient(app_server.app.test_client(), shop.api.headers) for _ in range(3)]
    pages = [
        mapped.page(api) for pair in zip(organisers, (shop.guest() for _ in range(3)), strict=True) for api in pair
    ]
    streams, polls = [open_stream(page) for page in pages[:3]], pages[3:]
    stop = threading.Event()
    working = threading.Thread(target=Worker(app_server.parts).run, args=(stop,))
    working.start()
    with ThreadPoolExecutor(6) as crowd:
        done = [crowd.submit(_follow_by_polls, mapped, page) for page in polls]
        done += [crowd.submit(_follow_by_stream, *pair) for pair in zip(pages[:3], streams, strict=True)]
        try:
            with ThreadPoolExecutor(4) as buyers:
                list(buyers.map(lambda row: _reserve_most(shop, row), ROWS[:4], timeout=60))
            for one in done:
                one.result(60)
        finally:
            stop.set()
            app_server.parts.stop.set()
    working.join()
    for stream in streams:
        stream.close()
    taken = {shop.number(name) for name, state in shop.states().items() if state == HELD}
    assert len(taken) == GONE
    for page in pages:
        look = HELD if page.api in organisers else TAKEN
        assert bytes(page.seats) == bytes(look if page.first + at in taken else FREE for at in range(32))


def _reserve_most(shop: Shop, row: str) -> None:
    """From the left, leaving no single seat."""
    guest = shop.guest()
    for number in range(1, GONE // 4 + 1):
        shop.reserve(guest, f"{row}-{number}")


def _is_behind(page: Page) -> bool:
    return len(page.seats) - page.seats.count(FREE) < GONE and not page.mapped.app_server.parts.stop.is_set()


def _follow_by_polls(mapped: Shown, page: Page) -> None:
    while _is_behind(page):
        path = f"{mapped.path}/changes?since={page.version}&wait=10"
        page.apply(json.loads(ask_listener(page.mapped.app_server, page.api, path)[1].read()))


def _follow_by_stream(page: Page, stream: StreamClient) -> None:
    while _is_behind(page):
        page.apply(stream.next().data)


def _hold_some(mapped: MappedEvent, seats: range) -> None:
    for seat in seats:
        mapped.hold(seat)
