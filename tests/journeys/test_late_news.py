"""Changes that an organiser makes while gates are offline."""

from __future__ import annotations

import pytest

from tests.journeys.world import World, iso


@pytest.mark.parametrize(("what", "reason"), [("cancel", "ticket_cancelled"), ("block", "ticket_blocked")])
def test_ticket_revoked_while_the_gate_is_offline_and_admitted_there(any_world: World, what: str, reason: str) -> None:
    world = any_world
    ticket = world.sell_one()
    gate = world.gate("A")
    world.cut_network()
    world.advance(minutes=5)
    world.change_ticket(what, ticket)
    world.advance(minutes=5)
    assert gate.reason(ticket.code) == "admitted"
    world.mend_network()
    gate.sync()
    (conflict,) = world.conflict_rows()
    assert (conflict.kind, conflict.reason, conflict.order_unsure) == ("admitted_though_dead", reason, False)
    assert conflict.scans[0]["device"] == gate.number
    assert gate.reason(ticket.code) == reason


def test_ticket_revoked_after_the_guest_was_in_is_no_conflict(any_world: World) -> None:
    world = any_world
    ticket = world.sell_one()
    gate = world.gate("A")
    world.cut_network()
    assert gate.reason(ticket.code) == "admitted"
    world.advance(minutes=5)
    world.change_ticket("cancel", ticket)
    world.mend_network()
    gate.sync()
    assert world.conflicts() == []


def test_ticket_reissued_and_the_old_code_shown(world: World) -> None:
    ticket = world.sell_one()
    gate, deaf = world.gate("A"), world.gate("B")
    world.advance(minutes=1)
    world.cut_network(deaf)
    world.change_ticket("reissue", ticket)
    fresh = world.code(ticket.id)
    gate.sync()
    assert gate.reason(ticket.code) == "ticket_replaced"
    assert deaf.reason(fresh) == "admitted", "a later issue than the row's is trusted like an unknown ticket"
    assert deaf.reason(ticket.code) == "ticket_replaced"
    world.mend_network()
    deaf.sync()
    gate.sync()
    assert gate.reason(fresh) == "already_used"
    assert world.conflicts() == []


def test_the_old_code_passes_an_offline_gate_and_the_new_one_another(world: World) -> None:
    ticket = world.sell_one()
    gate, deaf = world.gate("A"), world.gate("B")
    world.cut_network(deaf)
    world.advance(minutes=1)
    world.change_ticket("reissue", ticket)
    gate.sync()
    assert gate.reason(world.code(ticket.id)) == "admitted"
    world.advance(minutes=1)
    assert deaf.reason(ticket.code) == "admitted"
    world.mend_network()
    gate.sync()
    deaf.sync()
    assert sorted(world.conflicts()) == ["admitted_though_dead"]


def test_tickets_with_a_new_key_at_a_gate_that_does_not_have_it(world: World) -> None:
    gate = world.gate("A")
    world.cut_network()
    world.advance(minutes=1)
    world.ask("POST", "/api/keys/rotate", {"at_once": True})
    ticket = world.sell_one()
    assert gate.reason(ticket.code) == "unknown_key"
    world.mend_network()
    gate.sync()
    assert gate.reason(ticket.code) == "admitted"
    gate.sync()
    assert world.conflicts() == []


def test_a_new_key_is_used_only_after_gates_had_a_day_to_get_it(world: World) -> None:
    gate = world.gate("A")
    world.ask("POST", "/api/keys/rotate", {})
    world.cut_network()
    world.advance(minutes=1)
    ticket = world.sell_one()
    assert gate.reason(ticket.code) == "admitted"


def test_tickets_of_a_revoked_key_are_refused_once_gates_sync(world: World) -> None:
    known, offline = world.sell(2)
    gate, deaf = world.gate("A"), world.gate("B")
    (key,) = world.ask("GET", "/api/keys")["items"]
    world.advance(minutes=1)
    world.cut_network(deaf)
    world.ask("POST", "/api/keys/rotate", {"at_once": True})
    world.ask("POST", f"/api/keys/{key['id']}/revoke", {"kills": 2, "reason": "A laptop was stolen."})
    gate.sync()
    assert gate.reason(known.code) == "unknown_key"
    assert deaf.reason(offline.code) == "admitted"
    world.mend_network()
    deaf.sync()
    assert deaf.reason(offline.code) == "unknown_key"
    assert world.counts() == {"admitted": 1}
    world.change_ticket("reissue", known)
    gate.sync()
    assert gate.reason(world.code(known.id)) == "admitted"


def test_a_distrusted_key_is_valid_for_tickets_that_the_gate_knows(world: World) -> None:
    known = world.sell_one()
    gate = world.gate("A")
    (key,) = world.ask("GET", "/api/keys")["items"]
    world.ask("POST", f"/api/keys/{key['id']}/distrust", {"reason": "Perhaps a leak."})
    gate.sync()
    assert gate.reason(known.code) == "admitted"


def test_event_cancelled_while_gates_are_offline(any_world: World) -> None:
    world = any_world
    early, late = world.sell(2)
    gate = world.gate("A")
    world.cut_network()
    assert gate.reason(early.code) == "admitted"
    world.advance(minutes=5)
    world.change_event("cancel")
    world.advance(minutes=5)
    assert gate.reason(late.code) == "admitted"
    world.mend_network()
    gate.sync()
    assert gate.reason(late.code) == "event_cancelled"
    assert world.counts() == {"admitted": 2}
    assert world.inside() == 2


def test_an_event_postponed_after_admissions_starts_again_from_zero(world: World) -> None:
    ticket = world.sell_one()
    gate = world.gate("A")
    assert gate.reason(ticket.code) == "admitted"
    world.advance(minutes=5)
    world.change_event("postpone", reason="Thunderstorm")
    gate.sync()
    assert gate.reason(ticket.code) == "event_postponed"
    world.change_event("reschedule", rescheduled_at=iso(world.now + 24 * 3_600_000))
    gate.sync()
    world.cut_network()
    world.advance(hours=24, minutes=10)
    assert gate.reason(ticket.code) == "admitted_reentry"


def test_sold_at_the_box_office_while_the_gate_is_offline(any_world: World) -> None:
    world = any_world
    gate = world.gate("A")
    world.cut_network()
    world.advance(minutes=10)
    ticket = world.sell_one()
    result = gate.scan(ticket.code)
    assert (result["reason"], result["notices"]) == ("admitted", ["not_yet_synced"])
    world.mend_network()
    gate.sync()
    assert world.conflicts() == []
    assert world.counts() == {"admitted": 1}


def test_a_strict_policy_refuses_unknown_tickets(world: World) -> None:
    strict = world.create_event("Strict", known_tickets_only=True)
    gate = world.gate("A", event=strict)
    world.cut_network()
    world.advance(minutes=10)
    assert gate.reason(world.sell_one(event=strict).code) == "not_in_snapshot"
