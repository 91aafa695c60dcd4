"""The longest hold of a seat while a large seating plan is imported: guests must not notice.

Two guests hold seats over HTTP, fifty times a second at most, before and while an organiser imports a plan of so many
seats in our own JSON, or a guest list as a CSV file. The yardstick is the p95 of the holds before. Measured until the
import has ended, which is a figure of its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import orjson
import requests

from scripts.benchmarking.result import Figure, Result, at_most
from scripts.benchmarking.rows import rows_venue
from scripts.benchmarking.rows.rows_venue import Guest, RowsVenue
from scripts.benchmarking.servers.measured_server import MeasuredServer, measured_server
from scripts.benchmarking.statistics import Spread

CASES: Final = {"postgresql": 250_000, "sqlite": 60_000}
QUICK_SEATS: Final = 20_000
GUESTS: Final = 90_000
QUICK_GUESTS: Final = 20_000
ROW: Final = 500
GUESTS_SEATS: Final = 10
HOLDERS: Final = 2
PAUSE_S: Final = 0.02
BEFORE_S: Final = 4.0
SEATS_TO_HOLD: Final = 9_000
LONGEST_MS: Final = 1_000


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure both databases; PostgreSQL with two server processes and a worker."""
    for database, seats in CASES.items():
        with ExitStack() as cleanup:
            server = cleanup.enter_context(measured_server(database))
            count = QUICK_SEATS if quick else seats
            send = partial(_import, server, body=_plan(count))
            yield from _imported(server, f"{database} {count} seats", send)
        with ExitStack() as cleanup:
            server = cleanup.enter_context(measured_server(database))
            count = QUICK_GUESTS if quick else GUESTS
            yield from _imported(server, f"{database} {count} guests", partial(_import_guests, server, count))


def _imported(server: MeasuredServer, case: str, send: Callable[[dict[str, Any]], None]) -> Iterator[Result]:
    venue = rows_venue.create_rows_venue(server, SEATS_TO_HOLD)
    guests = rows_venue.register_guests(server, venue, SEATS_TO_HOLD // GUESTS_SEATS)
    server.serve()
    holders = _holders(server, venue, guests)
    event = server.organiser.get(f"/api/events/{venue.event_id}")
    time.sleep(BEFORE_S)
    before = [holder.take() for holder in holders]
    began = time.monotonic()
    send(event)
    seconds = time.monotonic() - began
    during = [holder.end() for holder in holders]
    spread, usual = (Spread.of([millis for some in each for millis in some]) for each in (during, before))
    longest = max(millis for some in during for millis in some)
    figure = Figure(
        value=longest,
        unit="ms at most",
        p50=spread.p50,
        p95=spread.p95,
        p99=spread.p99,
        yardstick=usual.p95,
        ratio=spread.p95 / usual.p95,
    )
    yield Result("imports", f"{case} longest hold", figure, at_most(LONGEST_MS))
    yield Result("imports", case, Figure(value=seconds, unit="s"), at_most(300))


def _plan(seats: int) -> bytes:
    """A stadium of straight rows in our own JSON."""
    listed = [
        {"row": str(at // ROW + 1), "number": str(at % ROW + 1), "coordinates": {"x": at % ROW, "y": at // ROW}}
        for at in range(seats)
    ]
    zone = {"name": "Stand", "zone_type": "reserved_seating", "seats": listed}
    return orjson.dumps({"name": "Stadium", "zones": [zone]})


def _import(server: MeasuredServer, event: dict[str, Any], *, body: bytes) -> None:
    """Import the plan, and wait until it has ended."""
    _send(server, f"/api/venues/{event['venue_id']}/layouts/import?format=gatehouse", body)


def _import_guests(server: MeasuredServer, count: int, event: dict[str, Any]) -> None:
    """Import a guest list of a zone, and wait until all guests are on it."""
    lines = (f"guest{at}@example.org" for at in range(count))
    (zone, *_) = server.organiser.get(f"/api/events/{event['id']}/layout")["zones"]
    _send(
        server,
        f"/api/events/{event['id']}/layout/zones/{zone['id']}/guests/import",
        "\n".join(["email", *lines]).encode(),
    )


def _send(server: MeasuredServer, path: str, body: bytes) -> None:
    headers = {"Authorization": f"Bearer {server.demo['api_token']}"}
    response = requests.post(f"{server.layout.address}{path}", data=body, headers=headers, timeout=600)
    response.raise_for_status()
    progress: dict[str, Any] = response.json()
    while "percent" in progress and progress["state"] not in {"done", "failed", "cancelled"}:
        time.sleep(0.2)
        progress = server.organiser.get(response.headers["Location"])
    if progress.get("problem"):
        raise RuntimeError(f"the import failed: {progress['problem']}")


def _holders(server: MeasuredServer, venue: RowsVenue, guests: list[Guest]) -> list[Holder]:
    seats = [id for id, _ in venue.seats]
    holders = []
    for number in range(HOLDERS):
        # Whole rows for each: a hold that leaves a single seat would be refused.
        share = slice(number * len(seats) // HOLDERS, (number + 1) * len(seats) // HOLDERS)
        own = guests[number * len(guests) // HOLDERS : (number + 1) * len(guests) // HOLDERS]
        holders.append(Holder(server.layout.address, venue.event_id, seats[share], own))
    return holders


@dataclass
class Holder:
    """Guests who hold one seat after another, on a thread, until told to stop."""

    address: str
    event_id: str
    seats: list[str]
    guests: list[Guest]
    millis: list[float] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        """Begin."""
        self.failure: Exception | None = None
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def take(self) -> list[float]:
        """The milliseconds of the holds since the last time."""
        taken, self.millis = self.millis, []
        return taken

    def end(self) -> list[float]:
        """Stop, and the milliseconds of the last holds."""
        self.stop.set()
        self.thread.join()
        if self.failure is not None:
            raise self.failure
        return self.take()

    def _run(self) -> None:
        try:
            with requests.Session() as client:
                for number, seat in enumerate(self.seats):
                    if self.stop.wait(PAUSE_S):
                        return
                    self.millis.append(self._hold(client, self.guests[number // GUESTS_SEATS % len(self.guests)], seat))
        except Exception as failure:
            self.failure = failure

    def _hold(self, client: requests.Session, guest: Guest, seat: str) -> float:
        url = f"{self.address}/api/events/{self.event_id}/seats/{seat}/reserve"
        headers = {name.replace("_", "-"): value for name, value in guest.headers.items()}
        began = time.perf_counter_ns()
        response = client.post(url, json={"source": "web"}, headers=headers, timeout=600)
        if response.status_code != 201:
            raise RuntimeError(f"a free seat could not be held: {response.status_code} {response.text[:200]}")
        return (time.perf_counter_ns() - began) / 1e6
