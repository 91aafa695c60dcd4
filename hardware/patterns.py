"""The tones and lights of each signal."""

import threading
from dataclasses import dataclass

from hardware.ports import Indicator, Signal


@dataclass(frozen=True, slots=True)
class Tone:
    """A pitch held for a while; a pitch of 0 is silence."""

    hertz: int
    millis: int


# Distinguished by rhythm and direction, not by pitch alone: half the staff stand beside a sound system.
# Going up is good, going down is bad, flat is "look here".
TONES: dict[Signal, tuple[Tone, ...]] = {
    Signal.READY: (),
    Signal.ADMIT: (Tone(880, 70), Tone(1320, 130)),
    Signal.ATTENTION: (Tone(880, 70), Tone(1320, 110), Tone(0, 60), Tone(1320, 70), Tone(0, 60), Tone(1320, 70)),
    Signal.DENY: (Tone(330, 220), Tone(0, 50), Tone(220, 380)),
    # A code that is still in front of the reader must not sound like another guest.
    Signal.AGAIN: (),
    Signal.TEST: (Tone(660, 60), Tone(0, 60), Tone(660, 60)),
    Signal.FAULT: (
        Tone(440, 120),
        Tone(0, 80),
        Tone(440, 120),
        Tone(0, 80),
        Tone(440, 120),
        Tone(0, 80),
        Tone(440, 120),
    ),
}


@dataclass(frozen=True, slots=True)
class Step:
    """What is on for a while: colours of lamps, or a beep."""

    on: frozenset[str]
    millis: int


DARK: frozenset[str] = frozenset()
BEEP = frozenset({"beep"})
NEXT_GUEST = Step(DARK, 150)
"""Between two guests a lamp goes out, or two with one verdict would look like one."""


def _lit(millis: int, *colours: str) -> Step:
    return Step(frozenset(colours), millis)


def _blinking(colour: str, times: int, millis: int) -> tuple[Step, ...]:
    return (_lit(millis, colour), _lit(millis)) * times


# Told apart without colours: steady is the answer to a guest, blinking asks staff to look.
LIGHTS: dict[Signal, tuple[Step, ...]] = {
    Signal.READY: (),
    Signal.ADMIT: (_lit(3_000, "green"),),
    Signal.ATTENTION: (_lit(200, "green", "yellow"), _lit(200, "green")) * 8,
    Signal.DENY: (_lit(1_500, "red"), _lit(100), _lit(1_500, "red"), _lit(100), _lit(1_500, "red")),
    Signal.AGAIN: (),
    Signal.TEST: _blinking("green", 2, 150),
    Signal.FAULT: _blinking("red", 20, 250),
}


def beeps(signal: Signal) -> tuple[Step, ...]:
    """The rhythm of a signal's tones, for what has a single pitch."""
    steps: list[Step] = []
    for tone in TONES[signal]:
        on = BEEP if tone.hertz else DARK
        before = steps.pop().millis if steps and steps[-1].on == on else 0
        steps.append(Step(on, before + tone.millis))
    return tuple(steps)


def rehearse(indicator: Indicator, stop: threading.Event, pause_s: float = 1.2) -> None:
    """Gives every signal once, so that staff learn them. Raises DeviceError like `show`."""
    for signal in Signal:
        if stop.is_set():
            return
        indicator.show(signal)
        stop.wait(pause_s)
    indicator.show(Signal.READY)
