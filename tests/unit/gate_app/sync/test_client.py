"""Only responses that the server signed for this request are accepted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from gate_app.sync.client import NOT_THERE_MS, Client, HttpRequest, HttpResponse, Transport
from gate_app.sync.counters import BLOCK, Counters
from gate_app.sync.exchange import ApiCall
from shared.errors import Unavailable, Untrusted
from shared.wire import protocol
from shared.wire.http_signatures import CounterWindow
from shared.wire.protocol import CHANGES, HELLO, ChangesRequest, HelloRequest
from tests.gate_builders import GateAtHome, a_gate, the_house
from tests.server_in_memory import ServerInMemory

HELLO_CALL = ApiCall("POST", HELLO, "other", body=protocol.encode(HelloRequest(branch=1, last_seq=0, head=bytes(32))))


@pytest.fixture
def gate(tmp_path: Path) -> GateAtHome:
    return a_gate(tmp_path)


@pytest.fixture
def server(gate: GateAtHome) -> ServerInMemory:
    return ServerInMemory(gate.hands, the_house())


def a_client(gate: GateAtHome, server: Transport) -> Client:
    return Client(
        gate.context.require_enrolled(), Counters(gate.context.database), server, gate.context.time.monotonic_ms
    )


def test_a_signed_answer_is_accepted(gate: GateAtHome, server: ServerInMemory) -> None:
    answer = a_client(gate, server).send(HELLO_CALL)
    assert (answer.status, answer.server_time) == (200, gate.hands.true)


def test_a_captive_portal_is_recognised_and_nothing_of_it_is_used(gate: GateAtHome, server: ServerInMemory) -> None:
    server.page = HttpResponse(
        200, {"Content-Type": "text/html; charset=utf-8"}, b"<html>Welcome to Hotel Wi-Fi</html>"
    )
    with pytest.raises(Untrusted, match="need a login"):
        a_client(gate, server).send(HELLO_CALL)


def altered_body(response: HttpResponse) -> HttpResponse:
    return replace(response, body=response.body[:-1] + bytes([response.body[-1] ^ 1]))


def altered_status(response: HttpResponse) -> HttpResponse:
    return replace(response, status=201)


def altered_time(response: HttpResponse) -> HttpResponse:
    return replace(response, headers=response.headers | {"Gatehouse-Time": "1"})


def unsigned(response: HttpResponse) -> HttpResponse:
    return replace(response, headers={"Content-Type": protocol.MEDIA_TYPE})


@pytest.mark.parametrize("alter", [altered_body, altered_status, altered_time, unsigned])
def test_an_altered_answer_is_discarded(
    gate: GateAtHome, server: ServerInMemory, alter: Callable[[HttpResponse], HttpResponse]
) -> None:
    server.alter = alter
    with pytest.raises(Untrusted):
        a_client(gate, server).send(HELLO_CALL)


def test_yesterdays_answer_played_again_is_discarded(gate: GateAtHome, server: ServerInMemory) -> None:
    kept: list[HttpResponse] = []
    server.alter = lambda response: (kept.append(response), kept[0])[1]
    client = a_client(gate, server)
    client.send(HELLO_CALL)
    with pytest.raises(Untrusted):
        client.send(HELLO_CALL)


def test_after_a_restored_card_it_goes_on_above_the_counter_that_the_server_saw(
    gate: GateAtHome, server: ServerInMemory
) -> None:
    server.windows[11, "other"] = CounterWindow(highest=90_000, seen=1)
    client = a_client(gate, server)
    assert client.send(HELLO_CALL).status == 200
    assert server.windows[11, "other"].highest == 90_001


def test_an_answer_that_never_comes_is_reported_as_such(gate: GateAtHome, server: ServerInMemory) -> None:
    server.online = False
    with pytest.raises(Unavailable):
        a_client(gate, server).send(HELLO_CALL)


class Recorder:
    """A transport that records its requests."""

    def __init__(self) -> None:
        self.requests: list[HttpRequest] = []

    def send(self, request: HttpRequest) -> HttpResponse:
        self.requests.append(request)
        raise Unavailable


class TwoAddresses:
    """The server at its own address and at the one for waiting, and which one was asked."""

    def __init__(self, server: ServerInMemory) -> None:
        self._server, self.asked, self.away = server, list[str](), False

    def send(self, request: HttpRequest) -> HttpResponse:
        self.asked.append(request.url.removesuffix(CHANGES))
        if self.away and self.asked[-1] == LISTENER:
            raise Unavailable
        return self._server.send(request)


OWN, LISTENER = "http://server.test", "http://server.test:8001"
WAITING = ApiCall("POST", CHANGES, "pull", body=protocol.encode(ChangesRequest(events=[], wait=25)), wait_s=25)


@pytest.fixture
def addresses(server: ServerInMemory) -> TwoAddresses:
    return TwoAddresses(server)


@pytest.fixture
def client(gate: GateAtHome, addresses: TwoAddresses) -> Client:
    made = a_client(gate, addresses)
    made.wait_at(LISTENER)
    return made


def test_calls_that_wait_go_to_the_address_for_waiting_and_are_signed_for_it(
    client: Client, addresses: TwoAddresses
) -> None:
    assert client.send(WAITING).status == 200
    client.send(replace(WAITING, wait_s=0))
    assert addresses.asked == [LISTENER, OWN]


def test_a_gate_that_cannot_reach_the_address_for_waiting_waits_at_the_server(
    gate: GateAtHome, client: Client, addresses: TwoAddresses
) -> None:
    addresses.away = True
    with pytest.raises(Unavailable):  # the first time, because the whole server may be away
        client.send(WAITING)
    for _ in range(2):
        assert client.send(WAITING).status == 200
    assert addresses.asked == [LISTENER, LISTENER, OWN, OWN]
    addresses.away = False
    gate.hands.pass_ms(NOT_THERE_MS)
    client.send(WAITING)
    assert addresses.asked[-1] == LISTENER, "it tries again after a while"


@pytest.mark.parametrize(
    ("server_url", "address", "asked"),
    [
        ("http://server.test", "", "http://server.test"),
        ("http://server.test", "ftp://server.test", "http://server.test"),
        ("https://server.test", "http://server.test:8001", "https://server.test"),
        ("https://server.test", "https://wait.test", "https://wait.test"),
    ],
)
def test_an_address_for_waiting_that_is_not_as_safe_is_ignored(
    gate: GateAtHome, server_url: str, address: str, asked: str
) -> None:
    transport = Recorder()
    identity = msgspec.structs.replace(gate.context.require_enrolled(), server=server_url)
    client = Client(identity, Counters(gate.context.database), transport, gate.context.time.monotonic_ms)
    client.wait_at(address)
    with pytest.raises(Unavailable):
        client.send(WAITING)
    assert transport.requests[0].url == f"{asked}{CHANGES}"


def test_no_address_holds_a_key_a_code_or_a_name(gate: GateAtHome) -> None:
    transport = Recorder()
    client = Client(
        gate.context.require_enrolled(), Counters(gate.context.database), transport, gate.context.time.monotonic_ms
    )
    with pytest.raises(Unavailable):
        client.send(ApiCall("GET", protocol.SNAPSHOT, "pull", query="event=7&after=&limit=5000"))
    assert transport.requests[0].url == "http://server.test/sync/v1/snapshot?event=7&after=&limit=5000"


def test_counters_never_repeat_over_a_restart(gate: GateAtHome) -> None:
    first = Counters(gate.context.database)
    used = [first.take("pull") for _ in range(3)]
    second = Counters(gate.context.database)
    assert min(second.take("pull") for _ in range(3)) > max(used)
    assert used == [1, 2, 3]


def test_a_block_is_reserved_before_its_first_number_is_used(gate: GateAtHome) -> None:
    counters = Counters(gate.context.database)
    for _ in range(BLOCK + 5):
        number = counters.take("push")
        reserved = gate.context.database.get("counter:push")
        assert isinstance(reserved, int)
        assert reserved >= number
    assert counters.take("pull") == 1, "each channel counts for itself"
