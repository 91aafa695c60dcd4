"""Opens the configured printer; nothing is sent to it yet, because it may be switched on later."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from hardware.fakes import FakePrinter
from hardware.ports import DeviceError, MonotonicNs, Printer
from hardware.printers.cups import CupsPrinter
from hardware.printers.label_printers import EscPos, LinePrinter, Zpl
from hardware.printers.lines import dial


@dataclass(frozen=True, slots=True)
class PrinterOptions:
    """Which printer to open, as configured."""

    kind: str
    at: str = ""
    """For CUPS the queue; otherwise an address with its port, or a path under /dev."""
    name: str = "printer"
    baud: int = 9600
    answers: bool = True
    cut: bool = True


@dataclass(frozen=True, slots=True)
class _Request:
    options: PrinterOptions
    monotonic_ns: MonotonicNs
    stop: threading.Event


def open_printer(options: PrinterOptions, monotonic_ns: MonotonicNs, stop: threading.Event) -> Printer:
    """A printer of this kind; `stop` ends its waiting. Raises DeviceError if the settings cannot be meant."""
    opener = PRINTERS.get(options.kind)
    if opener is None:
        remedy = f"Choose one of: {', '.join(PRINTERS)}."
        raise DeviceError(options.name, f"There is no printer of the kind '{options.kind}'.", remedy)
    if not options.at and options.kind != "fake":
        remedy = 'Say where it is: at = "192.0.2.40:9100", at = "/dev/usb/lp0", or the name of a queue.'
        raise DeviceError(options.name, "The settings do not say where the printer is.", remedy)
    return opener(_Request(options, monotonic_ns, stop))


def _cups(request: _Request) -> Printer:
    return CupsPrinter(request.options.at, request.monotonic_ns, request.stop, request.options.name)


def _zpl(request: _Request) -> Printer:
    options, clock = request.options, request.monotonic_ns
    way = dial(options.at, options.baud, options.name)
    return LinePrinter(way, Zpl(options.name, clock), clock, options.name, answers=options.answers)


def _escpos(request: _Request) -> Printer:
    options, clock = request.options, request.monotonic_ns
    way = dial(options.at, options.baud, options.name)
    return LinePrinter(way, EscPos(options.name, clock, cut=options.cut), clock, options.name, answers=options.answers)


PRINTERS: Final[Mapping[str, Callable[[_Request], Printer]]] = {
    "cups": _cups,
    "zpl": _zpl,
    "escpos": _escpos,
    "fake": lambda _request: FakePrinter(),
}
"""How to open a printer of each kind."""
