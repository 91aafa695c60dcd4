"""What seating tells higher packages inside the transaction of a change."""

from __future__ import annotations

from dataclasses import dataclass

from sync_server.plumbing.signals import Signal


@dataclass(frozen=True, slots=True)
class LayoutChanging(Signal):
    """The taken seats of an event are about to be read to change its layout; from now on, new holds must wait."""

    organisation_id: str
    event_id: str
