"""What the pages of organisers read as the work grows: it must not grow with tickets, guests, holds or past events.

Counted are the rows that PostgreSQL reads, and the steps that SQLite takes, for one request of each page. The tables
are filled with copies of a demo event's rows: so many tickets, each with a guest inside and a hold that has ended, as
many entries of no event, and a tenth as many events that are over; there are 20 devices at every size. The yardstick is
the smallest size, at which zones are too full already: then the check reads the minutes of the hours concerned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from flask.testing import FlaskClient
from sqlalchemy import Table, insert, select
from sqlalchemy.orm import Session

from scripts.benchmarking.meters.rows_read import reads_of
from scripts.benchmarking.result import Figure, Result, at_most
from scripts.benchmarking.servers.measured_server import MeasuredServer, measured_server
from shared.admission import Direction, Passage
from shared.clock import wall_clock
from sync_server.app import web_app
from sync_server.monitoring.sum_checks import ALL_SUMS
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sql.tables import Base
from sync_server.runtime import ServerRuntime
from sync_server.scans.attendance import basis as bases
from sync_server.scans.attendance.steps import Step, pack
from sync_server.scans.crowds.watch import check

SIZES: Final = (20_000, 100_000)
QUICK_SIZES: Final = (1_000, 5_000)
DEVICES: Final = 20
PIECE: Final = 5_000
MINUTE: Final = 60_000
PAGES: Final[Mapping[str, str]] = {
    "event page": "/admin/events/{event}",
    "list of events": "/admin/events",
    "list of keys": "/api/keys",
    "seating figures": "/api/events/{event}/seating/metrics",
    "counters": "/api/events/{event}/counters",
    "devices page": "/admin/devices",
    "device page": "/admin/devices/{device}",
    "alerts": "/api/alerts",
    "attendance of a day": "/api/events/{event}/days/{day}/seats",
}
WATCH: Final = "check for full zones"
"""Not a page: what the worker reads where it has looked before."""
Copy = Callable[[int], dict[str, Any]]
"""What is different in the copy of that number."""


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure every page on both databases, at every size."""
    for database in ("sqlite", "postgresql"):
        with measured_server(database) as server, server.runtime() as runtime:
            yield from _pages(server, runtime, database, QUICK_SIZES if quick else SIZES)


def _pages(server: MeasuredServer, runtime: ServerRuntime, database: str, sizes: tuple[int, ...]) -> Iterator[Result]:
    client = web_app(runtime).test_client()
    filled, first = 0, dict[str, int]()
    unit = "steps" if runtime.parts.database.embedded else "rows"
    for size in sizes:
        _fill(server, runtime, filled, size)
        filled = size
        for page, rows in _reads(server, runtime, client).items():
            before = first.setdefault(page, rows)
            figure = Figure(value=rows, unit=unit, yardstick=before, ratio=rows / max(before, 1))
            yield Result("growth", f"{database} {size} {page}", figure, at_most(1.5, "ratio"))


def _reads(server: MeasuredServer, runtime: ServerRuntime, client: FlaskClient) -> dict[str, int]:
    headers = {"Authorization": f"Bearer {server.demo['api_token']}"}
    found = {WATCH: _watched(server, runtime)}
    names = {"event": server.demo["event"]["id"], "device": server.demo["device"]["id"], "day": _day(server, runtime)}
    for page, path in PAGES.items():
        client.get(path.format(**names), headers=headers)  # what a process keeps is kept already
        with reads_of(runtime.parts.database) as reads:
            response = client.get(path.format(**names), headers=headers)
        if response.status_code != 200:
            raise RuntimeError(f"{path}: {response.status_code} {response.get_data(as_text=True)[:300]}")
        found[page] = reads.rows
    return found


def _watched(server: MeasuredServer, runtime: ServerRuntime) -> int:
    """The guests came while nobody looked; the check before this one has counted the sums anew, if that was needed."""
    database, event = runtime.parts.database, server.event_key
    before = check(database, event, wall_clock(), check(database, event, wall_clock()))
    with reads_of(database) as reads:
        check(database, event, wall_clock(), before)
    return reads.rows


def _day(server: MeasuredServer, runtime: ServerRuntime) -> str:
    with runtime.parts.database.reading() as session:
        return bases.current_rules(session, server.event_key).days[0].date


