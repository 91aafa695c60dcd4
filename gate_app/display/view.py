"""What a screen shows: the newest verdict, the last ten, and the state of the gate."""

from __future__ import annotations

from dataclasses import dataclass

from gate_app.display.announcement import Announcement
from gate_app.display.condition import Condition


@dataclass(frozen=True, slots=True)
class View:
    """Everything a screen shows at one moment."""

    number: int
    """Increases with every change; the same number again is a heartbeat."""
    verdict: Announcement | None
    verdict_number: int
    again: int
    """How often the verdict has been repeated."""
    age_ms: int
    """Time since the verdict was first shown or last repeated."""
    hint: str
    """What the guest at the camera can do, in words; empty before the first."""
    hint_number: int
    admitted: int
    refused: int
    condition: Condition
    recent: tuple[Announcement, ...]
