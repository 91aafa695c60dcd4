"""An event on sale in a venue of straight rows on a measured server, and guests with sessions."""

from __future__ import annotations

import http.client
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Final
from urllib.parse import urlsplit

import psycopg
from msgspec import structs
from sqlalchemy import text

from scripts.benchmarking.rows.evenings import HOUR, evening
from scripts.benchmarking.servers.measured_server import MeasuredServer
from scripts.benchmarking.yardsticks.bare_hold import TABLES
from shared.clock import wall_clock
from shared.lifecycle import EventStatus
from sync_server.customers import cookies
from sync_server.customers import service as customers
from sync_server.events import schemas as event_shapes
from sync_server.events import service as events
from sync_server.events.lifecycle import status
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from sync_server.seating import event_layouts
from sync_server.seating import service as seating
from sync_server.seating.event_layouts import LayoutChoice
from sync_server.seating.layouts.plan import LayoutPlan, PlannedSeat, ZonePlan, ZoneType
from sync_server.venues import schemas as venue_shapes
from sync_server.venues import service as venues

WIDTH: Final = 20
_FOREIGN_KEYS: Final = (
    "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = %s::regclass AND contype = 'f'"
)
SOLD_OF_A_ROW: Final = 18
"""Seats sold in a row, from the left, so that no hold is refused for leaving a single seat."""


@dataclass(frozen=True, slots=True)
class RowsVenue:
    """The event, and its seats in the order in which they are held."""

    organisation_id: str
    event_id: str
    seats: tuple[tuple[str, int], ...]  # id and number


@dataclass(frozen=True, slots=True)
class Guest:
    """A guest's id, session cookie and CSRF token."""

    id: str
    headers: dict[str, str]


