"""An event on sale in a plain house of straight rows on a measured server, and guests who came in already."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from ipaddress import IPv6Address
from typing import Final

import psycopg
from sqlalchemy import text

from scripts.measuring.bare_hold import TABLES
from scripts.measuring.measured_server import MeasuredServer
from shared.clock import wall_clock
from shared.lifecycle import EventStatus
from sync_server.customers import cookies
from sync_server.customers import service as customers
from sync_server.events import schemas as event_shapes
from sync_server.events import service as events
from sync_server.events import status
from sync_server.plumbing.principals import SYSTEM, Deed
from sync_server.seating import event_layouts
from sync_server.seating import service as seating
from sync_server.seating.event_layouts import Chosen
from sync_server.seating.plan import LayoutPlan, SeatPlan, ZonePlan, ZoneType
from sync_server.venues import schemas as venue_shapes
from sync_server.venues import service as venues

HOUR: Final = 3_600_000
WIDTH: Final = 20
_KEYS: Final = (
    "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = %s::regclass AND contype = 'f'"
)
SOLD_OF_A_ROW: Final = 18
"""From the left, so that nobody ever leaves a single seat: the house keeps its good manners while it is measured."""


@dataclass(frozen=True, slots=True)
class RowsHouse:
    """The event, and its seats in the order in which they are taken."""

    organisation_id: str
    event_id: str
    seats: tuple[tuple[str, int], ...]  # id and number


@dataclass(frozen=True, slots=True)
class Guest:
    """Somebody's cookie and token."""

    id: str
    headers: dict[str, str]


def found(server: MeasuredServer, seats: int) -> RowsHouse:
    """Through the server's own rooms."""
    organisation = server.made["organisation"]["id"]
    with server.ground() as ground, ground.parts.database.writing() as session:
        act = Deed(SYSTEM, wall_clock(), os.urandom)
        shape = venue_shapes.NewVenue(
            name="Rows", timezone="Europe/Berlin", city="Hamburg", country="DE", address="Reihenweg 1"
        )
        venue = venues.create_venue(session, organisation, shape.model_dump(), act)
        plan = seating.drawn(_plan(-(-seats // SOLD_OF_A_ROW)))
        layout = seating.create_layout(session, organisation, venue.id, plan, act)
        seating.activate(session, organisation, venue.id, layout.id, act)
        wanted = event_shapes.NewEvent(
            venue_id=venue.id,
            name="Rush",
            description="Everybody at once.",
            start_at=act.now + 48 * HOUR,
            end_at=act.now + 54 * HOUR,
            capacity=0,
        )
        event = events.create_event(session, organisation, wanted.model_dump(), act)
        event_layouts.choose(session, organisation, event.id, Chosen(layout.id), act)
        status.walk(session, organisation, event.id, EventStatus.PUBLISHED, act)
        query = text("SELECT id, number FROM layout_seats WHERE layout_id = :layout AND place < :last ORDER BY number")
        rows = session.execute(query, {"layout": layout.id, "last": SOLD_OF_A_ROW}).all()
        return RowsHouse(organisation, event.id, tuple((id, number) for id, number in rows))


def _plan(rows: int) -> LayoutPlan:
    seats = tuple(
        SeatPlan(seat_id=f"{row}-{place}", row=str(row), number=str(place), x=float(place), y=float(row))
        for row in range(1, rows + 1)
        for place in range(1, WIDTH + 1)
    )
    zone = ZonePlan("Stalls", ZoneType.RESERVED_SEATING, len(seats), focus=(10.0, -5.0), seats=seats)
    return LayoutPlan("Rows", (zone,))


def let_in(server: MeasuredServer, house: RowsHouse, count: int) -> list[Guest]:
    """So many guests, as if each had come by the shop's door, and from an address of their own."""
    with server.ground() as ground, ground.parts.database.writing() as session:
        deed = Deed(SYSTEM, wall_clock(), os.urandom)
        addresses = (replace(deed, actor=replace(SYSTEM, ip=str(IPv6Address(turn)))) for turn in range(count))
        cards = [customers.let_in(session, house.organisation_id, here, lasts_ms=HOUR, allowed=1) for here in addresses]
        name = f"gatehouse_guest_{server.made['organisation']['slug'].replace('-', '_')}"
        sealer = ground.parts.sealer
        return [
            Guest(card.guest_id, {"Cookie": f"{name}={cookies.written(card, sealer)}", "X_CSRF_Token": card.csrf})
            for card in cards
        ]


def copy_tables(database_url: str) -> None:
    """Tables of the yardstick: those of the product, empty and under other names."""
    if database_url.startswith("sqlite"):
        with sqlite3.connect(database_url.removeprefix("sqlite:///")) as line:
            for words in list(_copies(line)):
                line.execute(words)
        return
    with psycopg.connect(database_url, autocommit=True) as server:
        for table in TABLES:
            server.execute(f"CREATE TABLE bare_{table} (LIKE {table} INCLUDING ALL)".encode())
            # Foreign keys are not among what is copied so, and cost both of us the same.
            for name, words in server.execute(_KEYS, (table,)).fetchall():
                server.execute(f"ALTER TABLE bare_{table} ADD CONSTRAINT bare_{name} {words}".encode())


def _copies(line: sqlite3.Connection) -> Iterator[str]:
    for table in TABLES:
        query = "SELECT type, name, sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL AND type <> 'trigger'"
        for kind, name, words in line.execute(query, (table,)).fetchall():
            copy = words.replace(f"TABLE {table}", f"TABLE bare_{table}").replace(f"ON {table} ", f"ON bare_{table} ")
            copy = copy.replace(f'TABLE "{table}"', f"TABLE bare_{table}").replace(
                f'ON "{table}" ', f"ON bare_{table} "
            )
            yield copy.replace(f"INDEX {name}", f"INDEX bare_{name}") if kind == "index" else copy


def oversold(server: MeasuredServer, house: RowsHouse) -> int:
    """How many seats have more than one owner, or a hold that is not the seat's: as the tables say."""
    queries = (
        "SELECT COUNT(*) FROM (SELECT seat FROM holds WHERE event_id = :event AND status = 'active' "
        "GROUP BY seat HAVING COUNT(*) > 1) AS doubled",
        "SELECT COUNT(*) FROM holds h LEFT JOIN event_seats s ON s.event_id = h.event_id AND s.seat = h.seat "
        "WHERE h.event_id = :event AND h.status = 'active' AND (s.hold_id IS NULL OR s.hold_id <> h.id)",
    )
    with server.ground() as ground, ground.parts.database.reading() as session:
        return sum(session.execute(text(query), {"event": house.event_id}).scalar_one() for query in queries)


def held(server: MeasuredServer, house: RowsHouse) -> int:
    """How many holds there are."""
    with server.ground() as ground, ground.parts.database.reading() as session:
        query = text("SELECT COUNT(*) FROM holds WHERE event_id = :event AND status = 'active'")
        return int(session.execute(query, {"event": house.event_id}).scalar_one())
