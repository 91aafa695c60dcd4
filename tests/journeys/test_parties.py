"""Parties from the server that makes their code, through gates without a network, to the server that checks it all."""

from __future__ import annotations

from typing import Any

from gate_app.scanning.gate import Presentation
from gate_app.scanning.parties import Parties
from sync_server.tickets import queries as tickets
from sync_server.tickets.keys import codes
from tests.journeys.simulated_gate import SimulatedGate
from tests.journeys.world import Sold, World


def party_code(world: World, sold: list[Sold]) -> str:
    """The code that buyers get beside those of the tickets."""
    with world.parts.database.reading() as session:
        found = tickets.tickets_by_id(session, world.organisation, [tickets.internal_id(one.id) for one in sold])
        codes.code_texts(session, list(found.values()), world.parts.sealer)
        return codes.party_text(session, list(found.values()), world.parts.sealer)


def show(gate: SimulatedGate, code: str, reader: str = "left") -> dict[str, Any]:
    parties = Parties(gate.context.gate, gate.context.time.monotonic_ms)
    return parties.present(Presentation(code, reader), gate.lamp)


def reasons(result: dict[str, Any]) -> list[str]:
    return [one["reason"] for one in result["party"]["members"]]


def test_a_party_comes_in_offline_and_the_server_finds_nothing_wrong(any_world: World) -> None:
    world = any_world
    sold, gate, other = world.sell(5), world.gate("A"), world.gate("B")
    gate.sync()
    world.cut_network()
    result = show(gate, party_code(world, sold))
    assert (result["verdict"], reasons(result)) == ("admit", ["admitted"] * 5)
    world.mend_network()
    gate.sync()
    assert (world.inside(), world.counts(), world.conflicts()) == (5, {"admitted": 5}, [])
    other.sync()
    assert [other.reason(one.code) for one in sold] == ["already_used"] * 5


def test_whoever_was_passed_on_stays_out_and_the_rest_come_in(world: World) -> None:
    sold, gate = world.sell(4), world.gate("A")
    code = party_code(world, sold)
    world.change_ticket("reissue", sold[0])
    world.change_ticket("cancel", sold[1])
    gate.sync()
    assert reasons(show(gate, code)) == ["ticket_replaced", "ticket_cancelled", "admitted", "admitted"]
    assert gate.reason(world.code(sold[0].id)) == "admitted"
    gate.sync()
    assert (world.inside(), world.conflicts()) == (3, [])


def test_one_of_a_party_who_came_in_elsewhere_is_the_one_conflict(world: World) -> None:
    sold, first, second = world.sell(3), world.gate("A"), world.gate("B")
    for gate in (first, second):
        gate.sync()
    world.cut_network()
    assert second.reason(sold[1].code) == "admitted"
    world.advance(minutes=1)
    assert reasons(show(first, party_code(world, sold))) == ["admitted"] * 3
    world.mend_network()
    for gate in (first, second):
        gate.sync()
    (conflict,) = world.conflict_rows()
    assert (conflict.kind, conflict.ticket) == ("duplicate", tickets.internal_id(sold[1].id))


def test_one_ticket_or_a_crowd_has_no_code_of_a_party(world: World) -> None:
    assert party_code(world, world.sell(1)) == ""
    assert party_code(world, [*world.sell(15), *world.sell(14)]) == ""
