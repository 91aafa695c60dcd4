"""What the screen tells guests at a camera that cannot read their code yet."""

from __future__ import annotations

from typing import Final

from hardware.ports import Hint

WORDS: Final[dict[Hint, str]] = {
    Hint.HOLD_STILL: "Hold still, the code is hard to read",
    Hint.COME_CLOSER: "Come closer, the code is too small",
    Hint.TOO_DARK: "Too dark: turn up the phone's brightness",
    Hint.TOO_BRIGHT: "Too bright: tilt the phone a little",
    Hint.ONE_AT_A_TIME: "One ticket at a time, please",
}
