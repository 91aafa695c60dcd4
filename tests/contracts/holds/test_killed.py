"""kill -9 of a server while seats are held: whoever was told of a hold has it, and nothing is half written."""

from __future__ import annotations

import http.client
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from urllib.parse import urlsplit

from scripts.measuring import rows_house
from scripts.measuring.measured_server import MeasuredServer, measured_server
from scripts.measuring.rows_house import Guest, RowsHouse
from tests.contracts.holds.agreement import disagreements

CLIENTS = 16
HOLDS_BEFORE = 60


class Crowd:
    """Guests who hold one seat after the other until the line is dead, and what each was told."""

    def __init__(self, server: MeasuredServer, house: RowsHouse) -> None:
        self._address = urlsplit(server.place.address)
        self._house = house
        self._told: list[str] = []
        self.enough = threading.Event()

    def told(self) -> set[str]:
        return set(self._told)

    def hold(self, guest: Guest, seats: list[tuple[str, int]]) -> None:
        line = http.client.HTTPConnection(self._address.hostname or "", self._address.port, timeout=60)
        headers = {name.replace("_", "-"): text for name, text in guest.headers.items()}
        with suppress(OSError, http.client.HTTPException):
            for seat, _ in seats:
                path = f"/api/events/{self._house.event_id}/seats/{seat}/reserve"
                line.request("POST", path, b"{}", {**headers, "Content-Type": "application/json"})
                answer = line.getresponse()
                body = json.loads(answer.read())
                assert answer.status == 201, body
                self._told.append(body["data"]["hold_id"])
                if len(self._told) >= HOLDS_BEFORE:
                    self.enough.set()
        line.close()


def test_whoever_was_told_of_a_hold_has_it_after_kill_9() -> None:
    with measured_server("sqlite") as server:
        house = rows_house.found(server, CLIENTS * rows_house.SOLD_OF_A_ROW)
        guests = rows_house.let_in(server, house, CLIENTS)
        running, crowd, width = server.serve(), Crowd(server, house), rows_house.SOLD_OF_A_ROW
        with ThreadPoolExecutor(CLIENTS) as pool:
            some = [house.seats[turn * width : turn * width + 10] for turn in range(CLIENTS)]
            coming = [pool.submit(crowd.hold, *each) for each in zip(guests, map(list, some), strict=True)]
            crowd.enough.wait(60)
            running.kill()
            for each in coming:
                each.result(60)
        assert len(crowd.told()) >= HOLDS_BEFORE
        _are_kept(server, house, crowd.told())


def _are_kept(server: MeasuredServer, house: RowsHouse, told: set[str]) -> None:
    with server.ground() as ground, ground.parts.database.reading() as session:
        connection = session.connection()
        kept = set(connection.exec_driver_sql("SELECT id FROM holds WHERE status = 'active'").scalars())
        assert told <= kept
        # Each with its seat, its line and its fact; what was never answered is there whole, or not at all.
        assert disagreements(session, house.event_id) == []
        for query in (
            "SELECT subject_id FROM audit_lines WHERE action = 'seat_reserved'",
            "SELECT json_extract(subjects, '$.hold') FROM outbox WHERE name = 'seat_held'",
        ):
            assert set(connection.exec_driver_sql(query).scalars()) == kept
