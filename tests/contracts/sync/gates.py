"""A gate's side of the protocol without a network; it checks everything that a gate must."""

from __future__ import annotations

import http.client
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Protocol, TypeVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from flask import Response
from flask.testing import FlaskClient
from msgspec import structs

from shared.journal import scans
from shared.journal.scans import GENESIS, Entry, EntryKind
from shared.wire import enrolment, http_signatures, protocol
from shared.wire.http_signatures import Channel
from shared.wire.snapshot import AnyRow, from_frame, movements_from_bytes, unpack

HOST = "tickets.example"
NOON = 1_783_180_800_000  # 2026-07-04T16:00:00Z
HOUR = 3_600_000
M = TypeVar("M", bound=protocol.Message)


class Server(Protocol):
    """What a test gate needs: time, entropy and a client of the server."""

    now: int
    dice: Callable[[int], bytes]

    def client(self) -> FlaskClient: ...

    def advance(self, *, seconds: float = 0, minutes: float = 0, hours: float = 0) -> None: ...


@dataclass
class Gate:
    """A test gate: keys, counters and a journal; it checks every answer as a gate must."""

    world: Server
    name: str
    gate: int = 1
    device_id: str = ""
    number: int = 0
    branch: int = 1
    host: str = HOST
    connect: Callable[[], http.client.HTTPConnection] | None = None
    """Requests go over a real connection that this opens."""
    counters: dict[str, int] = field(default_factory=lambda: {"pull": 0, "push": 0, "other": 0})
    bodies: list[bytes] = field(default_factory=list)
    boot: bytes = b"boot0001"
    started: int = NOON - HOUR

    def __post_init__(self) -> None:
        self.key = Ed25519PrivateKey.from_private_bytes(self.world.dice(32))
        self.server: Ed25519PublicKey | None = None

    # -- speaking ----------------------------------------------------------------------------------------------------

    def enrol(self, code: enrolment.Code) -> protocol.EnrolAnswer:
        answer = self.try_enrol(code)
        assert isinstance(answer, protocol.EnrolAnswer), answer
        self.number, self.server = answer.device_number, Ed25519PublicKey.from_public_bytes(answer.server_public)
        return answer

    def try_enrol(
        self, code: enrolment.Code, *, proof: bytes | None = None
    ) -> protocol.EnrolAnswer | protocol.ErrorBody:
        public, nonce = self.key.public_key().public_bytes_raw(), self.world.dice(16)
        message = protocol.EnrolRequest(
            code_id=code.id, device_public=public, nonce=nonce, proof=proof or enrolment.proof(code, public, nonce)
        )
        response = self.world.client().post(
            protocol.ENROL, data=protocol.encode(message), content_type=protocol.MEDIA_TYPE, base_url=f"https://{HOST}"
        )
        if response.status_code != 200:
            return protocol.decode(protocol.ErrorAnswer, response.data).error
        answer = protocol.decode(protocol.EnrolAnswer, response.data)
        assert enrolment.fingerprint(answer.server_public) == code.fingerprint
        assert answer.server_proof == enrolment.server_proof(code, public, answer.server_public, nonce)
        server = Ed25519PublicKey.from_public_bytes(answer.server_public)
        http_signatures.verify_answer(200, response.data, dict(response.headers), server, message.proof)
        return answer

    def send(
        self,
        method: str,
        path: str,
        channel: Channel,
        *,
        body: bytes = b"",
        query: str = "",
        counter: int | None = None,
        alter: bytes | None = None,
    ) -> Any:
        """One signed request; the answer's signature is checked."""
        if counter is None:
            self.counters[channel] += 1
        headers = http_signatures.sign_request(
            method,
            self.host,
            path,
            query,
            body,
            key=self.key,
            device=self.number,
            channel=channel,
            counter=self.counters[channel] if counter is None else counter,
        )
        response = self._exchange(method, path, query, body if alter is None else alter, headers)
        signature = http_signatures._signature(headers, "gate")
        assert self.server is not None
        http_signatures.verify_answer(
            response.status_code, response.data, dict(response.headers), self.server, signature
        )
        return response

    def _exchange(self, method: str, path: str, query: str, body: bytes, headers: dict[str, str]) -> Any:
        if self.connect is not None:
            connection = self.connect()
            connection.request(
                method,
                f"{path}?{query}" if query else path,
                body,
                headers | {"Host": self.host, "Content-Type": protocol.MEDIA_TYPE},
            )
            response = connection.getresponse()
            return Response(response.read(), response.status, dict(response.headers))
        base_url = f"https://{self.host}"
        return self.world.client().open(
            path,
            method=method,
            query_string=query,
            data=body,
            headers=headers,
            content_type=protocol.MEDIA_TYPE,
            base_url=base_url,
        )

    def ask(self, kind: type[M], *args: Any, **kwargs: Any) -> M:
        response = self.send(*args, **kwargs)
        assert response.status_code == 200, protocol.decode(protocol.ErrorAnswer, response.data)
        return protocol.decode(kind, response.data)

    def refusal(self, *args: Any, **kwargs: Any) -> protocol.ErrorBody:
        response = self.send(*args, **kwargs)
        assert response.status_code >= 400
        return protocol.decode(protocol.ErrorAnswer, response.data).error

    def hello(
        self, *, last_seq: int | None = None, head: bytes | None = None, health: protocol.Health | None = None
    ) -> protocol.HelloAnswer:
        message = protocol.HelloRequest(
            branch=self.branch,
            last_seq=len(self.bodies) if last_seq is None else last_seq,
            head=self.head if head is None else head,
            software="9.9",
            health=health,
        )
        return self.ask(protocol.HelloAnswer, "POST", protocol.HELLO, "other", body=protocol.encode(message))

    def snapshot(self, *, limit: int = 5000) -> tuple[list[AnyRow], protocol.EventAt]:
        """Fetch all frames."""
        rows: list[AnyRow] = []
        after, first = "", None
        while True:
            frame = self.frame(after, limit)
            first = first or frame
            rows += [unpack(row) for row in from_frame(frame.frame)]
            if frame.next is None:
                break
            after = frame.next
        return rows, protocol.EventAt(event=7, lineage=first.lineage, revision=first.base_revision)

    def frame(self, after: str = "", limit: int = 5000, event: int = 7) -> protocol.SnapshotAnswer:
        query = f"event={event}&after={after}&limit={limit}"
        return self.ask(protocol.SnapshotAnswer, "GET", protocol.SNAPSHOT, "pull", query=query)

    def changes(self, *at: protocol.EventAt, wait: float = 0) -> protocol.ChangesAnswer:
        message = protocol.ChangesRequest(events=list(at), wait=wait)
        answer = self.ask(protocol.ChangesAnswer, "POST", protocol.CHANGES, "pull", body=protocol.encode(message))
        for batch in answer.events:
            assert self.server is not None
            protocol.require_signed(batch, self.server)
        return answer

    def movements(self) -> list[Any]:
        """All movements that the server has."""
        at = self.frame()
        here = protocol.EventAt(event=7, lineage=at.lineage, revision=at.base_revision)
        return [move for batch in self.changes(here).events for move in movements_from_bytes(batch.movements)]

    # -- the journal -------------------------------------------------------------------------------------------------

    @property
    def head(self) -> bytes:
        return scans.entry_hash(self.bodies[-1]) if self.bodies else GENESIS

    def write(self, **fields: Any) -> Entry:
        """One more entry at the server's present time."""
        entry = self.an_entry(**fields)
        self.bodies.append(scans.encode(entry))
        return entry

    def an_entry(self, **fields: Any) -> Entry:
        now = self.world.now
        entry = Entry(
            device=self.number,
            branch=self.branch,
            seq=len(self.bodies) + 1,
            kind=EntryKind.PRESENTATION,
            event=7,
            gate=self.gate,
            reader="",
            operator="",
            ticket_id=0,
            issue=0,
            code_hash=b"",
            direction="entry",
            mode="real",
            admitted=False,
            reason="",
            notices=(),
            override_by=0,
            override_reason="",
            override_denial="",
            wall=now,
            monotonic=now - self.started,
            boot=self.boot,
            offset=0,
            uncertainty=50,
            lineage=b"",
            revision=0,
            digest=b"",
            previous=self.head,
            details={},
        )
        return structs.replace(entry, **fields)

    def anchor(self) -> Entry:
        """A time anchor, as noted at a sync."""
        now = self.world.now
        details = {"server": now, "monotonic": now - self.started, "rtt": 20}
        return self.write(kind=EntryKind.TIME_ANCHOR, event=0, direction="", mode="", details=details)

    def admit(self, ticket: int, **fields: Any) -> Entry:
        self.world.advance(seconds=1)
        fields = {"ticket_id": ticket, "issue": 1, "code_hash": sha256(str(ticket).encode()).digest()[:16]} | fields
        return self.write(**({"admitted": True, "reason": "admitted"} | fields))

    def refuse(self, ticket: int, reason: str) -> Entry:
        self.world.advance(seconds=1)
        return self.write(ticket_id=ticket, issue=1, reason=reason)

    def upload(self, bodies: Sequence[bytes] | None = None, *, head_seq: int | None = None) -> protocol.JournalAnswer:
        message = self.journal_request(self.bodies if bodies is None else bodies)
        return self.ask(protocol.JournalAnswer, "POST", protocol.JOURNAL, "push", body=protocol.encode(message))

    def journal_request(self, bodies: Sequence[bytes]) -> protocol.JournalRequest:
        seq, head = len(self.bodies), self.head
        return protocol.JournalRequest(
            branch=self.branch,
            entries=list(bodies),
            head_seq=seq,
            head=head,
            head_signature=scans.sign_head(self.key, self.number, self.branch, seq, head),
        )
