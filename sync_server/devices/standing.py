"""Devices that stand at no gate of an event they are assigned to: they let nobody in until somebody chooses one."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy.orm import Session

from shared.device_gates import standing, usable
from sync_server.devices.queries import DeviceView
from sync_server.devices.rules import DeviceState, EventAssignment
from sync_server.events import queries as events


def without_gate(session: Session, organisation_id: str, views: Iterable[DeviceView]) -> dict[str, list[str]]:
    """By device, for each event that is not over and where it stands at no gate: what is wrong and what to do."""
    working = [view for view in views if view.state is not DeviceState.REVOKED]
    named = {work.event_id for view in working for work in view.assignments}
    known = events.names_and_gates(session, organisation_id, named) if named else {}
    found: dict[str, list[str]] = {}
    for view in working:
        reported = {row["event"]: row.get("gate") for row in view.report.rows} if view.report else {}
        for work in view.assignments:
            if work.event_id in known:
                name, gates = known[work.event_id]
                found.setdefault(view.device.id, []).extend(
                    _problem(work, name, gates, reported.get(work.event_number))
                )
    return {device: problems for device, problems in found.items() if problems}


def _problem(work: EventAssignment, name: str, gates: dict[int, str], reported: int | None) -> list[str]:
    possible = usable(work.gate, work.gates_allowed, gates)
    if not possible:
        return [
            f"{name}: there is no gate where this device may be used. Add one to the venue, or choose another here."
        ]
    if reported in possible or standing(work.gate, work.gates_allowed, gates) is not None:
        return []
    codes = " or ".join(gates[number] for number in possible)
    return [f"{name}: no gate is chosen, so nobody is let in. Choose {codes} here, or at the gate with --gate."]
