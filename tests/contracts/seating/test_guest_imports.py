"""Long guest lists are added piece by piece, while guests go on holding seats; short ones are answered at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
import zstandard
from werkzeug.test import TestResponse

from shared.clock import wall_clock
from sync_server.seating.imports import guest_importing, queue
from sync_server.seating.zone_access import guest_lists
from tests.app_server import AppServer
from tests.contracts.seating.test_imports import Guests, House, a_worker, house, work

__all__ = ["house"]

LONG_LIST = 1_400


def a_list(guests: int = LONG_LIST) -> bytes:
    return "\n".join(["email", *(f"guest{at}@example.org" for at in range(guests))]).encode()


@dataclass
class Lounge:
    """The guest list of a zone of the event on sale."""

    house: House

    @property
    def path(self) -> str:
        return f"{self.house.event.path}/layout/zones/{self.house.event.zones['Floor']}/guests"

    def send(self, file: bytes) -> TestResponse:
        return self.house.api.client.post(f"{self.path}/import", data=file, headers=self.house.api.headers)

    def begin(self, file: bytes) -> str:
        response = self.send(file)
        assert response.status_code == 202, response.get_data(as_text=True)
        return str(response.headers["Location"])

    def count(self) -> int:
        return self.house.count("zone_guests")


@pytest.fixture
def lounge(house: House, monkeypatch: pytest.MonkeyPatch) -> Lounge:
    monkeypatch.setattr(guest_importing, "GUESTS", 100)
    return Lounge(house)


def added(lounge: Lounge) -> list[int]:
    """How many guests each line of the audit log says were added."""
    lines = lounge.house.api.get("/api/audit?action=zone_guests_added")["items"]
    return [line["after"]["guests"] for line in lines]


def test_a_short_guest_list_is_answered_at_once(lounge: Lounge) -> None:
    response = lounge.send(a_list(1_000))
    assert (response.status_code, response.json) == (201, {"changed": 1_000})
    assert lounge.count() == 1_000 and added(lounge) == [1_000]


def test_a_long_guest_list_is_added_piece_by_piece(lounge: Lounge, app_server: AppServer) -> None:
    lounge.send(a_list(40))
    where = lounge.begin(a_list())
    assert lounge.house.count("import_parts") == 1
    stored = lounge.house.event.rows("SELECT body FROM import_parts")
    assert b"example.org" not in zstandard.decompress(stored[0][0]), "keyed hashes, no addresses"
    guests, seen = Guests(lounge.house), []

    def hold(_piece: int) -> None:
        seen.append(lounge.house.api.get(where)["percent"])
        guests.hold()

    work(app_server, hold)
    done = lounge.house.api.get(where)
    assert (done["state"], done["rows"], done["written"], done["added"]) == ("done", LONG_LIST, LONG_LIST, 1_360)
    assert (done["format"], done["layout_id"], done["event_id"]) == ("guests", None, lounge.house.event.id)
    assert lounge.count() == LONG_LIST and sorted(added(lounge)) == [40, 1_360]
    assert seen == sorted(seen) and len(set(seen)) > 10
    assert lounge.house.count("import_parts") == 0


def test_a_long_guest_list_with_a_mistake_is_refused_as_a_whole(lounge: Lounge) -> None:
    response = lounge.send(a_list() + b"\nnobody\n")
    assert response.status_code == 400 and response.json["error"]["code"] == "invalid_list"
    assert (lounge.count(), lounge.house.count("imports")) == (0, 0)


def test_a_cancelled_guest_list_takes_back_only_its_own(lounge: Lounge, app_server: AppServer) -> None:
    lounge.send(a_list(40))
    where = lounge.begin(a_list())

    def cancel(piece: int) -> None:
        if piece == 6:
            assert lounge.count() > 40
            assert lounge.house.api.post(f"{where}/cancel", {}, 200)["state"] == "cancelling"

    work(app_server, cancel)
    assert lounge.house.api.get(where)["state"] == "cancelled"
    assert lounge.count() == 40 and added(lounge) == [40]


def test_a_list_that_others_have_made_too_long_is_taken_back(
    lounge: Lounge, app_server: AppServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guest_lists, "MAX_GUESTS", LONG_LIST + 10)
    where = lounge.begin(a_list())

    def meanwhile(piece: int) -> None:
        if piece == 5:
            body = {"guests": [{"customer_id": f"c-{at}"} for at in range(20)]}
            lounge.house.api.post(lounge.path, body)

    work(app_server, meanwhile)
    ended = lounge.house.api.get(where)
    assert (ended["state"], ended["problem"]["code"]) == ("failed", "list_too_long")
    assert lounge.count() == 20
    assert lounge.send(a_list(LONG_LIST + 20)).json["error"]["code"] == "list_too_long", "at once, where it is known"


def test_a_killed_worker_leaves_the_rest_of_a_list(lounge: Lounge, app_server: AppServer, tmp_path: Path) -> None:
    guests = 30_000
    where = lounge.begin(a_list(guests))
    with a_worker(app_server, tmp_path) as worker:
        worker.wait_until(lambda: lounge.house.api.get(where)["written"] > 0)
    interrupted = lounge.house.api.get(where)
    assert interrupted["state"] == "writing" and lounge.count() == interrupted["written"] < guests
    app_server.run_worker()
    assert lounge.house.api.get(where)["written"] == interrupted["written"], "it may still be alive"
    app_server.now = wall_clock() + queue.LOST_AFTER_MS + 1
    app_server.run_worker()
    lounge.house.event.api = app_server.api(lounge.house.event.organisation_id)  # months later: the token has expired
    done = lounge.house.api.get(where)
    assert (done["state"], done["written"], done["added"]) == ("done", guests, guests)
    assert lounge.count() == guests and added(lounge) == [guests]
