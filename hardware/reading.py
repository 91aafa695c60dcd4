"""Reads on through faults: the loop that every thread at a reader runs."""

import threading
from collections.abc import Callable, Iterator

from hardware.ports import CodeReader, DeviceError, Reading

FaultReport = Callable[[DeviceError | None], None]
"""Told once when a device fails in a new way, and with None when it works again."""

POLL_S = 0.2
PAUSE_AFTER_FAULT_S = 0.5


def readings(reader: CodeReader, stop: threading.Event, report: FaultReport) -> Iterator[Reading]:
    """Every reading until `stop` is set or the reader has ended; faults and the end are reported, never raised."""
    told: str | None = None
    while not (stop.is_set() or reader.ended):
        try:
            reading = reader.next(POLL_S)
        except DeviceError as fault:
            if str(fault) != told:
                told = str(fault)
                report(fault)
            stop.wait(PAUSE_AFTER_FAULT_S)
            continue
        if told is not None:
            told = None
            report(None)
        if reading is not None:
            yield reading
    if not stop.is_set():
        # A door that no longer reads must not look like a door where nobody comes.
        report(DeviceError(reader.name, "Its input has ended: it reads no more codes.", "Start the gate again."))
