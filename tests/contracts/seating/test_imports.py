"""Large layouts are imported piece by piece, while guests go on holding seats."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from werkzeug.test import TestResponse

from scripts.processes.child import Child
from shared.clock import wall_clock
from sync_server.seating.imports import importing, queue
from sync_server.workers import Worker
from tests.app_server import ApiClient, AppServer
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.contracts.seating.stage import a_layout, stalls

ROOT = Path(__file__).parents[3]
SEATS = 2_400
SECTION = "The long name of a section makes a large file of few seats"


def a_file(seats: int = SEATS, *, last: str = "") -> bytes:
    """A CSV file with rows of two hundred seats, and perhaps one more line."""
    same = "Premium with a view,standard,no"
    lines = (
        f"Stalls,{SECTION},{at // 200 + 1},{at % 200 + 1},{10 * at},{at // 200}.125,seat-{at:05},{same}"
        for at in range(seats)
    )
    return "\n".join(["zone,section,row,number,x,y,seat_id,price_category,category,aisle_after", *lines, last]).encode()


@dataclass
class House:
    """A venue with a small layout and an event on sale, to whose layouts files are imported."""

    event: SeatedEvent

    @property
    def api(self) -> ApiClient:
        return self.event.api

    @property
    def layouts(self) -> str:
        return f"/api/venues/{self.event.event['venue_id']}/layouts"

    def send(self, file: bytes, query: str = "format=csv", **headers: str) -> TestResponse:
        return self.api.client.post(f"{self.layouts}/import?{query}", data=file, headers=self.api.headers | headers)

    def begin(self, file: bytes, query: str = "format=csv") -> str:
        """Send a large file; the address of the import."""
        response = self.send(file, query)
        assert response.status_code == 202, response.get_data(as_text=True)
        return str(response.headers["Location"])

    def names(self) -> list[tuple[str, int]]:
        """The name and version of each layout that can be seen."""
        return [(layout["name"], layout["version"]) for layout in self.api.get(self.layouts)["items"]]

    def count(self, table: str) -> int:
        return int(self.event.rows(f"SELECT count(*) FROM {table}")[0][0])


@pytest.fixture
def house(app_server: AppServer, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setattr(importing, "ROWS", 100)
    return House(a_seated_event(app_server))


def test_a_small_file_is_answered_at_once(house: House) -> None:
    assert house.send(a_file(100)).status_code == 201


def test_a_large_file_becomes_a_draft_when_all_of_it_is_stored(house: House, app_server: AppServer) -> None:
    before = house.names()
    where = house.begin(a_file(), "format=csv&name=Arena")
    waiting = house.api.get(where)
    assert (waiting["state"], waiting["percent"], waiting["layout_id"]) == ("waiting", 0, None)
    assert house.names() == before
    app_server.run_worker()
    done = house.api.get(where)
    assert (done["state"], done["percent"], done["rows"], done["written"]) == ("done", 100, SEATS + 1, SEATS + 1)
    layout = house.api.get(f"{house.layouts}/{done['layout_id']}")
    assert (layout["status"], layout["version"], layout["total_capacity"]) == ("draft", 1, SEATS)
    assert sorted(house.names()) == sorted([*before, ("Arena", 1)])
    assert house.count("import_parts") == 0


def test_seats_keep_their_ids_whichever_way_they_come(house: House, app_server: AppServer) -> None:
    where = house.begin(a_file())
    app_server.run_worker()
    first = house.api.get(where)["layout_id"]
    where = house.begin(a_file(SEATS + 200), f"format=csv&layout_id={first}")
    app_server.run_worker()
    second = house.api.get(where)["layout_id"]
    assert house.api.get(f"{house.layouts}/{second}")["version"] == 2
    query = "SELECT id FROM layout_seats WHERE layout_id = :layout AND seat_id = 'seat-00407'"
    assert house.event.rows(query, layout=first) == house.event.rows(query, layout=second)


def test_a_layout_that_is_posted_whole_becomes_an_import_too(house: House, app_server: AppServer) -> None:
    rows = [chr(65 + at // 26) + chr(65 + at % 26) for at in range(40)]
    layout = a_layout(zones=[stalls(rows, width=100)])  # type: ignore[arg-type]
    answer = house.api.ask("POST", house.layouts, layout)
    assert answer.status_code == 202
    draft = house.api.post(house.layouts, a_layout())
    assert house.api.refused("PUT", f"{house.layouts}/{draft['id']}", layout) == (413, "layout_too_large")
    app_server.run_worker()
    made = house.api.get(answer.headers["Location"])
    shown = house.api.get(f"{house.layouts}/{made['layout_id']}")
    assert (shown["name"], shown["total_capacity"]) == (layout["name"], 4_000)


def test_mistakes_are_all_listed_and_nothing_is_stored(house: House, app_server: AppServer) -> None:
    before = house.count("layouts"), house.count("layout_seats")
    where = house.begin(a_file(last="Stalls,,,5"))
    app_server.run_worker()
    failed = house.api.get(where)
    assert (failed["state"], failed["problem"]["code"]) == ("failed", "invalid_layout")
    assert [mistake["place"] for mistake in failed["problem"]["details"]["mistakes"]] == [f"line {SEATS + 2}, row"]
    assert (house.count("layouts"), house.count("layout_seats")) == before


def test_a_layout_that_its_venue_cannot_hold_is_refused(house: House, app_server: AppServer) -> None:
    house.api.patch(house.layouts.removesuffix("/layouts"), {"max_capacity": SEATS - 1})
    where = house.begin(a_file())
    app_server.run_worker()
    assert house.api.get(where)["problem"]["code"] == "invalid_layout"
    assert house.count("import_parts") == 0


def test_a_file_that_is_sent_twice_is_imported_once(house: House, app_server: AppServer) -> None:
    first, second = (house.send(a_file(), **{"Idempotency-Key": "arena"}) for _ in range(2))
    assert first.headers["Location"] == second.headers["Location"]
    app_server.run_worker()
    app_server.run_worker()
    assert house.names().count(("Seating plan", 1)) == 1


def test_imports_of_others_are_not_found(house: House, app_server: AppServer) -> None:
    where = house.begin(a_file())
    others = app_server.api(app_server.organisation("others"))
    assert others.refused("GET", where) == (404, "import_not_found")
    assert others.refused("POST", f"{where}/cancel", {}) == (404, "import_not_found")
    assert others.get("/api/imports")["items"] == []


def test_who_sent_it_is_who_made_the_layout(house: House, app_server: AppServer) -> None:
    where = house.begin(a_file())
    app_server.run_worker()
    layout_id = house.api.get(where)["layout_id"]
    lines = house.api.get(f"/api/audit?subject_kind=layout&subject_id={layout_id}")["items"]
    assert {line["action"]: line["actor_kind"] for line in lines} == {
        "layout_import_started": "token",
        "layout_created": "token",
    }


# --- while it runs ------------------------------------------------------------------------------------------------


class Pieces(threading.Event):
    """A stop event that is asked before each piece, and lets the test act then."""

    def __init__(self, act: Callable[[int], None]) -> None:
        super().__init__()
        self.asked, self.act = 0, act

    def is_set(self) -> bool:
        self.asked += 1
        self.act(self.asked)
        return super().is_set()


def work(app_server: AppServer, act: Callable[[int], None]) -> None:
    """Run the next import, and call `act` before each piece of it."""
    worker = importing.Imports(app_server.parts.monotonic, Pieces(act))
    worker.run(app_server.database, app_server.context())


@dataclass
class Guests:
    """Hold a seat and give it back, one after another."""

    house: House
    holds: int = 0

    def hold(self) -> None:
        if self.holds % 10 == 0:  # as often as one guest may
            self.api = self.house.event.guest()
        held = self.house.event.reserve(self.api, "A-1")
        assert self.api.ask("DELETE", f"/api/holds/{held['hold_id']}").status_code == 204
        self.holds += 1


def test_guests_hold_seats_between_the_pieces(house: House, app_server: AppServer) -> None:
    where = house.begin(a_file())
    guests, seen = Guests(house), []

    def hold(_piece: int) -> None:
        progress = house.api.get(where)
        seen.append((progress["state"], progress["percent"]))
        guests.hold()

    work(app_server, hold)
    assert house.api.get(where)["state"] == "done"
    assert guests.holds >= SEATS // importing.ROWS
    assert {"reading", "writing"} <= {state for state, _ in seen}
    percents = [percent for _, percent in seen]
    assert percents == sorted(percents)
    assert len(set(percents)) > 10


def test_guests_hold_seats_while_a_worker_imports(house: House, app_server: AppServer) -> None:
    """The worker on a thread of its own, and a guest who goes on holding seats: how many, not how quickly."""
    where = house.begin(a_file())
    guests = Guests(house)
    worker = threading.Thread(target=Worker(app_server.parts).run_once)
    worker.start()
    while worker.is_alive():
        guests.hold()
    worker.join()
    assert house.api.get(where)["state"] == "done"
    assert guests.holds >= 10


def test_an_import_is_cancelled_and_leaves_nothing(house: House, app_server: AppServer) -> None:
    before = house.count("layouts"), house.count("layout_seats")
    where = house.begin(a_file())

    def cancel(piece: int) -> None:
        if piece == 10:
            assert house.count("layout_seats") > before[1]
            assert house.api.post(f"{where}/cancel", {}, 200)["state"] == "cancelling"

    work(app_server, cancel)
    assert house.api.get(where)["state"] == "cancelled"
    assert (house.count("layouts"), house.count("layout_seats")) == before
    assert house.api.refused("POST", f"{where}/cancel", {}) == (409, "import_ended")


def test_one_import_of_an_organisation_runs_at_a_time(house: House, app_server: AppServer) -> None:
    first = house.begin(a_file())
    app_server.advance(1)
    second = house.begin(a_file())
    other = House(a_seated_event(app_server, slug="others"))
    theirs = other.begin(a_file())

    def also(piece: int) -> None:
        if piece == 5:
            work(app_server, lambda _: None)  # a second worker: it takes what is somebody else's
            work(app_server, lambda _: None)
            assert house.api.get(second)["state"] == "waiting"

    work(app_server, also)
    assert other.api.get(theirs)["state"] == "done"
    assert (house.api.get(first)["state"], house.api.get(second)["state"]) == ("done", "waiting")


def test_a_worker_that_stops_leaves_the_rest_to_another(house: House, app_server: AppServer) -> None:
    where = house.begin(a_file())
    stopping = importing.Imports(app_server.parts.monotonic, Pieces(lambda _: None))

    def stop(piece: int) -> None:
        if piece == 10:
            stopping.stop.set()

    stopping.stop.act = stop  # type: ignore[attr-defined]
    stopping.run(app_server.database, app_server.context())
    written = house.api.get(where)["written"]
    assert 0 < written < SEATS
    app_server.run_worker()
    assert house.api.get(where)["written"] == SEATS + 1
    assert house.count("layout_seats") == SEATS + len(house.event.seats)


@contextmanager
def a_worker(app_server: AppServer, folder: Path) -> Iterator[Child]:
    """A worker in a process of its own, killed at the end."""
    settings = {
        "GATEHOUSE_DATABASE_URL": app_server.url,
        "GATEHOUSE_MASTER_KEY_FILE": str(app_server.folder / "master.key"),
        "GATEHOUSE_LOG_LEVEL": "error",
    }
    command = [sys.executable, "-m", "sync_server", "worker", "--metrics", "127.0.0.1:9464"]
    worker = Child("a worker", command, folder / "log", settings, ROOT)
    worker.start()
    try:
        yield worker
    finally:
        worker.kill()


def test_a_killed_worker_leaves_the_rest_to_another(house: House, app_server: AppServer, tmp_path: Path) -> None:
    where = house.begin(a_file(30_000))
    with a_worker(app_server, tmp_path) as worker:
        worker.wait_until(lambda: house.api.get(where)["written"] > 0)
    interrupted = house.api.get(where)
    assert interrupted["state"] == "writing"
    app_server.run_worker()
    assert house.api.get(where)["written"] == interrupted["written"], "it may still be alive"
    app_server.now = wall_clock() + queue.LOST_AFTER_MS + 1
    app_server.run_worker()
    done = app_server.api(house.event.organisation_id).get(where)  # months later: the token has expired
    assert (done["state"], done["written"]) == ("done", 30_001)
    query = "SELECT count(*), count(DISTINCT seat_id) FROM layout_seats WHERE layout_id = :layout"
    assert house.event.rows(query, layout=done["layout_id"]) == [(30_000, 30_000)]


def test_an_import_with_which_workers_are_lost_is_given_up(house: House, app_server: AppServer) -> None:
    where = house.begin(a_file())
    with app_server.database.writing() as session:
        session.execute(text("UPDATE imports SET attempts = :most"), {"most": queue.MOST_ATTEMPTS})
    app_server.run_worker()
    assert house.api.get(where)["problem"]["code"] == "import_failed"


def test_a_file_that_never_arrived_is_said_to_be_missing(
    house: House, app_server: AppServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def killed(*_: Any) -> None:
        raise Killed

    monkeypatch.setattr(queue, "store_parts", killed)
    with pytest.raises(Killed):
        house.send(a_file())
    monkeypatch.undo()
    (waiting,) = house.api.get("/api/imports")["items"]
    app_server.run_worker()
    assert house.api.get(f"/api/imports/{waiting['id']}")["state"] == "waiting"
    app_server.advance(queue.RECEIVED_WITHIN_MS)
    app_server.run_worker()
    assert house.api.get(f"/api/imports/{waiting['id']}")["problem"]["code"] == "import_interrupted"
