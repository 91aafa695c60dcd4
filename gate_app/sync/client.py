"""Sends signed requests, and accepts only responses that the server signed for that request."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from gate_app.installation.identity import Identity
from gate_app.sync.counters import Counters
from gate_app.sync.exchange import ApiCall, refusal
from shared.errors import GatehouseError, Unavailable, Untrusted, UpgradeNeeded
from shared.trace import HEADER, begin
from shared.wire.http_signatures import sign_request, verify_answer
from shared.wire.protocol import MEDIA_TYPE

RESPONSE_TIMEOUT_S = 30.0
NOT_THERE_MS = 300_000
"""How long a gate that cannot reach the address for waiting waits at the server's own instead."""
_COUNTER_TRIES = 3
TRACE_ID = "trace_id"
"""Where an error keeps the id of the request that failed."""


@dataclass(frozen=True, slots=True)
class VerifiedAnswer:
    """A verified response, and when its request was sent and it was received (monotonic ms)."""

    status: int
    body: bytes
    server_time: int
    position: str
    sent: int
    received: int
    trace_id: str = ""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """An HTTP request, ready to send."""

    method: str
    url: str
    headers: dict[str, str]
    body: bytes
    timeout_s: float


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A response, not verified yet."""

    status: int
    headers: dict[str, str]
    body: bytes


class Transport(Protocol):
    """Sends HTTP requests."""

    def send(self, request: HttpRequest) -> HttpResponse:
        """Sends a request and returns the response. Raises Unavailable if there is none."""
        ...


class Client:
    """Sends calls as this device and verifies the responses."""

    def __init__(
        self, identity: Identity, counters: Counters, transport: Transport, monotonic_ms: Callable[[], int]
    ) -> None:
        self._identity = identity
        self._key = identity.key()
        self._server_key = identity.server_key()
        self._counters = counters
        self._transport = transport
        self._monotonic_ms = monotonic_ms
        self._waits_at = ""
        self._lost_there = 0
        self._not_there_until = 0

    def wait_at(self, address: str) -> None:
        """From now on sends calls that wait to this address; never unencrypted if the server is reached by HTTPS."""
        scheme = address.partition("://")[0]
        self._waits_at = address if scheme in {"https", self._identity.server.partition("://")[0]} else ""

    def send(self, call: ApiCall) -> VerifiedAnswer:
        """Sends a call; retries if its counter was too low. Raises Unavailable or Untrusted."""
        for _ in range(_COUNTER_TRIES):
            answer = self._send_waiting(call) if call.wait_s else self._send_to(self._identity.server, call)
            last = _last_counter(answer)
            if last is None:
                return answer
            self._counters.go_above(call.channel, last)
        return answer

    def _send_waiting(self, call: ApiCall) -> VerifiedAnswer:
        if self._waits_at and self._monotonic_ms() >= self._not_there_until:
            try:
                answer = self._send_to(self._waits_at, call)
                self._lost_there = 0
                return answer
            except (Unavailable, Untrusted):
                self._lost_there += 1
                if self._lost_there == 1:
                    raise  # as a rule the whole server is away
                self._not_there_until = self._monotonic_ms() + NOT_THERE_MS
        return self._send_to(self._identity.server, call)

    def _send_to(self, server: str, call: ApiCall) -> VerifiedAnswer:
        request, signature = self._build_request(server, call)
        trace = begin(signature)  # which no other request has
        request.headers[HEADER] = trace.header()
        sent = self._monotonic_ms()
        with naming(trace.trace_id):
            response = self._transport.send(request)
            received = self._monotonic_ms()
            try:
                proven = verify_answer(response.status, response.body, response.headers, self._server_key, signature)
            except Untrusted as why:
                raise _untrusted(response) from why
        times = proven.server_time, proven.position, sent, received
        return VerifiedAnswer(response.status, response.body, *times, trace.trace_id)

    def _build_request(self, server: str, call: ApiCall) -> tuple[HttpRequest, bytes]:
        base = urlsplit(server)
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
        return HttpRequest(call.method, url, headers, call.body, RESPONSE_TIMEOUT_S + call.wait_s), _signature_in(
            headers
        )


@contextmanager
def naming(trace_id: str) -> Iterator[None]:
    """Errors of the block name the request by which both sides find it in their logs."""
    try:
        yield
    except GatehouseError as why:
        why.details.setdefault(TRACE_ID, trace_id)
        raise


def trace_of(why: Exception) -> str:
    """The id of the request that failed; empty for errors of this machine."""
    return str(why.details.get(TRACE_ID, "")) if isinstance(why, GatehouseError) else ""


def _signature_in(headers: dict[str, str]) -> bytes:
    return b64decode(headers["Signature"].removeprefix("gate=:").removesuffix(":"))


def _last_counter(answer: VerifiedAnswer) -> int | None:
    if answer.status != 409:
        return None
    refused = refusal(answer.body)
    last = refused.details.get("last")
    return last if refused.error_code == "counter_too_low" and isinstance(last, int) else None


def _untrusted(response: HttpResponse) -> Untrusted:
    """The error for a response that the server did not sign."""
    kind = next((value for name, value in response.headers.items() if name.lower() == "content-type"), "")
    if "html" in kind:
        return Untrusted(
            "Got a web page instead of the server's response. Does this Wi-Fi need a login? Nothing was accepted."
        )
    if response.status == 426:
        return Untrusted(UpgradeNeeded.words)
    return Untrusted(f"The response (HTTP {response.status}) is not signed by our server. It was discarded.")
