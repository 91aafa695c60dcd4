"""What accounts tell higher packages inside the transaction of a change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shared.wire.snapshot import AnyRow, Row
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.signals import Signal


@dataclass(frozen=True, slots=True)
class OrganisationCreated(Signal):
    """There is a new organisation."""

    organisation_id: str
    context: ActionContext


@dataclass(frozen=True, slots=True)
class OrganisationRowsChanged(Signal):
    """Snapshot rows that all events of an organisation share have changed: its supervisors or its keys."""

    organisation_id: str
    rows: Sequence[AnyRow | Row]
