"""Twenty thousand visitors look at one map every two seconds, through the shipped nginx file: what reaches the server.

wrk asks by HTTPS as often as they would, each time with the ETag that it saw last; meanwhile a seat is held every two
seconds. The server, on SQLite, counts its own requests.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scripts.bench_cases.maps.seatmap import Connection
from scripts.benchmarking import clients
from scripts.benchmarking.result import Figure, Result, at_least, at_most
from scripts.benchmarking.rows import rows_venue
from scripts.benchmarking.servers.measured_server import MeasuredServer, measured_server
from scripts.private_services.installed import find_program
from scripts.private_services.nginx import NAME, Behind, NginxServer
from scripts.processes.ports import LOOPBACK

VISITORS, EVERY_S = 20_000, 2
PAUSE_MS = 100
"""Between two requests on a connection."""
ANSWER_MS = 10
"""What an answer takes besides: wrk keeps no rate, only connections that pause."""
SCRIPT = Path(clients.__file__).with_name("crowd.lua")
COUNTED = re.compile(rb'^gatehouse_http_requests_total\{[^}]*route="([^"]*)"[^}]*\} ([0-9.e+]+)$', re.MULTILINE)


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure the requests at the server, and at nginx."""
    rate, seconds = (VISITORS // EVERY_S // 5, 8) if quick else (VISITORS // EVERY_S, 30)
    with _behind_a_proxy(), measured_server("sqlite") as server:
        rows = rows_venue.create_rows_venue(server, 5_000)
        guests = rows_venue.register_guests(server, rows, seconds)
        server.serve()
        nginx = NginxServer(Behind(server.layout.port, server.layout.port + 1))
        server.cleanup.callback(nginx.remove)
        nginx.start()
        path = f"/api/public/events/{rows.event_id}/seatmap/state"
        _asked(nginx, path, rate, 2)  # the first answer is drawn and kept
        before = _requests(server)
        with _holds(server, rows, guests):
            answered = _asked(nginx, path, rate, seconds)
        reached, taken = _requests(server) - before, answered["seconds"]
    looks = answered["unchanged"] + answered["changed"]
    name = f"{VISITORS} visitors"
    yield Result("crowd", f"{name} origin requests", Figure(value=reached / taken, unit="/s"), at_most(5))
    yield Result("crowd", f"{name} answered", Figure(value=looks / taken, unit="/s"), at_least(0.9 * rate))
    unchanged = 100 * answered["unchanged"] / looks
    yield Result("crowd", f"{name} unchanged", Figure(value=unchanged, unit="%"), at_least(90))
    yield Result("crowd", f"{name} failed", Figure(value=answered["failed"], unit=""), at_most(0))


def _asked(nginx: NginxServer, path: str, rate: int, seconds: int) -> dict[str, float]:
    """What wrk counted."""
    sizes = ["-t2", f"-c{rate * (PAUSE_MS + ANSWER_MS) // 1000}", f"-d{seconds}s", "--timeout", "10s"]
    headers = ["-H", f"Host: {NAME}", "-H", "Accept-Encoding: gzip"]
    address = f"https://{LOOPBACK}:{nginx.port}{path}"
    command = [find_program("wrk", "wrk"), *sizes, *headers, "-s", str(SCRIPT), address, "--", path, str(PAUSE_MS)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60, check=True).stdout
    counted: dict[str, float] = json.loads(said.strip().splitlines()[-1])
    return counted


def _requests(server: MeasuredServer) -> int:
    """How many requests for the map the server has answered since it started."""
    counted = Connection(server.layout.metrics_address, {}).get("/metrics")
    return round(sum(float(count) for route, count in COUNTED.findall(counted) if b"seatmap" in route))


@contextmanager
def _holds(server: MeasuredServer, rows: rows_venue.RowsVenue, guests: list[rows_venue.Guest]) -> Iterator[None]:
    """A seat is held every two seconds during the block."""
    done = threading.Event()

    def hold() -> None:
        for guest, (seat, _) in zip(guests, rows.seats[:: rows_venue.SOLD_OF_A_ROW], strict=False):
            rows_venue.hold_seat(server.layout.address, rows.event_id, guest, seat)
            if done.wait(EVERY_S):
                return

    holding = threading.Thread(target=hold)
    holding.start()
    yield
    done.set()
    holding.join()


@contextmanager
def _behind_a_proxy() -> Iterator[None]:
    os.environ["GATEHOUSE_TRUSTED_PROXIES"] = "1"
    try:
        yield
    finally:
        del os.environ["GATEHOUSE_TRUSTED_PROXIES"]
