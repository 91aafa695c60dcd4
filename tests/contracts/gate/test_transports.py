"""Every transport to the server behaves alike: the real HTTP one, and the one in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gate_app.command_line import commands
from gate_app.sync import http_transport
from gate_app.sync.client import HttpRequest, HttpResponse, Transport
from gate_app.sync.http_transport import HttpTransport
from shared.errors import TooLarge, Unavailable
from shared.wire.protocol import HELLO, MEDIA_TYPE
from tests.gate_builders import EVENT, GateAtHome, a_code, a_gate, enrolled, the_house
from tests.server_in_memory import ServerInMemory


@dataclass
class Street:
    """A real port on this machine, with whatever is behind it."""

    behind: Callable[[HttpRequest], HttpResponse] = field(default=lambda request: HttpResponse(204, {}, b""))
    address: str = ""


@pytest.fixture
def street() -> Iterator[Street]:
    """Passes every request on to `behind`, over real HTTP."""
    here = Street()

    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            url = f"http://{self.headers['Host']}{self.path}"
            response = here.behind(HttpRequest(self.command, url, dict(self.headers), body, 5))
            self.send_response(response.status)
            for name, value in (response.headers | {"Content-Length": str(len(response.body))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(response.body)

        do_GET = do_POST = answer  # noqa: N815 - the library's names

        def log_message(self, *_words: object) -> None:
            return

    class House(ThreadingHTTPServer):
        def handle_error(self, *_guest: object) -> None:
            return  # a guest who hangs up in the middle is what one of these stories is about

    server = House(("127.0.0.1", 0), Door)
    here.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield here
    server.shutdown()
    server.server_close()
    thread.join(30)


@pytest.fixture
def transport() -> Iterator[HttpTransport]:
    made = HttpTransport()
    yield made
    made.close()


def a_request(address: str, body: bytes = b"x") -> HttpRequest:
    return HttpRequest("POST", address + HELLO, {"Content-Type": MEDIA_TYPE}, body, 5)


@pytest.fixture(params=["memory", "http"])
def line(
    request: pytest.FixtureRequest, street: Street, tmp_path: Path
) -> tuple[GateAtHome, ServerInMemory, Transport]:
    """A gate, its server, and the transport between them."""
    gate = a_gate(tmp_path)
    server = ServerInMemory(gate.hands, the_house())
    if request.param == "memory":
        return gate, server, server
    street.behind = server.send
    enrolled(gate.folder, server=street.address)
    gate.context.close()
    gate.switch_on()
    return gate, server, request.getfixturevalue("transport")


def test_a_whole_sync_goes_through(line: tuple[GateAtHome, ServerInMemory, Transport]) -> None:
    gate, server, transport = line
    gate.scan(a_code(1))
    result = commands.sync_once(gate.context, *gate.context.sync(transport, 0))
    assert "error" not in result
    assert gate.context.roster.snapshots[EVENT].position.digest == server.digest()
    assert (result["unsent"], result["revision"]) == (0, server.revision)


def test_no_server_is_reported_as_such(transport: HttpTransport) -> None:
    with pytest.raises(Unavailable, match="does not answer"):
        transport.send(a_request("http://127.0.0.1:9"))


def test_no_redirect_is_followed(street: Street, transport: HttpTransport) -> None:
    asked: list[str] = []

    def portal(request: HttpRequest) -> HttpResponse:
        asked.append(request.url)
        return HttpResponse(302, {"Location": f"{street.address}/login"}, b"")

    street.behind = portal
    assert transport.send(a_request(street.address)).status == 302
    assert len(asked) == 1


def test_an_answer_without_end_is_cut_off(
    street: Street, transport: HttpTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_transport, "MAX_MESSAGE_BYTES", 100_000)
    street.behind = lambda request: HttpResponse(200, {}, bytes(200_000))
    with pytest.raises(TooLarge):
        transport.send(a_request(street.address))


def test_this_machines_proxy_has_no_say(
    street: Street, transport: HttpTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert transport.send(a_request(street.address)).status == 204
