"""Simulated devices that can also fail: for training, demonstrations and tests, opened only by name."""

import queue
import threading
from collections.abc import Callable

from hardware.ports import DeviceError, MonotonicNs, PrinterError, PrinterFault, Reading, Sheet, Signal


class FakeReader:
    """A CodeReader that is scanned by calling `scan()`, from any thread."""

    def __init__(self, monotonic_ns: MonotonicNs, name: str = "fake") -> None:
        self.name = name
        self._monotonic_ns = monotonic_ns
        self._waiting: queue.SimpleQueue[Reading | None] = queue.SimpleQueue()
        self._unplugged = threading.Event()
        self._over = threading.Event()

    @property
    def ended(self) -> bool:
        return self._over.is_set() and self._waiting.empty()

    def scan(self, text: str) -> None:
        """Holds a code in front of the reader."""
        self._waiting.put(Reading(text, self._monotonic_ns(), self.name))

    def unplug(self) -> None:
        self._unplugged.set()

    def plug_in(self) -> None:
        self._unplugged.clear()

    def end(self) -> None:
        """Closes the input; earlier scans are still delivered."""
        self._over.set()
        self._waiting.put(None)

    def next(self, timeout_s: float) -> Reading | None:
        if self._unplugged.is_set():
            raise DeviceError(self.name, "The scanner is unplugged.", "Plug it in again.")
        try:
            return self._waiting.get(timeout=timeout_s)
        except queue.Empty:
            return None

    def close(self) -> None:
        self._over.set()
        self._waiting = queue.SimpleQueue()


class FakeIndicator:
    """An Indicator that records its signals in `shown`."""

    def __init__(self) -> None:
        self.shown: list[Signal] = []
        self.closed = False
        self._broken = False

    def break_down(self) -> None:
        self._broken = True

    def repair(self) -> None:
        self._broken = False

    def show(self, signal: Signal) -> None:
        if self._broken or self.closed:
            raise DeviceError("lamp", "The lamp does not answer.", "Check its cable.")
        self.shown.append(signal)

    def close(self) -> None:
        self.closed = True


class FakeBarrier:
    """A Barrier that counts its `openings`."""

    tells_turns = False

    def __init__(self) -> None:
        self.openings = 0
        self.closed = False
        self._jammed = False

    def jam(self) -> None:
        self._jammed = True

    def free(self) -> None:
        self._jammed = False

    def let_one_through(self) -> None:
        if self._jammed or self.closed:
            raise DeviceError("barrier", "The barrier did not open.", "Open it by hand and let the guest through.")
        self.openings += 1

    def close(self) -> None:
        self.closed = True


class FakeTurnstile(FakeBarrier):
    """A FakeBarrier that tells when somebody went through. Its arms turn once for each opening."""

    tells_turns = True

    def __init__(self, on_turned: Callable[[], None]) -> None:
        super().__init__()
        self._on_turned = on_turned
        self.turns = 0

    def turn(self) -> bool:
        """Somebody goes through; False if the arms are locked."""
        if self.turns >= self.openings:
            return False
        self.turns += 1
        self._on_turned()
        return True


class FakePrinter:
    """A Printer that keeps its `sheets`."""

    name = "printer"

    def __init__(self) -> None:
        self.sheets: list[Sheet] = []
        self.closed = False
        self._fault: PrinterError | None = None

    def run_out_of_paper(self, *, halfway: bool = False) -> None:
        """`halfway`: at the next sheet, a part of which it prints."""
        self._fault = _fault(PrinterFault.NO_PAPER, "The printer has no paper.", begun=halfway)

    def unplug(self) -> None:
        self._fault = _fault(PrinterFault.UNPLUGGED, "The printer is not there.")

    def recover(self) -> None:
        self._fault = None

    def check(self) -> None:
        if self.closed:
            raise _fault(PrinterFault.UNPLUGGED, "The printer is closed.")
        if self._fault is not None and not self._fault.begun:
            raise self._fault

    def print_sheet(self, sheet: Sheet) -> None:
        self.check()
        if self._fault is not None:
            raise self._fault
        self.sheets.append(sheet)

    def close(self) -> None:
        self.closed = True


def _fault(kind: PrinterFault, happened: str, *, begun: bool = False) -> PrinterError:
    return PrinterError(FakePrinter.name, kind, happened, "See to it; it goes on by itself.", begun=begun)
