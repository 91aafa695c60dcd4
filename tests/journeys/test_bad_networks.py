"""Networks that lie: login pages, proxies without a server, answers that never come, replays and strangers."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy.orm import Session

from gate_app.sync.client import Letter, Reply
from shared import protocol
from shared.errors import Unavailable
from tests.journeys import cable
from tests.journeys.cable import Deliver
from tests.journeys.world import World


def test_a_login_page_of_the_house_wi_fi_changes_nothing(world: World) -> None:
    ticket, other = world.sell(2)
    gate = world.gate("A")
    gate.scan(ticket.code)
    unsent, revision = gate.unsent, gate.sync()["revision"]
    gate.scan(other.code)
    unsent = gate.unsent
    gate.cable.trouble = cable.captive_portal
    told = gate.sync()
    assert "web page" in told["error"]
    assert "login" in told["error"]
    assert (gate.unsent, told["revision"]) == (unsent, revision)
    assert gate.reason(ticket.code) == "already_used"
    world.mend_network()
    gate.sync()
    assert world.counts() == {"admitted": 2, "already_used": 1}


def test_a_portal_that_answers_the_upload_with_ok_is_not_taken_for_the_server(any_world: World) -> None:
    world = any_world
    ticket = world.sell_one()
    gate = world.gate("A")
    gate.scan(ticket.code)
    gate.cable.trouble = cable.to_the_journal_only(cable.captive_portal)
    gate.sync()
    assert gate.unsent > 0
    world.mend_network()
    gate.sync()
    assert (gate.unsent, world.counts()) == (0, {"admitted": 1})


def test_an_error_page_half_way_through_a_long_upload(any_world: World) -> None:
    world = any_world
    tickets = world.sell(2)
    gate = world.gate("A")
    for number in range(1_200):
        gate.scan(tickets[number % 2].code)
    gate.cable.trouble = cable.after(1, cable.error_page, path=protocol.JOURNAL)
    assert "error" in gate.sync()
    assert 0 < gate.unsent <= 1_200 - 490
    world.mend_network()
    gate.sync()
    assert world.counts() == {"admitted": 2, "already_used": 1_198}
    assert gate.unsent == 0


def test_the_server_breaks_while_it_keeps_an_upload(any_world: World) -> None:
    world = any_world
    tickets = world.sell(3)
    gate = world.gate("A")
    for ticket in tickets:
        gate.scan(ticket.code)

    def break_down(session: Session, now: int) -> None:
        raise RuntimeError("the disk of the server made a noise")

    acts = world.parts.database.last_acts
    gate.cable.trouble = _while(protocol.JOURNAL, lambda: acts.append(break_down), lambda: acts.remove(break_down))
    assert "error" in gate.sync()
    assert gate.unsent > 0
    assert world.counts() == {}
    world.mend_network()
    gate.sync()
    assert (world.counts(), gate.unsent) == ({"admitted": 3}, 0)


def _while(path: str, begin: Any, end: Any) -> cable.Trouble:
    """Something is wrong with the server while it answers one kind of request, and with nothing before or after."""

    def trouble(letter: Letter, deliver: Deliver) -> Reply:
        if not letter.url.endswith(path):
            return deliver(letter)
        # The request's counter is used up in a transaction of its own; only the one that keeps the journal fails.
        begin()
        try:
            return deliver(letter)
        finally:
            end()

    return trouble


def test_answers_that_never_arrive_cost_nothing_but_another_try(any_world: World) -> None:
    world = any_world
    tickets = world.sell(5)
    gate = world.gate("A")
    for ticket in tickets:
        gate.scan(ticket.code)
        gate.cable.trouble = cable.to_the_journal_only(cable.answer_lost)
        gate.sync()
    assert gate.unsent > 0
    world.mend_network()
    gate.sync()
    assert (world.counts(), gate.unsent) == ({"admitted": 5}, 0)
    assert world.conflicts() == []


def test_a_batch_whose_answer_was_lost_is_sent_again_and_changes_nothing(any_world: World) -> None:
    world = any_world
    tickets = world.sell(5)
    gate = world.gate("A")
    for ticket in tickets:
        gate.scan(ticket.code)
    gate.cable.trouble = cable.answer_lost
    for _ in range(3):
        with pytest.raises(Unavailable):
            gate.pusher.run_once()
    world.mend_network()
    assert gate.pusher.run_once()
    assert not gate.pusher.run_once()
    assert (world.counts(), world.inside(), world.conflicts()) == ({"admitted": 5}, 5, [])


def test_an_old_answer_played_again_is_believed_by_nobody(world: World) -> None:
    ticket = world.sell_one()
    gate = world.gate("A")
    recorded: dict[str, Reply] = {}

    def record(letter: Letter, deliver: Deliver) -> Reply:
        recorded[letter.url] = deliver(letter)
        return recorded[letter.url]

    gate.cable.trouble = record
    gate.sync()
    world.tell_ticket("block", ticket)
    gate.cable.trouble = lambda letter, deliver: recorded.get(letter.url) or deliver(letter)
    assert "not signed by our server" in gate.sync()["error"]
    world.mend_network()
    gate.sync()
    assert gate.reason(ticket.code) == "ticket_blocked"


@pytest.mark.parametrize("place", [0, 100, -1])
def test_one_bit_altered_on_the_way_is_noticed(world: World, place: int) -> None:
    ticket = world.sell_one()
    gate = world.gate("A")
    world.tell_ticket("block", ticket)

    def alter(letter: Letter, deliver: Deliver) -> Reply:
        reply = deliver(letter)
        body = bytearray(reply.body)
        body[min(place, len(body) - 1)] ^= 1
        return Reply(reply.status, reply.headers, bytes(body))

    gate.cable.trouble = alter
    assert "not signed by our server" in gate.sync()["error"]
    assert gate.reason(ticket.code) == "admitted"


def test_the_server_goes_and_comes_back_while_gates_work(any_world: World) -> None:
    world = any_world
    tickets = world.sell(3)
    gate = world.gate("A")
    gate.scan(tickets[0].code)
    world.stop_server()
    assert "error" in gate.sync()
    assert gate.reason(tickets[1].code) == "admitted"
    world.start_server()
    assert "error" not in gate.sync()
    assert gate.reason(tickets[2].code) == "admitted"
    gate.sync()
    assert world.counts() == {"admitted": 3}
