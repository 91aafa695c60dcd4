"""Lamps and a buzzer on pins."""

from contextlib import ExitStack
from typing import TYPE_CHECKING

from hardware.patterns import BEEP, DARK, LIGHTS, NEXT_GUEST, beeps
from hardware.pins.options import PinOptions
from hardware.pins.outputs import output
from hardware.pins.player import Player
from hardware.ports import DeviceError, Signal

if TYPE_CHECKING:
    from gpiozero import OutputDevice

WIRE = "Add it under [pins] in the settings: the GPIO number of the pin that it is wired to."


class Lamps:
    """An Indicator of up to three colours. A lamp that is lit goes out for a moment before the next guest's."""

    def __init__(self, pins: PinOptions) -> None:
        self._pins = pins
        self._outputs: dict[str, OutputDevice] = {}
        self.player = Player("lamps", self._light)

    def open(self) -> "Lamps":
        """Takes the pins, all dark. Raises DeviceError."""
        if not self._pins.lamps:
            raise DeviceError("lamps", "No lamp is wired.", WIRE)
        with ExitStack() as undo:
            undo.callback(self._release)
            for colour, pin in self._pins.lamps.items():
                self._outputs[colour] = output("lamps", pin, active_low=colour in self._pins.active_low)
            undo.pop_all()
        return self

    def show(self, signal: Signal) -> None:
        if signal is not Signal.AGAIN:
            first = (NEXT_GUEST,) if self.player.lit and LIGHTS[signal] else ()
            self.player.play((*first, *LIGHTS[signal]))

    def close(self) -> None:
        self.player.close()
        self._release()

    def _light(self, colours: frozenset[str]) -> None:
        # Where the yellow lamp is missing, the blinking of the others still says it.
        for colour, lamp in self._outputs.items():
            lamp.value = colour in colours

    def _release(self) -> None:
        outputs, self._outputs = self._outputs, {}
        for lamp in outputs.values():
            lamp.close()


class Buzzer:
    """An Indicator that beeps in the rhythm of the sounds."""

    def __init__(self, pins: PinOptions, loudness: int) -> None:
        self._pins = pins
        self._quiet = loudness == 0
        self._output: OutputDevice | None = None
        self.player = Player("buzzer", self._sound)

    def open(self) -> "Buzzer":
        """Takes the pin, silent. Raises DeviceError."""
        if self._pins.buzzer is None:
            raise DeviceError("buzzer", "No buzzer is wired.", WIRE)
        self._output = output("buzzer", self._pins.buzzer, active_low="buzzer" in self._pins.active_low)
        return self

    def show(self, signal: Signal) -> None:
        if signal is not Signal.AGAIN and not self._quiet:
            self.player.play(beeps(signal))

    def set_loudness(self, percent: int) -> None:
        """A buzzer beeps or is quiet."""
        self._quiet = percent == 0
        if self._quiet:
            self.player.play(())

    def close(self) -> None:
        self.player.close()
        if self._output is not None:
            self._output.close()
            self._output = None

    def _sound(self, on: frozenset[str]) -> None:
        if self._output is not None:
            self._output.value = on == BEEP and on != DARK
