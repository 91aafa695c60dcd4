"""The wire: signs each request, believes only answers that the server signed for that very request."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from gate_app.identity import Identity
from gate_app.sync.counters import Counters
from gate_app.sync.exchange import Call, refusal
from shared.errors import Untrusted, UpgradeNeeded
from shared.http_signatures import sign_request, verify_answer
from shared.protocol import MEDIA_TYPE

ANSWER_S = 30.0
_COUNTER_TRIES = 3


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said, proven, and when it was asked and heard (monotonic ms)."""

    status: int
    body: bytes
    server_time: int
    position: str
    sent: int
    received: int


@dataclass(frozen=True, slots=True)
class Letter:
    """An HTTP request as it leaves, and as it was signed."""

    method: str
    url: str
    headers: dict[str, str]
    body: bytes
    timeout_s: float


@dataclass(frozen=True, slots=True)
class Reply:
    """Whatever came back, from whomever."""

    status: int
    headers: dict[str, str]
    body: bytes


class Wire(Protocol):
    """Carries a letter and brings a reply. Raises Unavailable when nothing came back."""

    def carry(self, letter: Letter) -> Reply:
        """One request, one answer."""
        ...


class Client:
    """Sends calls as this device and answers with what is proven."""

    def __init__(self, identity: Identity, counters: Counters, wire: Wire, monotonic_ms: Callable[[], int]) -> None:
        """Opens nothing yet."""
        self._identity = identity
        self._key = identity.key()
        self._server_key = identity.server_key()
        self._counters = counters
        self._wire = wire
        self._monotonic_ms = monotonic_ms

    def send(self, call: Call) -> Answer:
        """The server's answer. Raises Unavailable or Untrusted; a counter that fell behind is put right by itself."""
        for _ in range(_COUNTER_TRIES):
            answer = self._send_once(call)
            last = _last_counter(answer)
            if last is None:
                return answer
            self._counters.go_above(call.channel, last)
        return answer

    def _send_once(self, call: Call) -> Answer:
        letter, signature = self._letter(call)
        sent = self._monotonic_ms()
        reply = self._wire.carry(letter)
        received = self._monotonic_ms()
        try:
            proven = verify_answer(reply.status, reply.body, reply.headers, self._server_key, signature)
        except Untrusted as why:
            raise _stranger(reply) from why
        return Answer(reply.status, reply.body, proven.server_time, proven.position, sent, received)

    def _letter(self, call: Call) -> tuple[Letter, bytes]:
        base = urlsplit(self._identity.server)
        path = base.path.rstrip("/") + call.path
        headers = sign_request(
            call.method,
            base.netloc,
            path,
            call.query,
            call.body,
            key=self._key,
            device=self._identity.device_number,
            channel=call.channel,
            counter=self._counters.take(call.channel),
        )
        url = f"{base.scheme}://{base.netloc}{path}" + (f"?{call.query}" if call.query else "")
        headers |= {"Content-Type": MEDIA_TYPE, "Accept": MEDIA_TYPE}
        return Letter(call.method, url, headers, call.body, ANSWER_S + call.wait_s), _signature_in(headers)


def _signature_in(headers: dict[str, str]) -> bytes:
    return b64decode(headers["Signature"].removeprefix("gate=:").removesuffix(":"))


def _last_counter(answer: Answer) -> int | None:
    if answer.status != 409:
        return None
    told = refusal(answer.body)
    last = told.details.get("last")
    return last if told.error_code == "counter_too_low" and isinstance(last, int) else None


def _stranger(reply: Reply) -> Untrusted:
    """Words for what came back instead of the server's answer."""
    kind = next((value for name, value in reply.headers.items() if name.lower() == "content-type"), "")
    if "html" in kind:
        return Untrusted(
            "A web page came back instead of our server's answer: is this Wi-Fi waiting for a login? Nothing was used."
        )
    if reply.status == 426:
        return Untrusted(UpgradeNeeded.words)
    return Untrusted(f"What came back (HTTP {reply.status}) is not signed by our server. Nothing of it was used.")
