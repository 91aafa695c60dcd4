"""Builds the status of this gate for people, screens and scripts, also from beside the running process."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gate_app.clock.time_format import iso
from gate_app.clock.time_keeper import Moment
from gate_app.installation.assignments import EventAssignment, stands_at
from gate_app.installation.identity import Identity
from gate_app.journal import forks
from gate_app.journal.reading import SHOWN, entries_in, last_seq
from gate_app.journal.scrubber import DAMAGE
from gate_app.snapshots.roster import EventSnapshot
from gate_app.storage.database import get_int, get_value
from gate_app.words import listed, say
from shared.admission import Readiness
from shared.lifecycle import OVER, EventStatus
from shared.wire.protocol import Assignment
from shared.wire.snapshot import DeviceRow

MEMORY_LOST = "forgotten"
NOBODY = 0
"""The device number of a machine that is not enrolled: no server ever asks for what it recorded."""
MEMORY_LOST_MESSAGE = say("trouble.memory_lost")
ONLINE_FOR_MS = 90_000
"""Seen from another process, a gate that synced this recently counts as online."""


@dataclass(frozen=True, slots=True)
class StatusSource:
    """Everything a status is built from, for the running gate and for a process beside it."""

    folder: Path
    least_free_mb: int
    identity: Identity | None
    assignments: dict[int, EventAssignment]
    snapshots: dict[int, EventSnapshot]
    connection: sqlite3.Connection
    moment: Moment
    readiness: Readiness
    inside: Callable[[EventSnapshot], int]
    online: bool | None = None
    revoked: bool = False
    messages: tuple[str, ...] = ()
    held_by: str = ""
    gate: str = ""  # the code of the gate that the operator has chosen
    unsent: int | None = None  # as the process that sends knows it
    peers: tuple[dict[str, Any], ...] = ()
    training: bool = False


def status(source: StatusSource) -> dict[str, Any]:
    """What `status --json` prints and screens show."""
    journal = journal_status(source.connection, source.identity.device_number if source.identity else 0)
    if source.unsent is not None:
        journal["unsent"] = source.unsent
    last = journal.pop("last_sync")
    recently = bool(journal.pop("told_online")) and last is not None and source.moment.at - last < ONLINE_FOR_MS
    disk = disk_status(source.folder, source.least_free_mb)
    events = [
        event_status(assignment, source.snapshots.get(number), source.gate, source.inside)
        for number, assignment in source.assignments.items()
    ]
    first = events[0] if events else {}
    why = source.readiness.why or _nothing_on(events)
    return {
        **_identity_fields(source.identity),
        "ready": source.readiness.ready and source.readiness.can_record and not why,
        "not_ready": why or None,
        "online": recently if source.online is None else source.online,
        "revoked": source.revoked,
        "memory_lost": memory_is_lost(source.connection),
        **journal,
        "last_sync": iso(last) if last else None,
        "snapshot_age_s": age_s(oldest(source.snapshots), source.moment.at),
        "revision": max((snapshot.position.revision for snapshot in source.snapshots.values()), default=None),
        "clock": clock_status(source.moment),
        "peers": list(source.peers),
        "devices": _devices(source.snapshots),
        "disk": disk,
        "events": events,
        "event": first.get("name"),
        "timezone": first.get("timezone", ""),
        **{name: first.get(name) for name in ("gate", "direction", "mode", "inside")},
        **({"mode": "test"} if source.training else {}),
        "held_by": source.held_by,
        "warnings": _warnings(source, disk, (journal["fork_words"], journal["branch_words"]), events),
    }


def unposted(assignments: dict[int, EventAssignment], snapshots: dict[int, EventSnapshot], chosen: str) -> str:
    """Why this device can let nobody in at any of its events that are not over: it stands at no gate of them."""
    held = [(assignment, snapshots[event].rows) for event, assignment in assignments.items() if event in snapshots]
    coming = [(assignment, rows) for assignment, rows in held if rows.event is None or rows.event.status not in OVER]
    missing = [stands_at(assignment, rows.gates, chosen)[1] for assignment, rows in coming or held]
    return missing[0] if all(missing) and missing else ""


def oldest(snapshots: dict[int, EventSnapshot]) -> int | None:
    """The time of the oldest snapshot, which decides how old this gate's knowledge is."""
    return min((snapshot.as_of for snapshot in snapshots.values()), default=None)


def _identity_fields(identity: Identity | None) -> dict[str, Any]:
    return {
        "enrolled": identity is not None,
        "device_id": identity.device_id if identity else None,
        "device": identity.device_number if identity else None,
        "organisation": identity.organisation_name if identity else None,
        "server": identity.server if identity else None,
    }


def _devices(snapshots: dict[int, EventSnapshot]) -> list[dict[str, Any]]:
    named: dict[int, DeviceRow] = {
        row.number: row for snapshot in snapshots.values() for row in snapshot.rows.devices.values()
    }
    return [{"device": row.number, "name": row.name, "revoked": row.revoked} for row in named.values()]


