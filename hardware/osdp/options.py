"""Where the device on the OSDP line is, and what hangs on it."""

from dataclasses import dataclass

from hardware.pins.options import Fail


@dataclass(frozen=True, slots=True)
class OsdpOptions:
    """A reader or door controller, which the gate commands as its control panel."""

    at: str
    """The serial line, such as an RS-485 adapter."""
    address: int = 0
    baud: int = 9600
    key: bytes = b""
    """The 16 bytes that both sides know; empty: everything on the line is said in the clear."""
    output: int | None = None
    """Which output opens the barrier."""
    fail: Fail | None = None
    open_ms: int = 5_000
