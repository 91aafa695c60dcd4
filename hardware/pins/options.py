"""Which pin is wired to what."""

from dataclasses import dataclass
from enum import StrEnum


class Fail(StrEnum):
    """What a barrier does without power: let people through, or keep them out."""

    SAFE = "safe"
    SECURE = "secure"


@dataclass(frozen=True, slots=True)
class PinOptions:
    """The pins by their GPIO numbers; None where nothing is wired."""

    green: int | None = None
    yellow: int | None = None
    red: int | None = None
    buzzer: int | None = None
    relay: int | None = None
    turned: int | None = None
    emergency: int | None = None
    fail: Fail | None = None
    open_ms: int = 1_000
    active_low: tuple[str, ...] = ()
    """The outputs that are on when their pin is low, as on many relay boards."""

    @property
    def lamps(self) -> dict[str, int]:
        """The pins of the lamps by their colours."""
        pins = {"green": self.green, "yellow": self.yellow, "red": self.red}
        return {colour: pin for colour, pin in pins.items() if pin is not None}
