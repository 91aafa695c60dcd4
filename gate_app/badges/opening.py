"""Opens the printer of a running gate, and starts the thread that prints."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING

from gate_app.badges.queue import BadgeQueue, Report
from gate_app.badges.records import Records
from hardware.ports import DeviceError
from hardware.printers.opening import open_printer
from shared.errors import SettingsError

if TYPE_CHECKING:
    from gate_app.gate_context import GateContext

LAST_PAGE_S = 3.0
"""How long a stopping gate waits for a page; what is not known then is asked of people at the next start."""


def open_badges(context: GateContext, report: Report, stop: threading.Event, cleanup: ExitStack) -> BadgeQueue | None:
    """The queue to the printer in the settings; None without one. Raises SettingsError for impossible settings.

    A printer that is off is no mistake: the gate admits without it, and says so until it is there.
    """
    settings = context.config.printer
    if settings is None:
        return None
    try:
        printer = open_printer(settings.options, context.host.monotonic, stop)
        records = Records(context.home.badges)
    except DeviceError as why:
        raise SettingsError(str(why)) from why
    except sqlite3.Error as why:
        # A card that cannot be written keeps nobody from telling so: the gate opens, and prints nothing.
        report(settings.name, f"{context.home.badges.name} cannot be written ({why}). No badges are printed.")
        return None
    queue = BadgeQueue(
        settings=settings,
        printer=printer,
        records=records,
        journal=context.journal,
        roster=context.roster,
        time_keeper=context.time,
        report=report,
    )
    context.health.printer = lambda: f"{settings.kind}: {queue.state}"
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
