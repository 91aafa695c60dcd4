"""Everything a screen shows at one moment: the newest verdict, the last ten, and how the gate is doing."""

from __future__ import annotations

from dataclasses import dataclass

from gate_app.display.announcement import Announcement
from gate_app.display.condition import Condition


@dataclass(frozen=True, slots=True)
class View:
    """Everything a screen shows at one moment."""

    number: int
    """Rises with every change; a screen that sees the same number again has heard a heartbeat."""
    verdict: Announcement | None
    verdict_number: int
    again: int
    """How often the verdict was repeated since."""
    age_ms: int
    """How long ago the verdict was given or repeated last."""
    glimpse_number: int
    admitted: int
    refused: int
    condition: Condition
    recent: tuple[Announcement, ...]
