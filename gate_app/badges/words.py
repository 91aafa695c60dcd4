"""Faults of the printer in the words of the screens."""

from __future__ import annotations

from gate_app.words import known, say
from hardware.ports import DeviceError, PrinterError
from shared.words.wording import joined


def fault_words(fault: DeviceError, waiting: int) -> str:
    """What is wrong and what to do, and how many badges wait for it."""
    words = known(f"printer.{fault.kind}") if isinstance(fault, PrinterError) else ""
    return joined(words or str(fault), say("printer.waiting", n=waiting) if waiting else "")


def unsure_words(numbers: tuple[str, ...]) -> str:
    """Of which tickets nobody knows whether their badges came out."""
    return say("printer.unsure", tickets=", ".join(numbers))
