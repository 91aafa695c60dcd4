"""The printer of badges: asked how it is, without printing anything."""

from __future__ import annotations

import threading

from gate_app.badges.sheet import drawing
from gate_app.doctor.finding import Code, Examined, Finding, fault, well
from hardware.ports import DeviceError, PrinterError, PrinterFault
from hardware.printers.opening import open_printer


def check_printer(examined: Examined) -> Finding:
    """Whether badges can be drawn, and the printer in the settings would print them."""
    settings = examined.config.printer
    if settings is None:
        return well("printer", "Not configured.")
    try:
        drawing()
    except DeviceError as why:
        return fault("printer", Code.PRINTER_LIBRARIES, str(why))
    if holder := examined.home.holder():
        return well("printer", f"Not asked, because {holder} is using this gate: its screen shows faults.")
    try:
        printer = open_printer(settings.options, examined.host.monotonic, threading.Event())
        try:
            printer.check()
        finally:
            printer.close()
    except PrinterError as why:
        other = why.kind is PrinterFault.OTHER
        return fault("printer", Code.PRINTER_FAILS if other else Code(f"printer_{why.kind}"), str(why))
    except DeviceError as why:
        return fault("printer", Code.PRINTER_SETTINGS, str(why))
    heard = "" if settings.answers else " It never says how it is: print one with gatehouse-gate print --test."
    return well("printer", f"{settings.kind} at {settings.at}: ready.{heard}")
