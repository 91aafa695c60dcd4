"""Devices that stand at no gate of an event they are assigned to: they let nobody in until somebody chooses one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from shared.device_gates import standing, usable
from sync_server.devices.queries import DeviceView
from sync_server.devices.rules import DeviceState, EventAssignment
from sync_server.events import queries as events


def without_gate(session: Session, organisation_id: str, views: Sequence[DeviceView]) -> dict[str, list[str]]:
    """By device, for each event that is not over and where it stands at no gate: what is wrong and what to do."""
    named = {work.event_id for view in views for work in view.assignments}
    known = events.names_and_gates(session, organisation_id, named) if named else {}
    found = {view.device.id: problems_of(view, known) for view in views}
    return {device: problems for device, problems in found.items() if problems}


def problems_of(view: DeviceView, known: Mapping[str, tuple[str, dict[int, str]]]) -> list[str]:
    """The same of one device; `known` are the events that are not over: their names, and their gates by number."""
    if view.state is DeviceState.REVOKED:
        return []
    reported = {row["event"]: row.get("gate") for row in view.report.rows} if view.report else {}
    return [
        problem
        for work in view.assignments
        if work.event_id in known
        for problem in _problem(work, *known[work.event_id], reported.get(work.event_number))
    ]


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