def create_rows_venue(server: MeasuredServer, seats: int, *, places: int = 0) -> RowsVenue:
    """Create venue, layout and published event through the server's own services; with a floor for so many, if any."""
    organisation = server.demo["organisation"]["id"]
    with server.runtime() as runtime, runtime.parts.database.writing() as session:
        context = ActionContext(SYSTEM, wall_clock(), os.urandom)
        shape = venue_shapes.NewVenue(
            name="Rows", timezone="Europe/Berlin", city="Hamburg", country="DE", address="Reihenweg 1"
        )
        venue = venues.create_venue(session, organisation, shape.model_dump(), context)
        plan = seating.prepare(_plan(-(-seats // SOLD_OF_A_ROW), places))
        layout = seating.create_layout(session, organisation, venue.id, plan, context)
        seating.activate(session, organisation, venue.id, layout.id, context)
        start, end = evening(context.now)
        wanted = event_shapes.NewEvent(
            venue_id=venue.id, name="Rush", description="Everybody at once.", start_at=start, end_at=end, capacity=0
        )
        event = events.create_event(session, organisation, wanted.model_dump(), context)
        event_layouts.choose(session, organisation, event.id, LayoutChoice(layout.id), context)
        status.change_status(session, organisation, event.id, EventStatus.PUBLISHED, context)
        query = text("SELECT id, number FROM layout_seats WHERE layout_id = :layout AND place < :last ORDER BY number")
        rows = session.execute(query, {"layout": layout.id, "last": SOLD_OF_A_ROW}).all()
        return RowsVenue(organisation, event.id, tuple((id, number) for id, number in rows))


def _plan(rows: int, places: int) -> LayoutPlan:
    seats = tuple(
        PlannedSeat(seat_id=f"{row}-{place}", row=str(row), number=str(place), x=float(place), y=float(row))
        for row in range(1, rows + 1)
        for place in range(1, WIDTH + 1)
    )
    zone = ZonePlan("Stalls", ZoneType.RESERVED_SEATING, len(seats), focus=(10.0, -5.0), seats=seats)
    floor = (ZonePlan("Floor", ZoneType.GA_STANDING, places),) if places else ()
    return LayoutPlan("Rows", (zone, *floor))


def register_guests(server: MeasuredServer, venue: RowsVenue, count: int) -> list[Guest]:
    """Create so many guests, each as if it had started a session from a network of its own."""
    with server.runtime() as runtime, runtime.parts.database.writing() as session:
        context = ActionContext(SYSTEM, wall_clock(), os.urandom)
        actors = (structs.replace(SYSTEM, ip=str(IPv6Address(number << 64))) for number in range(count))
        contexts = (structs.replace(context, actor=actor) for actor in actors)
        cards = [
            customers.create_guest(session, venue.organisation_id, here, lasts_ms=HOUR, allowed=1) for here in contexts
        ]
        name = f"gatehouse_guest_{server.demo['organisation']['slug'].replace('-', '_')}"
        sealer = runtime.parts.sealer
        return [
            Guest(card.guest_id, {"Cookie": f"{name}={cookies.encode(card, sealer)}", "X_CSRF_Token": card.csrf})
            for card in cards
        ]


def hold_seat(address: str, event_id: str, guest: Guest, seat: str) -> None:
    """Hold a seat for a guest, over a connection of its own."""
    headers = {name.replace("_", "-"): value for name, value in guest.headers.items()}
    connection = http.client.HTTPConnection(urlsplit(address).netloc)
    path, body = f"/api/events/{event_id}/seats/{seat}/reserve", b'{"source":"web"}'
    connection.request("POST", path, body, headers | {"Content-Type": "application/json"})
    response = connection.getresponse()
    if response.status != http.client.CREATED:
        raise RuntimeError(f"the hold was refused: {response.status} {response.read(300)!r}")
    connection.close()


def copy_tables(database_url: str) -> None:
    """Create the yardstick's tables: empty copies of the product's, under other names."""
    if database_url.startswith("sqlite"):
        with sqlite3.connect(database_url.removeprefix("sqlite:///")) as connection:
            for statement in list(_copies(connection)):
                connection.execute(statement)
        return
    with psycopg.connect(database_url, autocommit=True) as server:
        # In a schema of their own: server and worker refuse to start beside tables that they do not declare.
        server.execute(b"CREATE SCHEMA bare")
        for table in TABLES:
            server.execute(f"CREATE TABLE bare.bare_{table} (LIKE {table} INCLUDING ALL)".encode())
            # LIKE does not copy foreign keys, which cost both sides the same.
            for name, definition in server.execute(_FOREIGN_KEYS, (table,)).fetchall():
                server.execute(f"ALTER TABLE bare.bare_{table} ADD CONSTRAINT bare_{name} {definition}".encode())


def _copies(connection: sqlite3.Connection) -> Iterator[str]:
    for table in TABLES:
        query = "SELECT type, name, sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL AND type <> 'trigger'"
        for kind, name, statement in connection.execute(query, (table,)).fetchall():
            copy = statement.replace(f"TABLE {table}", f"TABLE bare_{table}").replace(
                f"ON {table} ", f"ON bare_{table} "
            )
            copy = copy.replace(f'TABLE "{table}"', f"TABLE bare_{table}").replace(
                f'ON "{table}" ', f"ON bare_{table} "
            )
            yield copy.replace(f"INDEX {name}", f"INDEX bare_{name}") if kind == "index" else copy


def oversold(server: MeasuredServer, venue: RowsVenue) -> int:
    """Count the seats with more than one active hold, or with a hold that is not the seat's."""
    queries = (
        "SELECT COUNT(*) FROM (SELECT seat FROM holds WHERE event_id = :event AND status = 'active' "
        "GROUP BY seat HAVING COUNT(*) > 1) AS doubled",
        "SELECT COUNT(*) FROM holds h LEFT JOIN event_seats s ON s.event_id = h.event_id AND s.seat = h.seat "
        "WHERE h.event_id = :event AND h.status = 'active' AND (s.hold_id IS NULL OR s.hold_id <> h.id)",
    )
    with server.runtime() as runtime, runtime.parts.database.reading() as session:
        return sum(session.execute(text(query), {"event": venue.event_id}).scalar_one() for query in queries)


def held(server: MeasuredServer, venue: RowsVenue) -> int:
    """Count the active holds."""
    with server.runtime() as runtime, runtime.parts.database.reading() as session:
        query = text("SELECT COUNT(*) FROM holds WHERE event_id = :event AND status = 'active'")
        return int(session.execute(query, {"event": venue.event_id}).scalar_one())


def counted(server: MeasuredServer, query: str, event_id: str) -> int:
    """The one number that a query about an event returns."""
    with server.runtime() as runtime, runtime.parts.database.reading() as session:
        return int(session.execute(text(query), {"event": event_id}).scalar_one())


def zones(server: MeasuredServer, venue: RowsVenue) -> dict[str, str]:
    """The ids of the zones of the event's layout, by name."""
    query = text(
        "SELECT z.name, z.id FROM layout_zones z JOIN event_layouts e ON e.layout_id = z.layout_id "
        "WHERE e.event_id = :event"
    )
    with server.runtime() as runtime, runtime.parts.database.reading() as session:
        return {name: str(id) for name, id in session.execute(query, {"event": venue.event_id})}
