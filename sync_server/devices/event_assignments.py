"""Validates an organiser's assignment of a device against the event's own gates and zones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy.orm import Session

from shared.errors import InvalidRequest
from sync_server.devices.rules import EventAssignment
from sync_server.events import queries as events

DIRECTIONS = frozenset({"entry", "exit", "both"})
MODES = frozenset({"real", "test"})


def event_assignment(
    session: Session,
    organisation_id: str,
    event_id: str,
    *,
    gate: int | None,
    gates_allowed: Sequence[int] = (),
    zones: Sequence[int] = (),
    direction: str = "entry",
    mode: str = "real",
) -> EventAssignment:
    """The assignment; raises NotFound for another organisation's event, InvalidRequest for an unknown gate or zone."""
    if direction not in DIRECTIONS or mode not in MODES:
        raise InvalidRequest("`direction` is entry, exit or both, and `mode` is real or test.", field="direction")
    facts = events.details(session, organisation_id, event_id)
    named = list(gates_allowed) if gate is None else sorted({gate, *gates_allowed})
    _require_known("gate", named, facts.gates, "gates_allowed" if gate is None else "gate")
    _require_known("zone", zones, facts.zones, "zones")
    return EventAssignment(facts.id, facts.number, gate, tuple(named), tuple(zones), direction, mode)


def _require_known(what: str, named: Iterable[int], known: Sequence[int], field: str) -> None:
    unknown = sorted(set(named) - set(known))
    if unknown:
        raise InvalidRequest(f"The event has no {what} {', '.join(map(str, unknown))}.", field=field)
