"""Whether the machine's system may be updated now, or an event is near."""

from __future__ import annotations

from typing import Final

from gate_app.clock.time_format import iso
from gate_app.clock.time_keeper import TimeKeeper
from gate_app.gate_context import HostEnvironment
from gate_app.installation.home import Home
from gate_app.reading_home import ReadOnlyStore, journal, open_snapshots
from shared.errors import NotFound
from shared.lifecycle import OVER
from shared.wire.rows import EventRow

BEFORE_MS: Final = 24 * 3_600_000
AFTER_MS: Final = 6 * 3_600_000


def reason_to_wait(home: Home, host: HostEnvironment) -> str:
    """Which event is near; empty if none is, or if this is no gate yet. Raises StorageError."""
    try:
        with journal(home) as connection:
            moment = TimeKeeper(ReadOnlyStore(connection), host.wall, host.monotonic, host.boot).now()
            snapshots, _ = open_snapshots(connection, home)
            try:
                events = [snapshot.rows.event for snapshot in snapshots.values()]
            finally:
                for snapshot in snapshots.values():
                    snapshot.close()
    except NotFound:
        return ""
    near = [event for event in events if event is not None and _is_near(event, moment.at)]
    return f"{near[0].name} is near: it starts at {iso(near[0].starts_at)}." if near else ""


def _is_near(event: EventRow, now: int) -> bool:
    return event.status not in OVER and event.starts_at - BEFORE_MS <= now <= event.ends_at + AFTER_MS
