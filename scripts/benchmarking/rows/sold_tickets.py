"""Fills a measured server with tickets: as gate rows only, or issued for real with codes to scan."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from scripts.benchmarking.gates.loaded_event import LoadedEvent
from scripts.benchmarking.servers.measured_server import MeasuredServer
from shared.clock import wall_clock
from shared.wire.snapshot import TicketRow
from sync_server.events import service as events
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from sync_server.revisions import service as revisions
from sync_server.tickets import schemas
from sync_server.tickets import service as tickets
from sync_server.tickets.keys import codes
from sync_server.tickets.types import type_service

BATCH = 5_000
VOWELS, CONSONANTS = "aeiou", "bdfghjklmnprstvz"


def put_tickets(server: MeasuredServer, count: int, *, named: bool = False) -> None:
    """Put so many gate rows with realistically random ids, codes and seats; `named` adds guest names."""
    rows = _rows(count, named=named)
    with server.runtime() as runtime:
        while batch := [row for _, row in zip(range(BATCH), rows, strict=False)]:
            with runtime.parts.database.writing() as session:
                revisions.put(session, server.event_key, batch)


def issue_tickets(server: MeasuredServer, count: int) -> list[str]:
    """Issue so many tickets as an organiser does; return their codes."""
    organisation, event = server.demo["organisation"]["id"], server.demo["event"]["id"]
    issued_codes: list[str] = []
    with server.runtime() as runtime:
        database, context = runtime.parts.database, ActionContext(SYSTEM, wall_clock(), os.urandom)
        with database.writing() as session:
            events.change_event(session, organisation, event, {"capacity": 0}, context)
            new_type = schemas.NewTicketType(name="Measured", price_cents=2_500, quantity=1_000_000)
            kind = type_service.create_type(session, organisation, event, new_type.model_dump(), context).number
        for start in range(0, count, BATCH):
            ticket_request = tickets.IssueRequest(kind, count=min(BATCH, count - start))
            with database.writing() as session:
                issued = tickets.issue(session, organisation, event, ticket_request, context)
                issued_codes += codes.code_texts(session, list(issued), runtime.parts.sealer)
    return issued_codes


def _rows(count: int, *, named: bool) -> Iterator[TicketRow]:
    random_source = random.Random(3)
    for row in LoadedEvent.of(count).tickets():
        yield replace(row, name=_name(random_source)) if named else row


def _name(random_source: random.Random) -> str:
    """Two invented words: as hard to compress as real names."""
    return f"{_word(random_source, 2)} {_word(random_source, 3)}"


def _word(random_source: random.Random, syllables: int) -> str:
    return "".join(random_source.choice(CONSONANTS) + random_source.choice(VOWELS) for _ in range(syllables)).title()


def shares(items: Sequence[str], parts: int) -> list[Sequence[str]]:
    """Deal the items out into so many shares."""
    return [items[start::parts] for start in range(parts)]
