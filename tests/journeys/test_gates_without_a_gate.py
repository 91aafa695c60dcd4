"""A device that was assigned to an event and to none of its gates: page, status, screen and doctor agree about it."""

from __future__ import annotations

from typing import Any

import pytest

from gate_app.display.condition import condition
from gate_app.doctor.examination import findings
from gate_app.gate_context import CHOSEN_GATE
from gate_app.reading_home import status as status_beside
from gate_app.status import status as tell_status
from tests.builders import a_venue
from tests.journeys.simulated_gate import SimulatedGate
from tests.journeys.world import EventRef, World


def ready(gate: SimulatedGate) -> bool:
    """Whether it is ready, which status, screen, doctor and a status read beside it say alike, with the same reason."""
    context = gate.context
    own, beside = tell_status(context.status_source()), status_beside(context.home, context.host)
    doctor = next(found for found in findings(context.home, context.host) if found.part == "ready")
    shown = condition(own, {})
    assert own["ready"] is beside["ready"] is doctor.ok is shown.ready
    if not own["ready"]:
        assert own["not_ready"] == beside["not_ready"]
        assert own["not_ready"] in doctor.message
        assert own["not_ready"] in shown.warnings
    return bool(own["ready"])


def problems(world: World, gate: SimulatedGate) -> list[str]:
    """What the organiser is told of the device."""
    found: list[str] = world.ask("GET", f"/api/devices/{gate.device_id}")["problems"]
    return found


def made_with_the_defaults_of_the_page(world: World, event: EventRef, **work: Any) -> SimulatedGate:
    return world.gate("A", event=event, gate=None, **work)


def at_a_venue(world: World, *gates: str) -> EventRef:
    """An event at a venue with these gates only."""
    world.venue = world.ask("POST", "/api/venues", a_venue(name="Elsewhere"))["id"]
    for code in gates:
        world.ask("POST", f"/api/venues/{world.venue}/gates", {"code": code, "name": f"Gate {code}"})
    return world.create_event("Elsewhere")


def test_a_gate_of_a_cancelled_event_is_not_ready_and_refuses_by_that_name(any_world: World) -> None:
    event = at_a_venue(any_world, "M")
    gate = made_with_the_defaults_of_the_page(any_world, event)
    guest = any_world.sell_one(event=event)
    gate.sync()
    assert ready(gate)
    any_world.ask("POST", f"/api/events/{event.id}/cancel", {"reason": "storm"})
    gate.sync()
    assert not ready(gate)
    assert "cancelled. Nobody is let in." in tell_status(gate.context.status_source())["not_ready"]
    assert gate.scan(guest.code)["reason"] == "event_cancelled"


def test_at_the_only_gate_there_is_nothing_to_choose(any_world: World) -> None:
    event = at_a_venue(any_world, "M")
    gate = made_with_the_defaults_of_the_page(any_world, event)
    assert ready(gate)
    gate.sync()
    assert problems(any_world, gate) == []
    assert gate.scan(any_world.sell_one(event=event).code)["gate"] == "M"
    gate.sync()
    assert gate.scan(any_world.sell_one(event=event).code)["reason"] == "admitted"


def test_where_there_are_several_nobody_is_let_in_before_one_is_chosen(any_world: World) -> None:
    world = any_world
    first, second = world.sell(2)
    gate = made_with_the_defaults_of_the_page(world, world.event)
    assert not ready(gate)
    refused = gate.scan(first.code)
    assert (refused["reason"], "Choose A or B or C" in refused["message"]) == ("gate_not_ready", True)
    (problem,) = problems(world, gate)
    assert "no gate is chosen" in problem
    gate.context.choose_gate("b")
    assert ready(gate)
    gate.sync()
    assert problems(world, gate) == [], "the gate has told where it stands"
    admitted = gate.scan(first.code)
    assert (admitted["reason"], admitted["gate"]) == ("admitted", "B")
    gate.switch_off()
    gate.home_settings('gate = "C"')
    gate.switch_on()
    assert gate.context.database.get(CHOSEN_GATE) == "b", "of the process before"
    gate.context.choose_gate("")
    assert ready(gate)
    assert gate.scan(second.code)["gate"] == "C"


def test_without_any_gate_it_says_so_on_both_sides(any_world: World) -> None:
    event = at_a_venue(any_world)
    gate = made_with_the_defaults_of_the_page(any_world, event)
    assert not ready(gate)
    (problem,) = problems(any_world, gate)
    assert "there is no gate where this device may be used" in problem
    any_world.ask("POST", f"/api/venues/{any_world.venue}/gates", {"code": "M", "name": "Main"})
    gate.sync()
    assert (ready(gate), problems(any_world, gate)) == (True, [])


def test_a_gate_chosen_in_the_settings_that_is_none_is_told(world: World) -> None:
    gate = made_with_the_defaults_of_the_page(world, world.event)
    gate.switch_off()
    gate.home_settings('gate = "Q"')
    gate.switch_on()
    assert not ready(gate)
    assert "There is no gate Q" in gate.scan(world.sell_one().code)["message"]


def test_whoever_leaves_is_not_kept_in(world: World) -> None:
    ticket = world.sell_one()
    entrance = world.gate("B")
    gate = made_with_the_defaults_of_the_page(world, world.event, direction="exit")
    entrance.scan(ticket.code)
    entrance.sync()
    gate.sync()
    assert not ready(gate)
    assert gate.reason(ticket.code) == "exited"


def test_only_events_that_are_not_over_make_a_gate_ready(world: World) -> None:
    gate = world.gate("A")
    other = at_a_venue(world)
    assignments = [
        {"event_id": world.event.id, "gate": world.gate_numbers["A"]},
        {"event_id": other.id},
    ]
    world.ask("PUT", f"/api/devices/{gate.device_id}/assignments", {"assignments": assignments})
    gate.sync()
    own = tell_status(gate.context.status_source())
    assert own["ready"]
    assert any("Elsewhere has no gate" in warning for warning in own["warnings"])
    world.change_event("end")
    gate.sync()
    assert not ready(gate)


@pytest.mark.parametrize("allowed", [["A"], ["A", "C"]])
def test_only_allowed_gates_can_be_chosen(world: World, allowed: list[str]) -> None:
    numbers = [world.gate_numbers[code] for code in allowed]
    gate = made_with_the_defaults_of_the_page(world, world.event, gates_allowed=numbers)
    assert ready(gate) is (len(allowed) == 1)
