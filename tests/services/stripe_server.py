"""Stripe for tests: localstripe in a process of its own, and before it a front with what localstripe leaves out.

That is idempotency keys, refusing keys, refunds beyond a payment, disputes, and networks that lose a request or its
answer.
"""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlencode

import pytest

from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, free_port, responds
from tests.services.own_environment import environment_of

__all__ = ["localstripe", "stripe_front"]

REQUIREMENTS: Final = Path(__file__).parents[2] / "requirements" / "localstripe.txt"
SECRET_KEY, PUBLISHABLE_KEY = "sk_test_gatehouse0000", "pk_test_gatehouse0000"
Answer = tuple[int, bytes]
IN_MEMORY: Final = (
    "import localstripe.resources as kept; kept.Store.dump_to_disk = lambda _: None\n"
    "from localstripe.server import start; start()"
)
"""It writes all it has to one file in /tmp at each request: slower with each, and shared by all that run."""


@dataclass
class StripeFront:
    """Where the server under test reaches Stripe, and what tests do there: buyers who pay, networks that fail."""

    behind: int  # the port of localstripe
    port: int = field(default_factory=free_port)
    asked: list[tuple[str, str]] = field(default_factory=list)
    refused_keys: set[str] = field(default_factory=set)
    lost_requests: dict[str, int] = field(default_factory=dict)  # by path: so many never arrive
    lost_answers: dict[str, int] = field(default_factory=dict)  # by path: so many are carried out, and not answered
    refund_states: dict[str, str] = field(default_factory=dict)  # by refund, where it is not as localstripe says
    disputes: dict[str, dict[str, Any]] = field(default_factory=dict)  # by id, in the shape that Stripe documents
    before_answer: Callable[[str, str], None] = lambda *_: None
    _answers: dict[str, tuple[bytes, Answer]] = field(default_factory=dict)
    _locks: dict[str, threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def handle(self, method: str, path: str, key: str, body: bytes, idempotency: str) -> Answer | None:
        """The answer to a request of the server under test; None where the network loses it."""
        self.asked.append((method, path.partition("?")[0]))
        if key in self.refused_keys:
            return 401, _error("invalid_request_error", "", "Invalid API Key provided")
        if self._takes(self.lost_requests, path):
            return None
        answer = self._once(method, path, body, idempotency)
        self.before_answer(method, path)
        return None if self._takes(self.lost_answers, path) else answer

    def _takes(self, lost: dict[str, int], path: str) -> bool:
        with self._lock:
            for part, count in lost.items():
                if count and part in path:
                    lost[part] -= 1
                    return True
        return False

    def _once(self, method: str, path: str, body: bytes, key: str) -> Answer:
        """A repeated key gets the stored answer, whatever has happened since: as Stripe documents it."""
        if not key or method != "POST":
            return self._carry_out(method, path, body)
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key in self._answers:
                sent, answer = self._answers[key]
                if sent != body:
                    return 400, _error("idempotency_error", "", "Keys can only be used with the same parameters")
                return answer
            answer = self._carry_out(method, path, body)
            self._answers[key] = (body, answer)
            return answer

    def forget_keys(self) -> None:
        """A day has passed."""
        self._answers.clear()

    def _carry_out(self, method: str, path: str, body: bytes) -> Answer:
        if (method, path) == ("POST", "/v1/refunds"):
            with self._lock:
                return self._too_much(body) or self.call(method, path, body)
        if path.startswith("/v1/disputes?"):
            return self._disputes_of(parse_qs(path.partition("?")[2]))
        status, answer = self.call(method, path, body)
        if path.startswith("/v1/refunds") and status == 200 and self.refund_states:
            found = json.loads(answer)
            for refund in found["data"]:
                refund["status"] = self.refund_states.get(refund["id"], refund["status"])
            answer = json.dumps(found).encode()
        return status, answer

    def dispute(
        self,
        intent: str,
        status: str,
        *,
        cents: int | None = None,
        moved: int = 0,
        number: int = 1,
        created: int = 1 << 31,
    ) -> Any:
        """What a buyer's bank has decided of a payment so far; `moved` of its cents have gone, or come back."""
        id = f"dp_{number}_{intent}"
        before = self.disputes.get(id, {"balance_transactions": []})
        fee = 1500 if moved < 0 else 0  # kept, whoever wins
        entry = {"amount": moved, "currency": "eur", "fee": fee, "net": moved - fee}
        transactions = [*before["balance_transactions"], *([entry] if moved else [])]
        self.disputes[id] = {
            "id": id,
            "object": "dispute",
            "amount": self.intent(intent)["amount"] if cents is None else cents,
            "balance_transactions": transactions,
            "charge": f"ch_{intent}",
            "created": before.get("created", created),
            "currency": "eur",
            "evidence_details": {"due_by": 1_790_000_000, "has_evidence": False},
            "payment_intent": intent,
            "reason": "fraudulent",
            "status": status,
        }
        return self.disputes[id]

    def _disputes_of(self, asked: dict[str, list[str]]) -> Answer:
        intent, since = asked.get("payment_intent"), int(asked.get("created[gte]", ["0"])[0])
        found = [each for each in self.disputes.values() if each["created"] >= since]
        found = [each for each in found if intent is None or [each["payment_intent"]] == intent]
        page = {"object": "list", "data": found, "has_more": False, "url": "/v1/disputes"}
        return 200, json.dumps(page).encode()

    def _too_much(self, body: bytes) -> Answer | None:
        wanted = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        intent = self.intent(wanted["payment_intent"])
        refunded = sum(refund["amount"] for refund in self.refunds(wanted["payment_intent"]))
        if refunded + int(wanted["amount"]) <= intent["amount"]:
            return None
        return 400, _error("invalid_request_error", "charge_already_refunded", "greater than unrefunded amount")

    def call(self, method: str, path: str, body: bytes | None = None) -> Answer:
        """Ask localstripe itself."""
        connection = http.client.HTTPConnection(LOOPBACK, self.behind, timeout=30)
        headers = {"Authorization": f"Bearer {SECRET_KEY}", "Content-Type": "application/x-www-form-urlencoded"}
        try:
            connection.request(method, path, body=body, headers=headers)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def ask(self, method: str, path: str, **fields: str) -> Any:
        """Ask localstripe itself, and expect success."""
        status, answer = self.call(method, path, urlencode(fields).encode() if fields else None)
        assert status == 200, (path, answer)
        return json.loads(answer or b"null")

    def pay(self, intent: str, card: str = "pm_card_visa") -> None:
        """The buyer's browser pays."""
        self.ask("POST", f"/v1/payment_intents/{intent}", payment_method=card)
        status, answer = self.call("POST", f"/v1/payment_intents/{intent}/confirm", b"")
        assert status == (402 if "Fail" in card else 200), answer

    def intent(self, id: str) -> Any:
        return self.ask("GET", f"/v1/payment_intents/{id}")

    def intents(self) -> list[Any]:
        return list(self.ask("GET", "/v1/payment_intents?limit=1000")["data"])

    def refunds(self, intent: str = "") -> list[Any]:
        where = f"&payment_intent={intent}" if intent else ""
        return list(self.ask("GET", f"/v1/refunds?limit=100000{where}")["data"])

    def told(self, kind: str) -> list[Any]:
        """What Stripe tells by webhook, of this kind; tests bring it when they like."""
        return [each for each in self.ask("GET", "/v1/events?limit=1000")["data"] if each["type"] == kind]

    def made(self, path: str) -> int:
        """How often the server has sent POST to this path."""
        return self.asked.count(("POST", path))


def _error(kind: str, code: str, message: str) -> bytes:
    return json.dumps({"error": {"type": kind, "code": code, "message": message}}).encode()


@pytest.fixture(scope="session")
def localstripe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of localstripe; the test is skipped where it can neither be found nor installed."""
    try:
        python = environment_of(REQUIREMENTS)
    except (RuntimeError, subprocess.TimeoutExpired, OSError) as problem:
        reason = str(problem).strip().splitlines()[-1]
        pytest.skip(f"localstripe cannot be installed here, perhaps there is no network: {reason}")
    port = free_port()
    command = [str(python), "-c", IN_MEMORY, "--from-scratch", "--port", str(port)]
    child = Child("localstripe", command, tmp_path_factory.mktemp("localstripe") / "log")
    child.start()
    child.wait_until(lambda: responds(port))
    yield port
    child.kill()


@pytest.fixture
def stripe_front(localstripe: int) -> Iterator[StripeFront]:
    """Stripe, empty."""
    front = StripeFront(localstripe)
    front.call("DELETE", "/_config/data")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._handle()

        def do_POST(self) -> None:
            self._handle()

        def _handle(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            key = self.headers.get("Authorization", "").removeprefix("Bearer ")
            answer = front.handle(self.command, self.path, key, body, self.headers.get("Idempotency-Key", ""))
            if answer is None:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            with suppress(BrokenPipeError, ConnectionResetError):  # who asked was killed
                self.send_response(answer[0])
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer[1])))
                self.end_headers()
                self.wfile.write(answer[1])

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer((LOOPBACK, front.port), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield front
    server.shutdown()
    server.server_close()
    thread.join()


def signed(told: Any, secret: str, at_ms: int) -> tuple[bytes, str]:
    """A webhook as Stripe sends it: its body and the header with its signature."""
    import stripe

    body = json.dumps(told)
    return body.encode(), stripe.WebhookSignature.generate_signature_header(body, secret, at_ms // 1000)


def wait_until(ready: Callable[[], bool], seconds: float = 30) -> None:
    """Return once it is so."""
    deadline = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < deadline, "not within the time"
        time.sleep(0.02)
