"""Bad networks: login pages, proxies without a server, lost responses, replays and alterations."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy.orm import Session

from gate_app.sync.client import HttpRequest, HttpResponse
from shared.errors import Unavailable
from shared.wire import protocol
from tests.journeys import network_link
from tests.journeys.network_link import Deliver
from tests.journeys.world import World


def test_a_login_page_of_the_venues_wi_fi_changes_nothing(world: World) -> None:
    ticket, other = world.sell(2)
    gate = world.gate("A")
    gate.scan(ticket.code)
    unsent, revision = gate.unsent, gate.sync()["revision"]
    gate.scan(other.code)
    unsent = gate.unsent
    gate.link.fault = network_link.captive_portal
    result = gate.sync()
    assert "web page" in result["error"]
    assert "login" in result["error"]
    assert (gate.unsent, result["revision"]) == (unsent, revision)
    assert gate.reason(ticket.code) == "already_used"
    world.mend_network()
    gate.sync()
    assert world.counts() == {"admitted": 2, "already_used": 1}


def test_a_captive_portal_that_responds_ok_to_an_upload_is_not_taken_for_the_server(any_world: World) -> None:
    world = any_world
    ticket = world.sell_one()
    gate = world.gate("A")
    gate.scan(ticket.code)
    gate.link.fault = network_link.journal_only(network_link.captive_portal)
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
    gate.link.fault = network_link.after(1, network_link.error_page, path=protocol.JOURNAL)
    assert "error" in gate.sync()
    assert 0 < gate.unsent <= 1_200 - 490
    world.mend_network()
    gate.sync()
    assert world.counts() == {"admitted": 2, "already_used": 1_198}
    assert gate.unsent == 0


def test_the_server_fails_while_it_stores_an_upload(any_world: World) -> None:
    world = any_world
    tickets = world.sell(3)
    gate = world.gate("A")
    for ticket in tickets:
        gate.scan(ticket.code)

    def break_down(session: Session, now: int) -> None:
        raise RuntimeError("the server's disk failed")

    hooks = world.parts.database.before_commit
    gate.link.fault = _while(protocol.JOURNAL, lambda: hooks.append(break_down), lambda: hooks.remove(break_down))
    assert "error" in gate.sync()
    assert gate.unsent > 0
    assert world.counts() == {}
    world.mend_network()
    gate.sync()
    assert (world.counts(), gate.unsent) == ({"admitted": 3}, 0)


def _while(path: str, begin: Any, end: Any) -> network_link.Fault:
    """A fault that breaks the server only while it handles one kind of request."""

    def fault(request: HttpRequest, deliver: Deliver) -> HttpResponse:
        if not request.url.endswith(path):
            return deliver(request)
        # The request's counter is stored in a transaction of its own; only the journal's transaction fails.
        begin()
        try:
            return deliver(request)
        finally:
            end()

    return fault


def test_lost_responses_only_cost_a_retry(any_world: World) -> None:
    world = any_world
    tickets = world.sell(5)
    gate = world.gate("A")
    for ticket in tickets:
        gate.scan(ticket.code)
        gate.link.fault = network_link.journal_only(network_link.response_lost)
        gate.sync()
    assert gate.unsent > 0
    world.mend_network()
    gate.sync()
    assert (world.counts(), gate.unsent) == ({"admitted": 5}, 0)
    assert world.conflicts() == []


def test_a_batch_whose_response_was_lost_is_sent_again_and_changes_nothing(any_world: World) -> None:
    world = any_world
    tickets = world.sell(5)
    gate = world.gate("A")
    for ticket in tickets:
        gate.scan(ticket.code)
    gate.link.fault = network_link.response_lost
    for _ in range(3):
        with pytest.raises(Unavailable):
            gate.pusher.run_once()
    world.mend_network()
    assert gate.pusher.run_once()
    assert not gate.pusher.run_once()
    assert (world.counts(), world.inside(), world.conflicts()) == ({"admitted": 5}, 5, [])


def test_a_replayed_response_is_rejected(world: World) -> None:
    ticket = world.sell_one()
    gate = world.gate("A")
    recorded: dict[str, HttpResponse] = {}

    def record(request: HttpRequest, deliver: Deliver) -> HttpResponse:
        recorded[request.url] = deliver(request)
        return recorded[request.url]

    gate.link.fault = record
    gate.sync()
    world.change_ticket("block", ticket)
    gate.link.fault = lambda request, deliver: recorded.get(request.url) or deliver(request)
    assert "not signed by our server" in gate.sync()["error"]
    world.mend_network()
    gate.sync()
    assert gate.reason(ticket.code) == "ticket_blocked"


@pytest.mark.parametrize("position", [0, 100, -1])
def test_one_altered_bit_is_detected(world: World, position: int) -> None:
    ticket = world.sell_one()
    gate = world.gate("A")
    world.change_ticket("block", ticket)

    def alter(request: HttpRequest, deliver: Deliver) -> HttpResponse:
        response = deliver(request)
        body = bytearray(response.body)
        body[min(position, len(body) - 1)] ^= 1
        return HttpResponse(response.status, response.headers, bytes(body))

    gate.link.fault = alter
    assert "not signed by our server" in gate.sync()["error"]
    assert gate.reason(ticket.code) == "admitted"


def test_the_server_restarts_while_gates_work(any_world: World) -> None:
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
