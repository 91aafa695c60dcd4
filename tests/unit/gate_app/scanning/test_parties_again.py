"""A party's code is scanned again: who is in is not let in a second time in place of those who wait."""

from __future__ import annotations

import pytest

from gate_app.display.party import party_view
from shared.tickets import Entitlement
from shared.wire.snapshot import TicketRow
from tests.gate_builders import GateAtHome, PowerCut, a_party_code, a_ticket_row, give_rows, the_house
from tests.unit.gate_app.scanning.test_parties import (
    FIVE,
    TAKEN_BACK_AND_CUT,
    Turnstile,
    admitted,
    gate,
    ids,
    parties_at,
    present,
)

__all__ = ["gate"]


def come_and_go(gate: GateAtHome) -> None:
    """From now on their tickets are good for any number of entries."""
    rows = [one for one in the_house() if not isinstance(one, TicketRow)]
    give_rows(gate, [*rows, *(a_ticket_row(number, entitlement=Entitlement.UNLIMITED_REENTRY) for number in FIVE)])


def test_all_are_not_those_who_have_just_gone_in(gate: GateAtHome) -> None:
    come_and_go(gate)
    parties = parties_at(gate, asks=True)
    present(gate, a_party_code(*FIVE), parties)
    parties.chosen(1, ids((1, 2)), gate.lamp)()
    gate.hands.pass_ms(30_000)
    present(gate, a_party_code(*FIVE), parties)
    view = party_view(parties.listed or {})
    assert [(one.ticked, one.says) for one in view.members[1:3]] == [(False, "Is in"), (True, "May come in")]
    assert view.may == 3
    assert parties.chosen(2, None, gate.lamp)()["party"]["admitted"] == 3
    gate.hands.pass_ms(30_000)
    present(gate, a_party_code(*FIVE), parties)
    assert parties.chosen(3, ids([1]), gate.lamp)()["party"]["admitted"] == 1, "who is chosen comes in again"


@pytest.mark.parametrize("cut", ["cut before", "cut after"])
def test_tickets_that_may_come_and_go_do_not_go_in_twice(gate: GateAtHome, cut: str) -> None:
    come_and_go(gate)
    stile = Turnstile(gate, [True, True, cut])
    with pytest.raises(PowerCut):
        stile.present(a_party_code(*FIVE))
    gate.crash()
    after = Turnstile(gate)
    assert after.present(a_party_code(*FIVE))["party"]["admitted"] == 3
    assert (after.through, admitted(gate)) == (3, ids(FIVE)), "the third first, and without a second entry"


def test_all_of_them_may_come_again(gate: GateAtHome) -> None:
    come_and_go(gate)
    stile = Turnstile(gate)
    stile.present(a_party_code(1, 2))
    gate.hands.pass_ms(20_000)
    assert stile.present(a_party_code(1, 2))["party"]["admitted"] == 2
    assert stile.through == 4


def test_who_is_let_through_when_the_power_fails_goes_first(gate: GateAtHome) -> None:
    asks = parties_at(gate, asks=True)
    stile = Turnstile(gate, ["cut after"])
    present(gate, a_party_code(*FIVE), asks)
    with pytest.raises(PowerCut):
        asks.chosen(1, ids([4]), stile)()
    gate.crash()
    after = Turnstile(gate)
    after.present(a_party_code(*FIVE))
    assert (after.shown, admitted(gate)) == (sorted(after.shown), ids((4, 1, 2, 3, 5)))


def test_what_was_taken_back_is_not_owed_after_a_restart(gate: GateAtHome) -> None:
    Turnstile(gate, [True, False]).present(a_party_code(1, 2))
    gate.crash()
    assert gate.context.gate.lane.owed == ()


def test_power_that_fails_just_after_somebody_was_taken_back_owes_nothing(gate: GateAtHome) -> None:
    with pytest.raises(PowerCut):
        Turnstile(gate, [True, TAKEN_BACK_AND_CUT]).present(a_party_code(1, 2))
    gate.crash()
    assert gate.context.gate.lane.owed == ()
    after = Turnstile(gate)
    assert (after.present(a_party_code(1, 2))["party"]["admitted"], after.through) == (1, 1)
