"""How signals are given, as configured."""

from dataclasses import dataclass, field

from hardware.osdp.options import OsdpOptions
from hardware.pins.options import PinOptions


@dataclass(frozen=True, slots=True)
class SignalOptions:
    """The pins, how loud in percent (0 is quiet), and the device on an OSDP line, if there is one."""

    pins: PinOptions = field(default_factory=PinOptions)
    loudness: int = 70
    osdp: OsdpOptions | None = None
