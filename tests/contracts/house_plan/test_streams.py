"""Open maps are told at once, go on where they left, and let go when there is nothing more to see."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import Any

import orjson
import pytest

from sync_server.house_plan import wiring
from tests.builders import MINUTE
from tests.contracts.house_plan.house import FREE, TAKEN, House, Page, a_house
from tests.office import Office

PATIENCE_S = 30


class Stream:
    """An open stream of changes, read on a thread of its own."""

    def __init__(self, page: Page, **headers: str) -> None:
        path = f"{page.house.path}/changes?since={page.version}"
        asked = page.desk.headers | {"Accept": "text/event-stream"} | headers
        self.answer = page.desk.client.get(path, headers=asked, buffered=False)
        self.heard: Queue[tuple[str, dict[str, Any]] | None] = Queue()
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self) -> None:
        for chunk in self.answer.response:
            text = chunk.decode() if isinstance(chunk, bytes) else str(chunk)
            if text.startswith("event: "):
                name, _, told = text.partition("\n")
                self.heard.put((name.removeprefix("event: "), orjson.loads(told.partition("data: ")[2])))
        self.heard.put(None)

    def next(self) -> tuple[str, dict[str, Any]] | None:
        """The next news; None at the end."""
        return self.heard.get(timeout=PATIENCE_S)

    def close(self) -> None:
        self.answer.close()

    def end(self) -> None:
        """Of a server that stops: once everything is read."""
        while self.next() is not None:
            continue
        self.close()


@contextmanager
def reading(page: Page, **headers: str) -> Iterator[Stream]:
    """A stream that ends with the block."""
    stream = Stream(page, **headers)
    yield stream
    page.house.office.parts.stop.set()
    stream.end()


def test_held_seat_shows_taken_on_an_open_page(house: House, office: Office) -> None:
    with reading(house.page()) as stream:
        house.hold(3)
        office.work()
        name, told = stream.next() or ("", {})
        assert (name, told["seats"], told["reset"]) == ("changes", [[3, TAKEN]], None)


def test_one_ear_asks_for_all_readers_and_only_while_there_are_any(house: House, office: Office) -> None:
    ear = wiring.board_of(office.parts).ear
    assert ear.run_once() == 0
    with reading(house.page()) as stream, reading(house.page()) as other:
        house.hold(2)
        office.work()
        assert all((each.next() or ("", {}))[1]["seats"] == [[2, TAKEN]] for each in (stream, other))
        assert [ear.run_once(), ear.run_once()] == [1, 0]
        house.hold(3)
        office.work()
        assert ear.run_once() == 1
    assert ear.run_once() == 0


def test_hold_that_ends_shows_free_on_an_open_page_and_nobody_swept(house: House, office: Office) -> None:
    house.hold(3, minutes=5)
    office.work()
    with reading(house.page()) as stream:
        office.advance(5 * MINUTE)
        _, told = stream.next() or ("", {})
        assert told["seats"] == [[3, FREE]]


def test_reader_that_comes_back_hears_what_it_missed(house: House, office: Office) -> None:
    page = house.page()
    known, page.version = page.version, "nothing.1.1.1"
    house.hold(3)
    office.work()
    with reading(page, **{"Last-Event-ID": known}) as stream:
        assert (stream.next() or ("", {}))[1]["seats"] == [[3, TAKEN]]


def test_stream_ends_when_the_event_is_not_shown_any_more(house: House, office: Office) -> None:
    with reading(house.page()) as stream:
        house.stage.desk.post(f"/api/events/{house.id}/unpublish", status=200)
        office.work()
        assert (stream.next() or ("", {}))[0] == "gone"
        assert stream.next() is None
        stream.heard.put(None)


def test_stream_ends_with_the_server(house: House, office: Office) -> None:
    stream = Stream(house.page())
    office.parts.stop.set()
    assert stream.next() is None
    stream.close()


def test_long_poll_waits_for_news(house: House, office: Office) -> None:
    page, answers = house.page(), Queue[list[list[int]]]()
    path = f"{house.path}/changes?since={page.version}&wait=25"
    asking = threading.Thread(target=lambda: answers.put(house.visitor.get(path)["seats"]))
    asking.start()
    house.hold(7)
    office.work()
    assert answers.get(timeout=PATIENCE_S) == [[7, TAKEN]]
    asking.join()


@pytest.mark.parametrize("wrong", ["changes", "changes?since=", "changes?since=1.1.1.1&wait=26", "changes?when=now"])
def test_mistyped_question_is_answered_in_words(house: House, wrong: str) -> None:
    assert house.visitor.refused("GET", f"{house.path}/{wrong}") == (400, "invalid_request")


def test_more_pages_than_the_server_can_serve_are_sent_away_for_a_moment(sqlite_url: str, tmp_path: Path) -> None:
    office = Office(sqlite_url, tmp_path, blocking_threads=8)
    house = a_house(office, office.desk(office.organisation("marquee")))
    page = house.page()
    with reading(page):
        answer = house.visitor.ask("GET", f"{house.path}/changes?since={page.version}&wait=5")
        assert answer.status_code == 503 and answer.headers["Retry-After"] == "5"
        assert page.follow() == []  # whoever does not wait is answered all the same
    office.close()
