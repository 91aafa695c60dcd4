"""What venues tell higher packages inside the transaction of a change."""

from __future__ import annotations

from dataclasses import dataclass

from sync_server.plumbing.signals import Signal


@dataclass(frozen=True, slots=True)
class GatesChanged(Signal):
    """A venue has another gate, or one of its gates has changed."""

    organisation_id: str
    venue_id: str
