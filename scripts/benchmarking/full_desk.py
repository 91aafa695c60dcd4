"""A desk with much behind it: many orders with their lines, tickets and money, many events, and many devices.

One order is sold as at the box office; its rows are then copied, with names, times and places of their own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Final
from uuid import UUID

from flask.testing import FlaskClient
from sqlalchemy import Table, insert, select

from scripts.benchmarking.measured_server import MeasuredServer, analyse
from shared.clock import wall_clock
from shared.ids import uuid7
from sync_server.app import ServerRuntime, web_app
from sync_server.plumbing.folding import fold
from sync_server.plumbing.sql.tables import Base

DAY_MS: Final = 86_400_000
PIECE: Final = 4_000
TICKET: Final = 20_000_000
NAMES: Final = ("Ada", "Björn", "Chidi", "Dana", "Émile", "Fatma", "Goran", "Hana", "Ines", "Jonas", "Kira", "Olga")
_BEGINNINGS: Final = ("Al", "Ber", "Cor", "Dor", "El", "Fal", "Gar", "Hol", "Ist", "Jan")
_ENDINGS: Final = ("berg", "dahl", "feld", "gård", "hoff", "kamp", "land", "mann", "quist", "winter")
SURNAMES: Final = tuple(beginning + ending for beginning in _BEGINNINGS for ending in _ENDINGS)
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Size:
    """How much is behind the desk."""

    orders: int
    events: int
    devices: int
    at_one_event: int
    """Of the orders, those of one event."""


MANY: Final = Size(100_000, 1_000, 200, 20_000)
FEW: Final = Size(2_000, 50, 20, 400)


@dataclass(frozen=True, slots=True)
class FullDesk:
    """What its pages are about, by the names in their addresses, and who asks."""

    ids: dict[str, str]
    headers: dict[str, str]


def full_desk(server: MeasuredServer, runtime: ServerRuntime, size: Size) -> FullDesk:
    """Fill the demo organisation, and let the database count it."""
    client, headers = web_app(runtime).test_client(), {"Authorization": f"Bearer {server.demo['api_token']}"}
    event = server.demo["event"]["id"]
    order = _ask(client, headers, f"/api/events/{event}/sales", _SALE)["id"]
    codes = {"kind": "discount", "name": "Newsletter", "codes": 500, "percent": 15}
    _ask(client, headers, f"/api/events/{event}/code-batches", codes)
    client.put(f"/api/events/{event}/queue", json={}, headers=headers)
    client.put(f"/api/events/{event}/waiting-list", json={"open": True}, headers=headers)
    _fill(runtime, order, event, size)
    analyse(server)
    named = {"event_id": event, "order_id": order, "number": "1", "venue_id": server.demo["venue"]["id"]}
    return FullDesk(named | {"device_id": server.demo["device"]["id"]}, headers)


_SALE: Final = {
    "places": [{"ticket_type": 1, "count": 2}],
    "method": "cash",
    "buyer": {"name": "Ada Winter", "email": "ada@example.org"},
}


def _ask(client: FlaskClient, headers: Mapping[str, str], path: str, body: object) -> Any:
    answer = client.post(path, json=body, headers=dict(headers))
    if answer.status_code != 201:
        raise RuntimeError(f"{path}: {answer.status_code} {answer.get_data(as_text=True)[:300]}")
    return answer.json


def _fill(runtime: ServerRuntime, order: str, event: str, size: Size) -> None:
    now, dice = wall_clock(), Random(7)
    patterns = {
        "orders": _rows(runtime, "orders", "id", order),
        "order_lines": _rows(runtime, "order_lines", "order_id", order),
        "money_movements": _rows(runtime, "money_movements", "order_id", order),
        "tickets": _tickets(runtime, order),
    }
    events = [_event(_rows(runtime, "events", "id", event)[0], at, now) for at in range(size.events - 1)]
    _insert(runtime, "events", events)
    device = _rows(runtime, "devices")[0]
    _insert(runtime, "devices", (_device(device, at) for at in range(size.devices - 1)))
    ids = [event, *(row["id"] for row in events)]
    where = [event if at < size.at_one_event else dice.choice(ids) for at in range(size.orders - 1)]
    for start in range(0, len(where), PIECE):
        made = [_order(patterns, at, where[at], now, dice) for at in range(start, min(start + PIECE, len(where)))]
        for table in ("orders", "tickets", "order_lines", "money_movements"):
            _insert(runtime, table, (row for rows in made for row in rows[table]))


def _rows(runtime: ServerRuntime, name: str, column: str = "", value: str = "") -> list[Row]:
    table: Table = Base.metadata.tables[name]
    wanted = select(table) if not column else select(table).where(table.c[column] == value)
    with runtime.parts.database.reading() as session:
        return [dict(row) for row in session.execute(wanted.limit(10)).mappings()]


def _tickets(runtime: ServerRuntime, order: str) -> list[Row]:
    ids = [line["ticket_id"] for line in _rows(runtime, "order_lines", "order_id", order)]
    return [row for ticket in ids for row in _rows(runtime, "tickets", "id", ticket)]


def _insert(runtime: ServerRuntime, name: str, rows: Iterable[Row]) -> None:
    table, waiting = Base.metadata.tables[name], list(rows)
    for start in range(0, len(waiting), PIECE):
        with runtime.parts.database.writing() as session:
            session.execute(insert(table), waiting[start : start + PIECE])


def _event(pattern: Row, at: int, now: int) -> Row:
    """Forty to come, the others over, week after week."""
    start = now + (40 - at) * 3 * DAY_MS
    named = dict.fromkeys(("code", "slug", "dedupe_key"), f"desk-{at}")
    status = "published" if at < 38 else "ended"
    times = {"start_at": start, "end_at": start + DAY_MS // 8, "go_live_at": None, "end_at_auto": None}
    id = str(UUID(int=0x0189000D0000700080000000 << 32 | at))
    return pattern | named | times | {"id": id, "number": 2_000_000 + at, "name": f"Night {at}", "status": status}


def _device(pattern: Row, at: int) -> Row:
    id = str(UUID(int=0x0189000E0000700080000000 << 32 | at))
    return pattern | {"id": id, "number": 2_000_000 + at, "name": f"Lane {at}", "public_key": None, "enrolled_at": None}


def _order(patterns: Mapping[str, list[Row]], at: int, event: str, now: int, dice: Random) -> dict[str, list[Row]]:
    """An order of the last three months, with two tickets."""
    made = now - dice.randrange(90 * DAY_MS)
    id, number = uuid7(made, os.urandom), f"D{at % 997}-{at}"
    name = f"{dice.choice(NAMES)} {dice.choice(SURNAMES)}"
    email = f"{fold(name).replace(' ', '.')}{at}@example.org"
    buyer = {"buyer_name": name, "buyer_email": email, "search_text": fold(f"{number} {name} {email}")}
    times = {"created_at": made, "updated_at": made, "paid_at": made}
    tickets = [TICKET + 2 * at + place for place in range(2)]
    own: dict[str, Callable[[int], Row]] = {
        "orders": lambda _: {"id": id, "event_id": event, "number": number} | buyer | times,
        "order_lines": lambda place: {"order_id": id, "ticket_id": tickets[place]},
        "money_movements": lambda _: {"order_id": id, "at": made},
        "tickets": lambda place: _ticket(event, tickets[place]),
    }
    return {table: [row | own[table](place) for place, row in enumerate(rows)] for table, rows in patterns.items()}


def _ticket(event: str, id: int) -> Row:
    return {"id": id, "event_id": event, "sequence": id, "number": f"N-{id}", "confirmation_code": f"{id:08d}"}
