"""The tones of each signal."""

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


def rehearse(indicator: Indicator, stop: threading.Event, pause_s: float = 1.2) -> None:
    """Gives every signal once, so that staff learn them. Raises DeviceError like `show`."""
    for signal in Signal:
        if stop.is_set():
            return
        indicator.show(signal)
        stop.wait(pause_s)
    indicator.show(Signal.READY)
