"""The loop that every reader thread runs; it continues after faults."""

import threading
from collections.abc import Callable, Iterator

from hardware.ports import CodeReader, DeviceError, Reading

FaultReport = Callable[[DeviceError | None], None]
"""Called once when a device fails in a new way, and with None when it works again."""

POLL_S = 0.2
PAUSE_AFTER_FAULT_S = 0.5


def readings(reader: CodeReader, stop: threading.Event, report: FaultReport) -> Iterator[Reading]:
    """Every reading until `stop` is set or the reader has ended; faults and the end are reported, never raised."""
    reported: str | None = None
    while not (stop.is_set() or reader.ended):
        try:
            reading = reader.next(POLL_S)
        except DeviceError as fault:
            if str(fault) != reported:
                reported = str(fault)
                report(fault)
            stop.wait(PAUSE_AFTER_FAULT_S)
            continue
        if reported is not None:
            reported = None
            report(None)
        if reading is not None:
            yield reading
    if not stop.is_set():
        # A reader that has stopped must not look like one where nobody comes.
        report(DeviceError(reader.name, "Its input has ended; it reads no more codes.", "Start the gate again."))
