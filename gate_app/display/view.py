"""What a screen shows: the newest verdict, the last ten, and the state of the gate."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gate_app.display import party
from gate_app.display.announcement import Announcement
from gate_app.display.condition import Condition
from gate_app.display.party import PartyView


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
    party: PartyView | None = None
    """The party whose tickets are listed; None without one."""
    loudness: int = 0
    """Of sounds, in percent; 0 is quiet."""


def for_guests(view: View) -> View:
    """What a screen shows that guests can see: the verdict and where to sit, and nothing of anybody."""
    verdict = view.verdict and replace(view.verdict, ticket="", holder="", notices=(), earlier=())
    listed = view.party and party.for_guests(view.party)
    return replace(view, verdict=verdict, recent=(), condition=replace(view.condition, warnings=()), party=listed)


def without_names(view: View) -> View:
    """What a screen shows that may be in anybody's hands: neither names nor the notes about guests."""
    return replace(
        view,
        verdict=view.verdict and _nameless(view.verdict),
        recent=tuple(_nameless(each) for each in view.recent),
        party=view.party and party.without_names(view.party),
    )


def _nameless(one: Announcement) -> Announcement:
    return replace(one, holder="", notices=tuple(notice for notice in one.notices if not notice.private))
