"""Every wire a gate may speak through keeps the same promises: the real HTTP one, and the one in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gate_app import commands
from gate_app.sync import http_wire
from gate_app.sync.client import Letter, Reply, Wire
from gate_app.sync.http_wire import HttpWire
from shared.errors import TooLarge, Unavailable
from shared.protocol import HELLO, MEDIA_TYPE
from tests.gate_builders import EVENT, GateAtHome, a_code, a_gate, enrolled, the_house
from tests.server_in_memory import ServerInMemory


@dataclass
class Street:
    """A real port on this machine, with whatever is behind it."""

    behind: Callable[[Letter], Reply] = field(default=lambda letter: Reply(204, {}, b""))
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
            reply = here.behind(Letter(self.command, url, dict(self.headers), body, 5))
            self.send_response(reply.status)
            for name, value in (reply.headers | {"Content-Length": str(len(reply.body))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body)

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
def wire() -> Iterator[HttpWire]:
    made = HttpWire()
    yield made
    made.close()


def a_letter(address: str, body: bytes = b"x") -> Letter:
    return Letter("POST", address + HELLO, {"Content-Type": MEDIA_TYPE}, body, 5)


@pytest.fixture(params=["memory", "http"])
def line(request: pytest.FixtureRequest, street: Street, tmp_path: Path) -> tuple[GateAtHome, ServerInMemory, Wire]:
    """A gate, its server, and the wire between them."""
    gate = a_gate(tmp_path)
    server = ServerInMemory(gate.hands, the_house())
    if request.param == "memory":
        return gate, server, server
    street.behind = server.carry
    enrolled(gate.folder, server=street.address)
    gate.lodge.close()
    gate.switch_on()
    return gate, server, request.getfixturevalue("wire")


def test_a_whole_sync_goes_through(line: tuple[GateAtHome, ServerInMemory, Wire]) -> None:
    gate, server, wire = line
    gate.scan(a_code(1))
    told = commands.sync_once(gate.lodge, *gate.lodge.sync(wire, 0))
    assert "error" not in told
    assert gate.lodge.roster.books[EVENT].position.digest == server.digest()
    assert (told["unsent"], told["revision"]) == (0, server.revision)


def test_nobody_at_home_is_told_as_such(wire: HttpWire) -> None:
    with pytest.raises(Unavailable, match="does not answer"):
        wire.carry(a_letter("http://127.0.0.1:9"))


def test_no_redirection_is_followed(street: Street, wire: HttpWire) -> None:
    asked: list[str] = []

    def portal(letter: Letter) -> Reply:
        asked.append(letter.url)
        return Reply(302, {"Location": f"{street.address}/login"}, b"")

    street.behind = portal
    assert wire.carry(a_letter(street.address)).status == 302
    assert len(asked) == 1


def test_an_answer_without_end_is_cut_off(street: Street, wire: HttpWire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_wire, "MAX_MESSAGE_BYTES", 100_000)
    street.behind = lambda letter: Reply(200, {}, bytes(200_000))
    with pytest.raises(TooLarge):
        wire.carry(a_letter(street.address))


def test_this_machines_proxy_has_no_say(street: Street, wire: HttpWire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert wire.carry(a_letter(street.address)).status == 204
