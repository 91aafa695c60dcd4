"""Opens the printer of a running gate, and starts the thread that prints."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from gate_app.badges.queue import BadgeQueue, Report
from gate_app.badges.records import Records
from gate_app.clock.time_keeper import TimeKeeper
from gate_app.installation.config import PrinterSettings
from gate_app.journal.journal import Journal
from gate_app.snapshots.roster import Roster
from hardware.ports import DeviceError, MonotonicNs
from hardware.printers.opening import open_printer
from shared.errors import SettingsError

LAST_PAGE_S = 3.0
"""How long a stopping gate waits for a page; what is not known then is asked of people at the next start."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What printing needs of a gate: where its records are, and whom it asks for tickets and time."""

    path: Path
    journal: Journal
    roster: Roster
    time_keeper: TimeKeeper
    monotonic_ns: MonotonicNs


def open_badges(
    settings: PrinterSettings | None,
    gate: Parts,
    report: Report,
    stop: threading.Event,
    cleanup: ExitStack,
) -> BadgeQueue | None:
    """The queue to the printer in the settings; None without one. Raises SettingsError for impossible settings.

    A printer that is off is no mistake: the gate admits without it, and says so until it is there.
    """
    if settings is None:
        return None
    try:
        printer = open_printer(settings.options, gate.monotonic_ns, stop)
        records = Records(gate.path)
    except DeviceError as why:
        raise SettingsError(str(why)) from why
    except sqlite3.Error as why:
        # A card that cannot be written keeps nobody from telling so: the gate opens, and prints nothing.
        report(settings.name, f"{gate.path.name} cannot be written ({why}). No badges are printed.")
        return None
    queue = BadgeQueue(
        settings=settings,
        printer=printer,
        records=records,
        journal=gate.journal,
        roster=gate.roster,
        time_keeper=gate.time_keeper,
        report=report,
    )
    thread = threading.Thread(target=queue.run, args=(stop,), name="printer", daemon=True)
    cleanup.callback(_end, queue, thread, stop)
    thread.start()
    return queue


def _end(queue: BadgeQueue, thread: threading.Thread, stop: threading.Event) -> None:
    stop.set()
    queue.wake()
    thread.join(LAST_PAGE_S)
    if not thread.is_alive():
        queue.close()