def _warnings(
    source: StatusSource, disk: dict[str, Any], journal: tuple[str, ...], events: list[dict[str, Any]]
) -> list[str]:
    """What the operator must know without asking, each message once."""
    low = say("trouble.disk_low", free=disk["free_mb"])
    forgotten = MEMORY_LOST_MESSAGE if memory_is_lost(source.connection) else ""
    unready = source.readiness.why
    found = (
        forgotten,
        *source.messages,
        low if disk["low"] else "",
        *journal,
        damage_message(source.connection),
        unready,
        _nothing_on(events),
        *(event.get("no_gate") or "" for event in events if event.get("status") not in OVER),
    )
    return list(dict.fromkeys(message for message in found if message))


def _nothing_on(events: list[dict[str, Any]]) -> str:
    """What to say where every event of this gate was cancelled: nobody will be let in; empty if one takes place."""
    cancelled = [str(event["name"]) for event in events if event.get("status") == EventStatus.CANCELLED]
    if not events or len(cancelled) != len(events):
        return ""
    return say("trouble.all_cancelled", events=listed(cancelled, "and"))


def memory_is_lost(connection: sqlite3.Connection) -> bool:
    """Whether this gate's own history is lost and has not been replaced from the server yet."""
    return bool(get_int(connection, MEMORY_LOST))


def damage_message(connection: sqlite3.Connection) -> str:
    """What the last check of the whole journal found; empty if it was sound."""
    message = get_value(connection, DAMAGE)
    return message if isinstance(message, str) else ""


def journal_status(connection: sqlite3.Connection, device: int) -> dict[str, Any]:
    """Unsent and quarantined entries, conflicts, damage, and the last contact with the server."""
    branches = connection.execute("SELECT local, device, branch, acknowledged FROM branches ORDER BY local").fetchall()
    unsent, stranded = 0, 0
    for local, owner, _, acknowledged in branches:
        lacking = max(0, last_seq(connection, local) - acknowledged)
        if owner == device:
            unsent += lacking
        elif owner != NOBODY:
            stranded += lacking
    (quarantined,) = connection.execute("SELECT count(*) FROM quarantined").fetchone()
    (clashes,) = connection.execute("SELECT count(*) FROM clashes").fetchone()
    return {
        "unsent": unsent,
        "stranded": stranded,
        "quarantined": quarantined,
        "conflicts": clashes + get_int(connection, forks.FORKS),
        "branches": len(branches),
        "branch": branches[-1][2] if branches else None,
        "seq": last_seq(connection, branches[-1][0]) if branches else 0,
        "damage": damage_message(connection),
        "branch_words": get_value(connection, "branch_words") or "",
        "fork_words": forks.message(connection, branches[-1][2] if branches else 0),
        "last_sync": get_int(connection, "last_sync") or None,
        "told_online": get_int(connection, "online"),
    }


def clock_status(moment: Moment) -> dict[str, Any]:
    """The gate's time, its uncertainty, and how far the wall clock is off."""
    return {
        "now": iso(moment.at),
        "offset_ms": moment.offset,
        "uncertainty_ms": moment.uncertainty,
        "source": str(moment.source),
    }


def disk_status(folder: Path, least_free_mb: int) -> dict[str, Any]:
    """Free and total disk space, and whether it is running low."""
    usage = shutil.disk_usage(folder)
    free_mb = usage.free // 1_000_000
    return {"free_mb": free_mb, "total_mb": usage.total // 1_000_000, "low": free_mb < least_free_mb}


def assigned_event(assignment: Assignment | EventAssignment) -> dict[str, Any]:
    """An event as this gate was assigned to it: what `enrol` prints, and `status` begins with."""
    return {
        "event": assignment.event,
        "event_id": assignment.event_id,
        "name": assignment.name,
        "gate": assignment.gate_code or None,
        "direction": assignment.direction,
        "mode": assignment.mode,
    }


def event_status(
    assignment: EventAssignment, snapshot: EventSnapshot | None, chosen: str, inside: Callable[[EventSnapshot], int]
) -> dict[str, Any]:
    """One assigned event, where this device stands at it, and the snapshot this gate has of it."""
    result: dict[str, Any] = assigned_event(assignment) | {"revision": None}
    if snapshot is not None:
        gate, missing = stands_at(assignment, snapshot.rows.gates, chosen)
        result |= {
            "gate": gate.code if gate else None,
            "no_gate": missing or None,
            "revision": snapshot.position.revision,
            "digest": snapshot.position.digest.hex(),
            "as_of": iso(snapshot.as_of),
            "tickets": snapshot.tickets_held(),
            "status": snapshot.rows.event.status if snapshot.rows.event else None,
            "timezone": snapshot.rows.event.timezone if snapshot.rows.event else "",
            "inside": inside(snapshot),
        }
    return result


def age_s(as_of: int | None, now: int) -> float | None:
    """Seconds since the server last confirmed the rows; None if there are none."""
    return None if as_of is None else max(0, now - as_of) / 1000


def admitted_and_refused(connection: sqlite3.Connection) -> tuple[int, int]:
    """How many were admitted and refused. It reads the whole journal, so only once, when a screen starts."""
    admitted = refused = 0
    for entry in entries_in(connection):
        if entry.kind in SHOWN and entry.mode == "real":
            admitted, refused = (admitted + 1, refused) if entry.admitted else (admitted, refused + 1)
    return admitted, refused
