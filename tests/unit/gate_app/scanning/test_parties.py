"""One scan for a party: listed, chosen, let through one by one, and exact after a power cut at any turn."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gate_app.running.run import LampAndScreen
from gate_app.scanning.gate import Presentation
from gate_app.scanning.gathering import ScanOptions
from gate_app.scanning.parties import CHOICE_MS, Parties
from gate_app.scanning.turns import Turns
from shared.admission import Mode, Verdict
from shared.errors import Conflict
from shared.wire.snapshot import EventRow, TicketState
from tests.gate_builders import (
    EVENING,
    EVENT,
    GateAtHome,
    LampOnTheTable,
    PowerCut,
    a_code,
    a_gate,
    a_party_code,
    a_ticket_row,
    give_rows,
    the_house,
    ticket_id_of,
)
from tests.unit.gate_app.scanning.test_gate import a_standing_house

FIVE = (1, 2, 3, 4, 5)
TURN_MS = 10_000
TAKEN_BACK_AND_CUT = "taken back, and the power fails"


@pytest.fixture
def gate(tmp_path: Path) -> GateAtHome:
    return a_gate(tmp_path)


def present(gate: GateAtHome, code: str, parties: Parties | None = None, **options: Any) -> dict[str, Any]:
    shown = Presentation(code, options.pop("reader", "r1"), ScanOptions(**options))
    return (parties or parties_at(gate)).present(shown, gate.lamp)


def parties_at(gate: GateAtHome, **options: Any) -> Parties:
    return Parties(gate.context.gate, gate.context.time.monotonic_ms, **options)


def members_of(result: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {one["ticket"]["seat"]: (one["standing"], one["reason"]) for one in result["party"]["members"]}


def admitted(gate: GateAtHome) -> list[int]:
    return [entry.ticket_id for entry in gate.presentations() if entry.admitted]


def ids(numbers: Iterable[int]) -> list[int]:
    return [ticket_id_of(number) for number in numbers]


@dataclass
class Turnstile:
    """A lamp with a turnstile: `goes` says of each opening whether somebody goes through, or the power fails."""

    gate: GateAtHome
    goes: list[object] = field(default_factory=list)
    through: int = 0
    shown: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        context = self.gate.context
        actions = context.supervisor_actions()
        self.turns = Turns(
            told=True,
            within_ms=TURN_MS,
            monotonic_ms=context.time.monotonic_ms,
            take_back=lambda seq: actions.take_back_unturned(seq) and None,
        )
        self.parties = parties_at(self.gate, turns=self.turns)

    def show(self, result: dict[str, Any], _verdict: Verdict, mode: Mode) -> None:
        if result["verdict"] != "admit" or mode is Mode.TEST:
            return
        self.shown.append(result["seq"])
        goes = self.goes.pop(0) if self.goes else True
        if goes == "cut before":
            raise PowerCut
        self.turns.opened(result["seq"])
        if goes == "cut after":
            raise PowerCut
        if goes and goes != TAKEN_BACK_AND_CUT:
            self.through += 1
            self.turns.turned()
        else:
            self.gate.hands.pass_ms(TURN_MS)
            self.turns.expire()
        if goes == TAKEN_BACK_AND_CUT:
            raise PowerCut

    def repeat(self, result: dict[str, Any]) -> None:
        """Nothing turns."""

    def present(self, code: str) -> dict[str, Any]:
        return self.parties.present(Presentation(code, "r1"), self)


def test_one_scan_lets_all_in_and_each_is_an_entry_of_its_own(gate: GateAtHome) -> None:
    result = present(gate, a_party_code(*FIVE))
    assert (result["verdict"], result["reason"], result["party"]["admitted"]) == ("admit", "admitted", 5)
    assert sorted(admitted(gate)) == sorted(ids(FIVE))
    assert gate.lamp.given == [result]
    shown = {entry.details["party"].hex() for entry in gate.presentations()}
    assert shown == {result["party"]["code"]}
    # No ticket's own code was shown, and nobody may claim that it was.
    assert {entry.code_hash for entry in gate.presentations()} == {b""}
    assert gate.context.journal.verify().ok


def test_their_own_codes_are_used_afterwards_and_at_every_reader(gate: GateAtHome) -> None:
    present(gate, a_party_code(1, 2))
    assert [gate.scan(a_code(number), reader="r2")["reason"] for number in (1, 2, 3)] == [
        "already_used",
        "already_used",
        "admitted",
    ]


def test_who_is_in_already_is_listed_and_the_rest_come_in(gate: GateAtHome) -> None:
    gate.scan(a_code(2), reader="r2")
    result = present(gate, a_party_code(1, 2, 3))
    assert members_of(result) == {
        "1": ("in", "admitted"),
        "2": ("refused", "already_used"),
        "3": ("in", "admitted"),
    }
    assert (result["verdict"], result["party"]["admitted"], result["party"]["size"]) == ("admit", 2, 3)


def test_each_ticket_is_judged_by_its_own_row(gate: GateAtHome) -> None:
    rows = list(the_house(1))
    rows += [a_ticket_row(2, issue=2), a_ticket_row(3, state=TicketState.CANCELLED), a_ticket_row(4, issue=2)]
    give_rows(gate, rows)
    result = present(gate, a_party_code(1, 2, 3, 4, 9, issues={4: 2}))
    found = [(one["ticket"]["number"], one["reason"]) for one in result["party"]["members"]]
    assert found == [
        ("NIGHT-000001", "admitted"),
        ("NIGHT-000002", "ticket_replaced"),
        ("NIGHT-000003", "ticket_cancelled"),
        ("NIGHT-000004", "admitted"),
        # Of a ticket that was sold after the last sync a party's code says too little: its own code admits it.
        (None, "not_in_snapshot"),
    ]


def test_a_party_made_of_newer_codes_than_the_rows_is_believed_like_a_newer_ticket(gate: GateAtHome) -> None:
    later = present(gate, a_party_code(1, 2, issues={1: 2}, issued_at=(EVENING + 60_000) // 1000))
    assert members_of(later) == {"1": ("in", "admitted"), "2": ("in", "admitted")}
    assert "not_yet_synced" in later["notices"]


def test_nobody_who_may_come_in_is_a_refusal_of_each(gate: GateAtHome) -> None:
    present(gate, a_party_code(1, 2))
    gate.hands.pass_ms(60_000)
    result = present(gate, a_party_code(1, 2))
    assert (result["verdict"], result["reason"], len(gate.lamp.given)) == ("deny", "already_used", 2)
    assert [entry.reason for entry in gate.presentations()][2:] == ["already_used"] * 2


def test_a_party_of_another_event_is_refused(gate: GateAtHome) -> None:
    give_rows(gate, [row for row in the_house(3) if not isinstance(row, EventRow)])
    assert present(gate, a_party_code(1, 2))["verdict"] == "deny"


def test_a_place_is_counted_for_each(gate: GateAtHome) -> None:
    give_rows(gate, a_standing_house(6, 5))
    result = present(gate, a_party_code(*FIVE))
    assert [one["reason"] for one in result["party"]["members"]] == ["admitted"] * 3 + ["zone_full"] * 2


def test_held_up_a_moment_longer_it_is_the_same_presentation(gate: GateAtHome) -> None:
    parties = parties_at(gate)
    present(gate, a_party_code(1, 2), parties)
    gate.hands.pass_ms(2_000)
    assert present(gate, a_party_code(1, 2), parties)["again"] is True
    assert (len(gate.presentations()), len(gate.lamp.repeated)) == (2, 1)


def test_a_test_admits_nobody_and_counts_nobody(gate: GateAtHome) -> None:
    result = present(gate, a_party_code(1, 2), mode="test")
    assert members_of(result) == {"1": ("in", "test_ok"), "2": ("in", "test_ok")}
    assert members_of(present(gate, a_party_code(1, 2), reader="r2")) == {
        "1": ("in", "admitted"),
        "2": ("in", "admitted"),
    }


def test_they_leave_together_too(gate: GateAtHome) -> None:
    present(gate, a_party_code(1, 2))
    result = present(gate, a_party_code(1, 2), reader="out", direction="exit")
    assert (result["reason"], result["party"]["admitted"]) == ("exited", 2)


class TestChosen:
    def test_a_list_admits_nobody_until_somebody_chooses(self, gate: GateAtHome) -> None:
        seen: list[dict[str, Any] | None] = []
        parties = parties_at(gate, asks=True, show=seen.append)
        listed = present(gate, a_party_code(*FIVE), parties)
        assert (listed["committed"], gate.presentations(), gate.lamp.given) == (False, [], [])
        assert seen[-1] is not None
        result = parties.chosen(seen[-1]["number"], ids((2, 4)), gate.lamp)()
        assert sorted(admitted(gate)) == sorted(ids((2, 4)))
        assert (result["party"]["admitted"], result["message"]) == (2, "2 of 5 of this party come in.")

    def test_all_are_those_who_may(self, gate: GateAtHome) -> None:
        gate.scan(a_code(1), reader="r2")
        parties = parties_at(gate, asks=True)
        present(gate, a_party_code(1, 2, 3), parties)
        parties.chosen(1, None, gate.lamp)()
        assert len(gate.presentations()) == 3

    def test_a_list_that_is_over_lets_nobody_in(self, gate: GateAtHome) -> None:
        parties = parties_at(gate, asks=True)
        present(gate, a_party_code(1, 2), parties)
        gate.hands.pass_ms(CHOICE_MS)
        parties.tidy()
        with pytest.raises(Conflict):
            parties.chosen(1, None, gate.lamp)
        present(gate, a_party_code(1, 2), parties)
        parties.dismiss(2)
        with pytest.raises(Conflict):
            parties.chosen(2, None, gate.lamp)
        assert gate.presentations() == []

    def test_a_list_is_used_once(self, gate: GateAtHome) -> None:
        parties = parties_at(gate, asks=True)
        present(gate, a_party_code(1, 2), parties)
        parties.chosen(1, None, gate.lamp)
        with pytest.raises(Conflict):
            parties.chosen(1, None, gate.lamp)

    def test_looking_lists_them_and_nothing_can_be_chosen(self, gate: GateAtHome) -> None:
        parties = parties_at(gate, asks=True)
        result = parties.look(Presentation(a_party_code(1, 2), "r1"))
        assert (result["looked"], result["party"]["size"]) == (True, 2)
        with pytest.raises(Conflict):
            parties.chosen(1, None, gate.lamp)


class TestTurns:
    def test_the_next_is_recorded_when_the_one_before_is_through(self, gate: GateAtHome) -> None:
        stile = Turnstile(gate)
        result = stile.present(a_party_code(*FIVE))
        assert (stile.through, result["party"]["admitted"], len(admitted(gate))) == (5, 5, 5)

    def test_who_does_not_go_through_is_taken_back_and_nobody_after_is_recorded(self, gate: GateAtHome) -> None:
        stile = Turnstile(gate, [True, True, False])
        result = stile.present(a_party_code(*FIVE))
        standings = [one["standing"] for one in result["party"]["members"]]
        assert standings == ["in", "in", "taken_back", "may", "may"]
        assert [entry.kind for entry in gate.entries()][-2:] == ["presentation", "annulment"]
        annulment = gate.entries()[-1]
        assert (annulment.override_by, annulment.details["policy"]) == (0, "not_turned")
        gate.hands.pass_ms(60_000)
        again = stile.present(a_party_code(*FIVE))
        assert (again["party"]["admitted"], stile.through) == (3, 5)

    def test_nobody_else_is_judged_while_a_party_goes_in(self, gate: GateAtHome) -> None:
        stile = Turnstile(gate)
        refused: list[str] = []

        class Beside(Turnstile):
            def show(self, result: dict[str, Any], verdict: Verdict, mode: Mode) -> None:
                with pytest.raises(Conflict) as busy:
                    stile.parties.present(Presentation(a_code(5), "r2"), gate.lamp)
                refused.append(busy.value.error_code)
                super().show(result, verdict, mode)

        beside = Beside(gate)
        beside.turns, beside.parties = stile.turns, stile.parties
        beside.present(a_party_code(1, 2))
        assert refused == ["party_going_in"] * 2
        assert gate.scan(a_code(5))["reason"] == "admitted"

    @pytest.mark.parametrize("turn", range(5))
    @pytest.mark.parametrize("when", ["cut before", "cut after"])
    @pytest.mark.parametrize("reboot", [False, True])
    def test_a_power_cut_at_any_turn_lets_everybody_in_once(
        self, gate: GateAtHome, turn: int, when: str, reboot: bool
    ) -> None:
        stile = Turnstile(gate, [*[True] * turn, when])
        with pytest.raises(PowerCut):
            stile.present(a_party_code(*FIVE))
        assert stile.through == turn
        gate.crash(reboot=reboot)
        after = Turnstile(gate)
        result = after.present(a_party_code(*FIVE))
        assert stile.through + after.through == 5
        assert sorted(admitted(gate)) == sorted(ids(FIVE))
        assert result["party"]["admitted"] == 5 - turn
        gate.hands.pass_ms(60_000)
        assert after.present(a_party_code(*FIVE))["verdict"] == "deny"
        assert gate.context.journal.verify().ok

    def test_a_barrier_that_stops_turning_is_reported(self, gate: GateAtHome) -> None:
        broken: list[bool] = []
        turns = Turns(
            told=True,
            within_ms=TURN_MS,
            monotonic_ms=gate.context.time.monotonic_ms,
            take_back=lambda _seq: None,
            report=broken.append,
        )
        for seq in (1, 2, 3):
            turns.opened(seq)
            gate.hands.pass_ms(TURN_MS)
            turns.expire()
        turns.turned()
        assert broken == [False, False, True, False]

    def test_who_was_admitted_first_goes_first(self, gate: GateAtHome) -> None:
        gone: list[int] = []
        turns = Turns(told=True, within_ms=TURN_MS, monotonic_ms=gate.context.time.monotonic_ms, take_back=gone.append)
        turns.opened(7)
        gate.hands.pass_ms(TURN_MS // 2)
        turns.opened(8)
        turns.turned()
        gate.hands.pass_ms(TURN_MS)
        turns.expire()
        assert gone == [8]
        assert turns.wait(8, threading.Event()) is False

    def test_a_barrier_that_tells_nothing_takes_nobody_back(self, gate: GateAtHome) -> None:
        turns = Turns(
            told=False,
            within_ms=TURN_MS,
            untold_ms=500,
            monotonic_ms=gate.context.time.monotonic_ms,
            take_back=pytest.fail,
        )
        turns.opened(1)
        gate.hands.pass_ms(500)
        turns.expire()
        assert turns.wait(1, threading.Event())


@pytest.mark.parametrize("cut_after", range(6))
def test_without_a_barrier_a_power_cut_burns_no_ticket(gate: GateAtHome, cut_after: int) -> None:
    """They are recorded one by one and shown at once: killed in between, all that were recorded are still owed."""
    lamp, parties = LampOnTheTable(), parties_at(gate)
    inner, judged = gate.context.gate.handle, 0

    def handle(presentation: Presentation, light: Any) -> dict[str, Any]:
        nonlocal judged
        if judged == cut_after:
            raise PowerCut
        judged += 1
        return inner(presentation, light)

    mortal: Any = gate.context.gate
    mortal.handle = handle
    lamp.cut = cut_after == 5
    with pytest.raises(PowerCut):
        parties.present(Presentation(a_party_code(*FIVE), "r1"), lamp)
    gate.crash()
    result = present(gate, a_party_code(*FIVE))
    assert result["party"]["admitted"] == 5
    assert sorted(admitted(gate)) == sorted(ids(FIVE))


def test_the_event_of_a_party_is_the_event_of_its_code(gate: GateAtHome) -> None:
    present(gate, a_party_code(1, 2))
    assert {entry.event for entry in gate.presentations()} == {EVENT}


def test_each_of_a_party_gets_a_badge(gate: GateAtHome) -> None:
    told: list[int | None] = []
    badges: Any = SimpleNamespace(recorded=told.append)
    nothing: Any = SimpleNamespace(show=lambda *_what: False, has_lane=lambda _reader: False)
    lamp = LampAndScreen(nothing, nothing, badges=badges)
    result = parties_at(gate).present(Presentation(a_party_code(1, 2), "r1"), lamp)
    assert sorted(seq for seq in told if seq) == sorted(one["seq"] for one in result["party"]["members"])
