"""How this gate is doing, for people, screens and scripts: also read beside the process that works."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gate_app.clockface import iso
from gate_app.database import get_mark, int_mark
from gate_app.identity import Identity
from gate_app.journal import FORKS
from gate_app.journal_reading import SHOWN, entries_in, last_seq
from gate_app.patrol import DAMAGE
from gate_app.posting import Post
from gate_app.roster import Book
from gate_app.time_keeper import Moment
from shared.admission import Readiness
from shared.snapshot import DeviceRow

FORGOTTEN = "forgotten"
FORGOTTEN_WORDS = (
    "This gate has lost its memory of who came in: tickets that were used already may pass once more until it has"
    " synced. Connect it to the server, or let another gate do the work."
)
ONLINE_FOR_MS = 90_000
"""Beside the process that works, a sync so recent counts as being online."""


@dataclass(frozen=True, slots=True)
class View:
    """What a status is made from, whoever holds the home."""

    folder: Path
    least_free_mb: int
    identity: Identity | None
    posts: dict[int, Post]
    books: dict[int, Book]
    connection: sqlite3.Connection
    moment: Moment
    readiness: Readiness
    inside: Callable[[Book], int]
    online: bool | None = None
    revoked: bool = False
    words: tuple[str, ...] = ()
    held_by: str = ""
    peers: tuple[dict[str, Any], ...] = ()


def status(view: View) -> dict[str, Any]:
    """What `status --json` prints, and screens are told."""
    journal = journal_status(view.connection, view.identity.device_number if view.identity else 0)
    last = journal.pop("last_sync")
    recently = bool(journal.pop("told_online")) and last is not None and view.moment.at - last < ONLINE_FOR_MS
    disk = disk_status(view.folder, view.least_free_mb)
    events = [event_status(post, view.books.get(number), view.inside) for number, post in view.posts.items()]
    first = events[0] if events else {}
    return {
        **_who(view.identity),
        "ready": view.readiness.ready and view.readiness.can_record,
        "online": recently if view.online is None else view.online,
        "revoked": view.revoked,
        "memory_lost": has_forgotten(view.connection),
        **journal,
        "last_sync": iso(last) if last else None,
        "snapshot_age_s": age_s(oldest(view.books), view.moment.at),
        "revision": max((book.position.revision for book in view.books.values()), default=None),
        "clock": clock_status(view.moment),
        "peers": list(view.peers),
        "devices": _devices(view.books),
        "disk": disk,
        "events": events,
        "event": first.get("name"),
        "timezone": first.get("timezone", ""),
        **{name: first.get(name) for name in ("gate", "direction", "mode", "inside")},
        "held_by": view.held_by,
        "warnings": _warnings(view, disk, str(journal["branch_words"])),
    }


def oldest(books: dict[int, Book]) -> int | None:
    """The stalest page decides how old this gate's knowledge is."""
    return min((book.as_of for book in books.values()), default=None)


def _who(identity: Identity | None) -> dict[str, Any]:
    return {
        "enrolled": identity is not None,
        "device_id": identity.device_id if identity else None,
        "device": identity.device_number if identity else None,
        "organisation": identity.organisation_name if identity else None,
        "server": identity.server if identity else None,
    }


def _devices(books: dict[int, Book]) -> list[dict[str, Any]]:
    named: dict[int, DeviceRow] = {row.number: row for book in books.values() for row in book.facts.devices.values()}
    return [{"device": row.number, "name": row.name, "revoked": row.revoked} for row in named.values()]


def _warnings(view: View, disk: dict[str, Any], branch_words: str) -> list[str]:
    """What an operator should hear of without asking, each once."""
    low = f"Only {disk['free_mb']} MB are free on the disk. Free some space, or scans can soon not be recorded."
    forgotten = FORGOTTEN_WORDS if has_forgotten(view.connection) else ""
    unready = "" if view.readiness.ready else view.readiness.why
    found = (forgotten, *view.words, low if disk["low"] else "", branch_words, damage_words(view.connection), unready)
    return list(dict.fromkeys(words for words in found if words))


def has_forgotten(connection: sqlite3.Connection) -> bool:
    """Whether this gate's own history is gone, and the server's words have not taken its place yet."""
    return bool(int_mark(connection, FORGOTTEN))


def damage_words(connection: sqlite3.Connection) -> str:
    """What the last look through the whole journal found, empty when all was well."""
    words = get_mark(connection, DAMAGE)
    return words if isinstance(words, str) else ""


def journal_status(connection: sqlite3.Connection, device: int) -> dict[str, Any]:
    """What the server lacks, what it keeps apart, and since when there was contact."""
    branches = connection.execute("SELECT local, device, branch, acknowledged FROM branches ORDER BY local").fetchall()
    unsent, stranded = 0, 0
    for local, owner, _, acknowledged in branches:
        lacking = max(0, last_seq(connection, local) - acknowledged)
        unsent, stranded = (unsent + lacking, stranded) if owner == device else (unsent, stranded + lacking)
    (quarantined,) = connection.execute("SELECT count(*) FROM quarantined").fetchone()
    (clashes,) = connection.execute("SELECT count(*) FROM clashes").fetchone()
    return {
        "unsent": unsent,
        "stranded": stranded,
        "quarantined": quarantined,
        "conflicts": clashes + int_mark(connection, FORKS),
        "branches": len(branches),
        "branch": branches[-1][2] if branches else None,
        "seq": last_seq(connection, branches[-1][0]) if branches else 0,
        "damage": damage_words(connection),
        "branch_words": get_mark(connection, "branch_words") or "",
        "last_sync": int_mark(connection, "last_sync") or None,
        "told_online": int_mark(connection, "online"),
    }


def clock_status(moment: Moment) -> dict[str, Any]:
    """What the gate believes the time to be, and how far the wall clock is off."""
    return {
        "now": iso(moment.at),
        "offset_ms": moment.offset,
        "uncertainty_ms": moment.uncertainty,
        "source": str(moment.source),
    }


def disk_status(folder: Path, least_free_mb: int) -> dict[str, Any]:
    """Whether the journal will go on fitting."""
    usage = shutil.disk_usage(folder)
    free_mb = usage.free // 1_000_000
    return {"free_mb": free_mb, "total_mb": usage.total // 1_000_000, "low": free_mb < least_free_mb}


def event_status(post: Post, book: Book | None, inside: Callable[[Book], int]) -> dict[str, Any]:
    """One assigned event, and what is held of it."""
    told: dict[str, Any] = {
        "event": post.event,
        "event_id": post.event_id,
        "name": post.name,
        "gate": post.gate_code or None,
        "direction": post.direction,
        "mode": post.mode,
        "revision": None,
    }
    if book is not None:
        told |= {
            "revision": book.position.revision,
            "digest": book.position.digest.hex(),
            "as_of": iso(book.as_of),
            "tickets": book.tickets_held(),
            "status": book.facts.event.status if book.facts.event else None,
            "timezone": book.facts.event.timezone if book.facts.event else "",
            "inside": inside(book),
        }
    return told


def age_s(as_of: int | None, now: int) -> float | None:
    """Seconds since the server vouched for the rows; None where there are none."""
    return None if as_of is None else max(0, now - as_of) / 1000


def admitted_and_refused(connection: sqlite3.Connection) -> tuple[int, int]:
    """Not told by any index: counted once, when a screen starts."""
    admitted = refused = 0
    for entry in entries_in(connection):
        if entry.kind in SHOWN and entry.mode == "real":
            admitted, refused = (admitted + 1, refused) if entry.admitted else (admitted, refused + 1)
    return admitted, refused