def _fill(server: MeasuredServer, runtime: ServerRuntime, start: int, size: int) -> None:
    """Copy rows until there are so many, and sum them up."""
    event, now = server.event_key, wall_clock()
    here = {"organisation_id": event.organisation_id, "event_id": event.event_id}
    with runtime.parts.database.writing() as session:
        ticket, hold = _first(session, "tickets"), _a_hold(server, now)
        device, number = _first(session, "devices"), _first(session, "events")
    copies: Mapping[str, tuple[dict[str, Any], Copy, int]] = {
        "events": (number, lambda at: _an_event(at, now), 10),
        "tickets": (ticket, _a_ticket, 1),
        "scan_presence": (here, lambda at: _somebody(at, now), 1),
        "holds": (hold, lambda at: {"id": _id("5", at), "status": ("expired", "converted", "cancelled")[at % 3]}, 1),
        "scan_entries": (
            _an_entry(event, now),
            lambda at: {"seq": 10_000_000 + at, "hash": at.to_bytes(32, "big")},
            1,
        ),
    }
    if not start:
        _copy(runtime, "devices", device, _a_device, range(DEVICES))
    for name, (row, copy, share) in copies.items():
        _copy(runtime, name, row, copy, range(start // share, size // share))
    with runtime.parts.database.writing() as session:
        bases.held(session, event)
        for each in ALL_SUMS:
            each.mend(session, event)
    with runtime.parts.database.engine.connect() as connection:
        connection.exec_driver_sql("ANALYZE")
        connection.commit()


def _copy(runtime: ServerRuntime, name: str, row: dict[str, Any], copy: Copy, numbers: range) -> None:
    table = Base.metadata.tables[name]
    for start in range(numbers.start, numbers.stop, PIECE):
        some = range(start, min(start + PIECE, numbers.stop))
        with runtime.parts.database.writing() as session:
            session.execute(insert(table), [row | copy(at) for at in some])


def _first(session: Session, name: str) -> dict[str, Any]:
    table: Table = Base.metadata.tables[name]
    return dict(session.execute(select(table).limit(1)).mappings().one())


def _a_ticket(at: int) -> dict[str, Any]:
    code = f"{at:08d}"
    place = {"seat": 0, "seat_id": "", "seat_key": None, "section": "", "seat_row": "", "seat_number": ""}
    return {"id": 10_000_000 + at, "sequence": 10_000 + at, "number": f"N-{at}", "confirmation_code": code} | place


def _somebody(at: int, now: int) -> dict[str, Any]:
    """A guest inside: they came all through the last four hours at every size, through two gates into three zones."""
    ticket, moment = 10_000_000 + at, now - at % 240 * MINUTE - at % 1_000
    gate, zone = 1 + at // 7 % 2, 1 + at // 11 % 3
    steps = pack([Step(ticket, Passage(moment, 1_000_000, 1, 10_000_000 + at, Direction.ENTRY, gate, zone))])
    return {"ticket": ticket, "bodies": 1, "at": moment, "gate": gate, "zone": zone, "steps": steps}


def _an_event(at: int, now: int) -> dict[str, Any]:
    named = dict.fromkeys(("code", "slug", "dedupe_key", "name"), f"growth-{at}")
    past = now - (at + 2) * 86_400_000
    times = {"start_at": past, "end_at": past + 1, "go_live_at": None, "end_at_auto": None, "status": "ended"}
    return {"id": _id("6", at), "number": 1_000_000 + at} | named | times


def _a_device(at: int) -> dict[str, Any]:
    return {
        "id": _id("7", at),
        "number": 1_000_000 + at,
        "name": f"Device {at}",
        "public_key": None,
        "enrolled_at": None,
    }


def _a_hold(server: MeasuredServer, now: int) -> dict[str, Any]:
    event = server.event_key
    values = {"organisation_id": event.organisation_id, "event_id": event.event_id, "days": 0, "kind": "places"}
    bearer = {"bearer_kind": "guest", "bearer_id": _id("8", 1), "source": "web"}
    return (
        values
        | bearer
        | {"seat": None, "zone": 1, "quantity": 1, "held_until": now, "created_at": now, "updated_at": now}
    )


def _an_entry(event: EventKey, now: int) -> dict[str, Any]:
    """An entry of no event, as a device writes at every start."""
    of = {"organisation_id": event.organisation_id, "device": 1_000_000, "branch": 1, "event_id": None, "ticket": 0}
    said = {"body": b"", "received_at": now, "kind": "boot", "gate": 0, "admitted": False, "reason": "", "at": now}
    return of | said | {"uncertainty": 0, "quarantined": False, "why": "", "forked": False}


def _id(kind: str, at: int) -> str:
    return f"0189000{kind}-0000-7000-8000-{at:012x}"
