"""A desk with much behind it: many orders with their lines, tickets and money, many events, and many devices.

One order is sold as at the box office; its rows are then copied, with names, times and places of their own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Final
from uuid import UUID

from flask.testing import FlaskClient

from scripts.benchmarking.rows.bulk_rows import Row, copy_rows, stored_rows
from scripts.benchmarking.servers.measured_server import MeasuredServer, analyse
from shared.clock import wall_clock
from shared.ids import uuid7
from sync_server.app import web_app
from sync_server.checkout.filing import filed, words
from sync_server.plumbing.database import Database
from sync_server.plumbing.jobs import MORE
from sync_server.plumbing.language.folding import fold
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from sync_server.runtime import ServerRuntime

DAY_MS: Final = 86_400_000
PIECE: Final = 20_000
SOLD_MS: Final = 90 * DAY_MS
"""For how long all this was sold, evenly."""
TICKET: Final = 20_000_000
NAMES: Final = ("Ada", "Björn", "Chidi", "Dana", "Émile", "Fatma", "Goran", "Hana", "Ines", "Jonas", "Kira", "Olga")
_BEGINNINGS: Final = ("Al", "Ber", "Cor", "Dor", "El", "Fal", "Gar", "Hol", "Ist", "Jan")
_ENDINGS: Final = ("berg", "dahl", "feld", "gård", "hoff", "kamp", "land", "mann", "quist", "winter")
SURNAMES: Final = tuple(beginning + ending for beginning in _BEGINNINGS for ending in _ENDINGS)


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
    now, dice, database = wall_clock(), Random(7), runtime.parts.database
    patterns = rows_of_order(database, order)
    pattern = stored_rows(database, "events", "id", event)[0]
    events = [_event(pattern, at, now) for at in range(size.events - 1)]
    copy_rows(database, "events", events)
    device = stored_rows(database, "devices")[0]
    copy_rows(database, "devices", [_device(device, at) for at in range(size.devices - 1)])
    ids = [event, *(row["id"] for row in events)]
    where = [event] * size.at_one_event + dice.choices(ids, k=size.orders - 1 - size.at_one_event)
    dice.shuffle(where)
    first, step = now - SOLD_MS, SOLD_MS // size.orders
    for start in range(0, len(where), PIECE):
        piece = range(start, min(start + PIECE, len(where)))
        made = [another_order(patterns, at, where[at], first + at * step, dice) for at in piece]
        for table in patterns:
            copy_rows(database, table, (row for rows in made for row in rows[table]))
    while _file(runtime, now) is MORE:
        pass


def _file(runtime: ServerRuntime, now: int) -> object:
    """File some of the orders, as the worker does."""
    with runtime.parts.database.writing() as session:
        return filed.job().run(session, ActionContext(SYSTEM, now, os.urandom))


def rows_of_order(database: Database, order: str) -> dict[str, list[Row]]:
    """The rows of an order, by table."""
    found = {name: stored_rows(database, name, "order_id", order) for name in ("order_lines", "money_movements")}
    return {"orders": stored_rows(database, "orders", "id", order), **found, "tickets": _tickets(database, order)}


def _tickets(database: Database, order: str) -> list[Row]:
    ids = [line["ticket_id"] for line in stored_rows(database, "order_lines", "order_id", order)]
    return [row for ticket in ids for row in stored_rows(database, "tickets", "id", ticket)]


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


def another_order(
    patterns: Mapping[str, list[Row]], at: int, event: str, made: int, dice: Random
) -> dict[str, list[Row]]:
    """The rows of an order that was made then, with two tickets."""
    id, number = uuid7(made, os.urandom), f"D{at % 997}-{at}"
    name = f"{dice.choice(NAMES)} {dice.choice(SURNAMES)}"
    email = f"{fold(name).replace(' ', '.')}{at}@example.org"
    buyer = {"buyer_name": name, "buyer_email": email, "search_text": words.text_of(number, name, email)}
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
