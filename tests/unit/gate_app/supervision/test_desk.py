"""What stewards and supervisors do at a running gate: each act once, by somebody, and in the journal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gate_app.supervision.desk import INFO_MS, Desk
from gate_app.supervision.screens import Role, Screen
from gate_app.supervision.search import fold
from shared.errors import Conflict, Forbidden, GatehouseError, InvalidRequest, NotFound
from shared.wire.snapshot import TicketState
from tests.gate_builders import EVENT, PIN, GateAtHome, a_code, a_gate, a_ticket_row, the_house, ticket_id_of

GUEST = "Jørgen Müller-Lüdenscheidt"


@pytest.fixture
def gate(tmp_path: Path) -> GateAtHome:
    rows = [*the_house(), a_ticket_row(9, name=GUEST, notes="Brings a dog", state=TicketState.CANCELLED)]
    return a_gate(tmp_path, rows)


@pytest.fixture
def told() -> list[str | None]:
    return []


@pytest.fixture
def desk(gate: GateAtHome, told: list[str | None]) -> Desk:
    return gate.context.desk(gate.lamp, told.append)


def paired(desk: Desk, role: Role) -> Screen:
    screen = desk.screens.of(desk.screens.pair(desk.screens.link(role)))
    assert screen is not None
    return screen


@pytest.fixture
def steward(desk: Desk) -> Screen:
    return paired(desk, Role.STEWARD)


@pytest.fixture
def supervisor(desk: Desk) -> Screen:
    return paired(desk, Role.SUPERVISOR)


def ticket(number: int) -> str:
    return f"{EVENT}:{ticket_id_of(number):016x}"


def found(desk: Desk, screen: Screen, query: str) -> list[str]:
    return [line["number"] for line in desk.perform("find", {"query": query}, screen)["tickets"]]


def now(desk: Desk, screen: Screen) -> Screen:
    """The screen as it is by now."""
    return next(one for one in desk.screens.paired() if one.id == screen.id)


@pytest.mark.parametrize(
    "query", ["NIGHT-000002", "night-000002", " code0002 ", "C 2", "c2", "Row C, Seat 2", "Reihe C Platz 2"]
)
def test_a_ticket_is_found_by_number_code_or_seat(desk: Desk, steward: Screen, query: str) -> None:
    assert found(desk, steward, query) == ["NIGHT-000002"]


@pytest.mark.parametrize("query", ["", "C", "NIGHT-00000", "Müller", "C 99", "%", "_"])
def test_nothing_is_found_by_less(desk: Desk, steward: Screen, query: str) -> None:
    assert found(desk, steward, query) == []


def test_names_are_searched_and_shown_only_after_a_pin(desk: Desk, gate: GateAtHome, steward: Screen) -> None:
    (line,) = desk.perform("find", {"query": "NIGHT-000009"}, steward)["tickets"]
    looked = desk.perform("look", {"ticket": ticket(9)}, steward)["scan"]["ticket"]
    assert (line["name"], "name" in looked, "notes" in looked) == ("", False, False)
    with pytest.raises(Forbidden):
        desk.perform("names", {"pin": "000000"}, steward)
    desk.perform("names", {"pin": PIN}, steward)
    steward = now(desk, steward)
    assert found(desk, steward, "muller jorg") == ["NIGHT-000009"]
    assert desk.perform("look", {"ticket": ticket(9)}, steward)["scan"]["ticket"]["name"] == GUEST
    assert gate.entries()[-1].details == {"names_at": steward.id}


def test_looking_answers_like_the_gate_and_leaves_no_trace(desk: Desk, gate: GateAtHome, steward: Screen) -> None:
    before = len(gate.entries())
    assert desk.perform("look", {"ticket": ticket(1)}, steward)["scan"]["reason"] == "admitted"
    assert (len(gate.entries()), gate.lamp.given) == (before, [])
    assert gate.scan(a_code(1))["reason"] == "admitted"
    assert desk.perform("look", {"ticket": ticket(1)}, steward)["scan"]["reason"] == "already_used"


def test_a_guest_with_an_empty_telephone_comes_in_once(desk: Desk, gate: GateAtHome, steward: Screen) -> None:
    assert desk.perform("admit", {"ticket": ticket(1)}, steward)["scan"]["reason"] == "admitted"
    assert [shown["reason"] for shown in gate.lamp.given] == ["admitted"]
    assert gate.scan(a_code(1))["reason"] == "already_used"
    assert [entry.kind for entry in gate.presentations()] == ["by_hand", "presentation"]


def test_a_supervisor_lets_somebody_in_all_the_same_and_says_why(desk: Desk, gate: GateAtHome, steward: Screen) -> None:
    fields = {"ticket": ticket(9), "pin": PIN}
    with pytest.raises(InvalidRequest):
        desk.perform("override", fields, steward)
    scan = desk.perform("override", {**fields, "reason": "The box office\nconfirmed"}, steward)["scan"]
    assert scan["reason"] == "admitted_override"
    entry = gate.presentations()[-1]
    assert (entry.override_by, entry.override_reason) == (1, "The box officeconfirmed")
    assert entry.override_denial == "ticket_cancelled"


def test_what_was_refused_at_the_reader_is_let_in_by_its_number(desk: Desk, gate: GateAtHome, steward: Screen) -> None:
    gate.scan(a_code(1))
    seq = gate.scan(a_code(1), reader="r2")["seq"]
    scan = desk.perform("override", {"seq": seq, "pin": PIN, "reason": "It was her husband"}, steward)["scan"]
    assert scan["reason"] == "admitted_override"


def test_an_admission_is_taken_back_from_the_list_of_the_last(desk: Desk, gate: GateAtHome, steward: Screen) -> None:
    gate.scan(a_code(1), reader="left lane")
    (line,) = desk.perform("latest", {}, steward)["admissions"]
    assert (line["seat"], line["reader"], line["local"]) == ("1", "left lane", "Sat 4 19:30:00")
    with pytest.raises(Forbidden):
        desk.perform("annul", {"seq": line["seq"], "pin": ""}, steward)
    answer = desk.perform("annul", {"seq": line["seq"], "pin": PIN, "reason": "turned round"}, steward)
    assert "NIGHT-000001 (C 1), by Sam" in answer["message"]
    assert desk.perform("latest", {}, steward)["admissions"] == []
    assert gate.scan(a_code(1), reader="r2")["reason"] == "admitted"


@pytest.mark.parametrize("reboot", [False, True])
def test_after_a_quarter_of_an_hour_nothing_is_taken_back(gate: GateAtHome, reboot: bool) -> None:
    first = gate.scan(a_code(1))["seq"]
    gate.hands.pass_ms(30_000)
    second = gate.scan(a_code(2))["seq"]
    gate.crash(reboot=reboot, away_ms=15 * 60_000 - 20_000)
    actions = gate.context.supervisor_actions()
    with pytest.raises(Conflict, match="older than 15 minutes"):
        actions.admission(first)
    assert actions.admission(second).ticket_id == ticket_id_of(2)


def test_doors_house_gate_and_training_are_a_supervisors(desk: Desk, gate: GateAtHome, supervisor: Screen) -> None:
    gate.scan(a_code(1))
    for action, fields, said in (
        ("doors", {"opened": True}, "are now open"),
        ("empty-house", {}, "nobody is inside"),
        ("train", {"on": True}, "every scan is a test"),
        ("train", {"on": False}, "count again"),
    ):
        answer = desk.perform(action, {**fields, "pin": PIN}, supervisor)
        assert said in answer["message"]
        assert (gate.entries()[-1].override_by, gate.entries()[-1].operator) == (1, "Sam")
    assert desk.perform("situation", {}, supervisor)["doors_opened"] == [0]
    assert [entry.kind for entry in gate.entries()[-4:]] == ["doors", "count_correction", "mode", "mode"]


def test_training_counts_nothing_and_ends_with_the_program(desk: Desk, gate: GateAtHome, supervisor: Screen) -> None:
    desk.perform("train", {"on": True, "pin": PIN}, supervisor)
    assert gate.scan(a_code(1))["reason"] == "test_ok"
    gate.crash()
    assert gate.scan(a_code(1))["reason"] == "admitted"


def test_the_gate_moves_only_where_the_device_is_allowed(desk: Desk, gate: GateAtHome, supervisor: Screen) -> None:
    assert desk.perform("situation", {}, supervisor)["gates"] == ["A"]
    with pytest.raises(Forbidden, match="may not be used at gate B"):
        desk.perform("stand", {"gate": "B", "pin": PIN}, supervisor)
    assert gate.entries() == []


@pytest.mark.parametrize("action", ["doors", "empty-house", "train", "stand", "pair", "paired", "unpair"])
def test_a_stewards_screen_does_nothing_of_a_supervisors_even_with_the_pin(
    desk: Desk, gate: GateAtHome, steward: Screen, action: str
) -> None:
    with pytest.raises(Forbidden, match="supervisor's screen"):
        desk.perform(action, {"pin": PIN, "on": True, "opened": True, "role": "supervisor"}, steward)
    assert gate.entries() == []


@pytest.mark.parametrize("action", ["override", "annul", "names"])
def test_a_lost_stewards_screen_undoes_nothing_and_shows_no_name(
    desk: Desk, gate: GateAtHome, steward: Screen, action: str
) -> None:
    seq = gate.scan(a_code(1))["seq"]
    with pytest.raises(Forbidden):
        desk.perform(action, {"seq": seq, "ticket": ticket(9), "reason": "please", "pin": "123456"}, steward)
    assert [entry.kind for entry in gate.entries()[-2:]] == ["presentation", "pin_failure"]


def test_a_supervisors_screen_is_not_paired_without_a_pin(desk: Desk, supervisor: Screen) -> None:
    assert desk.perform("pair", {"role": "steward"}, supervisor)["token"]
    with pytest.raises(Forbidden):
        desk.perform("pair", {"role": "supervisor"}, supervisor)
    with pytest.raises(InvalidRequest):
        desk.perform("pair", {"role": "kiosk"}, supervisor)


def test_looking_only_ends_by_itself(desk: Desk, gate: GateAtHome, steward: Screen, told: list[str | None]) -> None:
    desk.perform("info", {"on": True}, steward)
    assert desk.looking()
    gate.hands.pass_ms(INFO_MS)
    assert not desk.looking()
    assert [bool(words) for words in told] == [True, False]


@pytest.mark.parametrize(
    ("action", "fields"),
    [
        ("nothing", {}),
        ("look", {}),
        ("look", {"ticket": "x"}),
        ("look", {"ticket": "7:zz"}),
        ("look", {"ticket": "7:ffffffffffffffffffff"}),
        ("look", {"ticket": f"{EVENT}:1"}),
        ("look", {"ticket": f"99:{1:016x}"}),
        ("look", {"ticket": ["7"]}),
        ("annul", {"seq": True}),
        ("annul", {"seq": -1}),
        ("annul", {"seq": 10**30}),
        ("annul", {"seq": 99, "pin": PIN}),
        ("doors", {"event": 99, "pin": PIN}),
        ("doors", {"event": "7", "pin": PIN}),
        ("doors", {"gate": "Z", "pin": PIN}),
        ("find", {"query": 7, "pin": "\ud800"}),
    ],
)
def test_anything_else_changes_nothing(
    desk: Desk, gate: GateAtHome, supervisor: Screen, action: str, fields: dict[str, Any]
) -> None:
    if action == "find":
        assert desk.perform(action, fields, supervisor)["tickets"] == []
    else:
        with pytest.raises(GatehouseError) as why:
            desk.perform(action, fields, supervisor)
        assert isinstance(why.value, NotFound | InvalidRequest)
    assert gate.entries() == []


@pytest.mark.parametrize(("text", "folded"), [("Łódź", "lodz"), ("O'Brien-Smith", "o brien smith"), ("Ægir", "aegir")])
def test_names_are_compared_as_they_are_typed_in_a_hurry(text: str, folded: str) -> None:
    assert fold(text) == folded
