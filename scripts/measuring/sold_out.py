"""Fills a measured server with tickets: as rows that gates will hold, or issued for real with codes to show."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from scripts.measuring.evening import Evening
from scripts.measuring.measured_server import MeasuredServer
from shared.clock import wall_clock
from shared.snapshot import TicketRow
from sync_server.events import service as events
from sync_server.plumbing.principals import SYSTEM, Deed
from sync_server.revisions import service as revisions
from sync_server.tickets import codes, schemas, types
from sync_server.tickets import service as tickets

AT_ONCE = 5_000
VOWELS, CONSONANTS = "aeiou", "bdfghjklmnprstvz"


def put_tickets(server: MeasuredServer, count: int, *, named: bool = False) -> None:
    """So many rows, their ids, confirmation codes and seats as random as in life; `named` where names are checked."""
    rows = _rows(count, named=named)
    with server.ground() as ground:
        while batch := [row for _, row in zip(range(AT_ONCE), rows, strict=False)]:
            with ground.parts.database.writing() as session:
                revisions.put(session, server.event, batch)


def issue_tickets(server: MeasuredServer, count: int) -> list[str]:
    """Issues so many tickets as an organiser does, and answers their codes."""
    organisation, event = server.made["organisation"]["id"], server.made["event"]["id"]
    printed: list[str] = []
    with server.ground() as ground:
        database, deed = ground.parts.database, Deed(SYSTEM, wall_clock(), os.urandom)
        with database.writing() as session:
            events.change_event(session, organisation, event, {"capacity": 0}, deed)
            shape = schemas.NewTicketType(name="Measured", price_cents=2_500, quantity=1_000_000)
            kind = types.create_type(session, organisation, event, shape.model_dump(), deed).number
        for start in range(0, count, AT_ONCE):
            wish = tickets.Wish(kind, count=min(AT_ONCE, count - start))
            with database.writing() as session:
                made = tickets.issue(session, organisation, event, wish, deed)
                printed += codes.texts_of(session, list(made), ground.parts.sealer)
    return printed


def _rows(count: int, *, named: bool) -> Iterator[TicketRow]:
    chance = random.Random(3)
    for row in Evening.of(count).tickets():
        yield replace(row, name=_name(chance)) if named else row


def _name(chance: random.Random) -> str:
    """Two words that no dictionary has: as hard to compress as the names of a whole town."""
    return f"{_word(chance, 2)} {_word(chance, 3)}"


def _word(chance: random.Random, syllables: int) -> str:
    return "".join(chance.choice(CONSONANTS) + chance.choice(VOWELS) for _ in range(syllables)).title()


def shares(things: Sequence[str], parts: int) -> list[Sequence[str]]:
    """The things dealt out to so many hands."""
    return [things[start::parts] for start in range(parts)]
