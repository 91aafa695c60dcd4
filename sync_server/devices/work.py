"""Makes of what an organiser asks for work that an event can give: its own gates and zones only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy.orm import Session

from shared.errors import InvalidRequest
from sync_server.devices.rules import Work
from sync_server.events import queries as events

DIRECTIONS = frozenset({"entry", "exit", "both"})
MODES = frozenset({"real", "test"})


def work_at(
    session: Session,
    organisation_id: str,
    event_id: str,
    *,
    gate: int | None,
    gates_allowed: Sequence[int] = (),
    zones: Sequence[int] = (),
    direction: str = "entry",
    mode: str = "real",
) -> Work:
    """That work; NotFound for a foreign event, InvalidRequest for a gate or zone it does not have."""
    if direction not in DIRECTIONS or mode not in MODES:
        raise InvalidRequest("A device works at entry, exit or both, in mode real or test.", field="direction")
    facts = events.facts(session, organisation_id, event_id)
    named = list(gates_allowed) if gate is None else sorted({gate, *gates_allowed})
    _require_known("gate", named, facts.gates, "gates_allowed" if gate is None else "gate")
    _require_known("zone", zones, facts.zones, "zones")
    return Work(facts.id, facts.number, gate, tuple(named), tuple(zones), direction, mode)


def _require_known(what: str, named: Iterable[int], known: Sequence[int], field: str) -> None:
    strange = sorted(set(named) - set(known))
    if strange:
        raise InvalidRequest(f"The event has no {what} {', '.join(map(str, strange))}.", field=field)
