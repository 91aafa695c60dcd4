"""A device on the OSDP line as lamp and buzzer, and as barrier."""

from typing import Final

from hardware.osdp.bus import NAME, Command, OsdpBus, give_back, take
from hardware.osdp.options import OsdpOptions
from hardware.pins.options import Fail
from hardware.ports import DeviceError, Signal

# By the standard: kinds of commands, colours, and units of a tenth of a second.
OUTPUT, LED, BUZZER = 1, 2, 3
DARK, RED, GREEN, AMBER = 0, 1, 2, 3
SET_FOR_A_WHILE, BEEP = 2, 2
OFF, ON, ON_FOR_A_WHILE, OFF_FOR_A_WHILE = 1, 2, 5, 6

_LIGHTS: Final[dict[Signal, tuple[int, int, int, int, int]]] = {
    # colour, the other colour, tenths of each, tenths altogether
    Signal.ADMIT: (GREEN, DARK, 30, 0, 30),
    Signal.ATTENTION: (GREEN, AMBER, 2, 2, 32),
    Signal.DENY: (RED, DARK, 15, 1, 48),
    Signal.TEST: (GREEN, DARK, 2, 2, 8),
    Signal.FAULT: (RED, DARK, 3, 3, 100),
}
_BEEPS: Final[dict[Signal, tuple[int, int, int]]] = {
    # tenths on, tenths off, how often
    Signal.ADMIT: (1, 1, 1),
    Signal.ATTENTION: (1, 1, 3),
    Signal.DENY: (4, 1, 2),
    Signal.TEST: (1, 1, 2),
    Signal.FAULT: (1, 1, 4),
}


class OsdpLamp:
    """An Indicator: the lamp of a reader, and its buzzer."""

    def __init__(self, options: OsdpOptions, loudness: int) -> None:
        self._options, self._quiet = options, loudness == 0
        self._bus: OsdpBus | None = None

    def open(self) -> "OsdpLamp":
        """Takes the line. Raises DeviceError."""
        self._bus = take(self._options)
        return self

    def show(self, signal: Signal) -> None:
        if self._bus is None:
            raise DeviceError(NAME, "The lamp is closed.", "Start the gate again.")
        if signal in _LIGHTS:
            self._bus.send(_light(*_LIGHTS[signal]))
        if signal in _BEEPS and not self._quiet:
            self._bus.send(_beep(*_BEEPS[signal]))

    def set_loudness(self, percent: int) -> None:
        """Its buzzer beeps or is quiet."""
        self._quiet = percent == 0

    def close(self) -> None:
        bus, self._bus = self._bus, None
        if bus is not None:
            give_back(bus)


class OsdpBarrier:
    """A Barrier on an output of the device, which shuts again by itself. It does not tell who went through."""

    tells_turns = False

    def __init__(self, options: OsdpOptions) -> None:
        self._options = options
        self._bus: OsdpBus | None = None

    def open(self) -> "OsdpBarrier":
        """Takes the line; the barrier stays shut. Raises DeviceError."""
        if self._options.output is None or self._options.fail is None:
            happened = "The settings do not say which output the barrier is on, or what it does without power."
            remedy = 'Add output and fail ("safe" or "secure") under [osdp] in the settings.'
            raise DeviceError(NAME, happened, remedy)
        self._bus = take(self._options)
        # Fail-safe: the output holds the barrier shut, and a cut cable lets people through.
        self._bus.send(self._output(ON if self._options.fail is Fail.SAFE else OFF))
        return self

    def let_one_through(self) -> None:
        if self._bus is None:
            raise DeviceError(NAME, "The barrier is closed down.", "Start the gate again.")
        code = OFF_FOR_A_WHILE if self._options.fail is Fail.SAFE else ON_FOR_A_WHILE
        self._bus.send(self._output(code, self._options.open_ms // 100))

    def close(self) -> None:
        bus, self._bus = self._bus, None
        if bus is not None:
            give_back(bus)

    def _output(self, code: int, tenths: int = 0) -> Command:
        return {
            "command": OUTPUT,
            "output_no": self._options.output or 0,
            "control_code": code,
            "timer_count": tenths,
        }


def _light(colour: int, other: int, on: int, off: int, tenths: int) -> Command:
    return {
        "command": LED,
        "reader": 0,
        "led_number": 0,
        "temporary": True,
        "control_code": SET_FOR_A_WHILE,
        "on_color": colour,
        "off_color": other,
        "on_count": on,
        "off_count": off,
        "timer_count": tenths,
    }


def _beep(on: int, off: int, times: int) -> Command:
    return {
        "command": BUZZER,
        "reader": 0,
        "control_code": BEEP,
        "on_count": on,
        "off_count": off,
        "rep_count": times,
    }
