"""An in-memory server that speaks the gates' protocol without a network, with faults that tests switch on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qs, urlsplit

from gate_app.sync.client import HttpRequest, HttpResponse
from shared.errors import Unavailable
from shared.journal import scans
from shared.wire import protocol
from shared.wire.http_signatures import CounterWindow, sign_answer, verify_request
from shared.wire.snapshot import (
    EMPTY_DIGEST,
    AnyRow,
    Movement,
    Row,
    RowKind,
    digest_add,
    movements_to_bytes,
    pack,
    to_frame,
)
from tests.gate_builders import EVENT, GATE_A, GATE_B, SERVER_KEY, Hands, a_key

Handler = Callable[[bytes, dict[str, list[str]], int], protocol.Message]


class ServerInMemory:
    """A transport whose other end is a few dictionaries; faults are attributes."""

    def __init__(self, hands: Hands, rows: Iterable[AnyRow] = (), lineage: bytes = b"lineage1") -> None:
        self.hands = hands
        self.lineage = lineage
        self.revision = 1
        self.rows: dict[tuple[int, int], Row] = {}
        self.changed: dict[tuple[int, int], int] = {}
        self.movements: list[Movement] = []
        self.entries: dict[tuple[int, int], dict[int, bytes]] = {}
        self.quarantine: set[int] = set()
        self.windows: dict[tuple[int, str], CounterWindow] = {}
        self.serves = [EVENT]
        self.online = True
        self.page: HttpResponse | None = None
        self.cut_after_frames: int | None = None
        self.alter: Callable[[HttpResponse], HttpResponse] = lambda reply: reply
        self.revoked = False
        self.frame_limit = 5_000
        self.requested_paths: list[str] = []
        self.lock = threading.Lock()
        for row in rows:
            self.put(row)

    # -- changes by an organiser --------------------------------------------------------------------------------

    def put(self, row: AnyRow) -> None:
        """Change one row and raise the revision."""
        packed = pack(row)
        self.rows[packed.kind, packed.key] = packed
        self.revision += 1
        self.changed[packed.kind, packed.key] = self.revision

    def restore(self, lineage: bytes = b"lineage2") -> None:
        """Restore from a backup: a new lineage and no journals."""
        self.lineage = lineage
        self.entries.clear()

    def digest(self) -> bytes:
        """The digest over all live rows."""
        return digest_add(EMPTY_DIGEST, *(row for row in self.rows.values() if row.body is not None))

    # -- the transport ------------------------------------------------------------------------------------------

    def send(self, request: HttpRequest) -> HttpResponse:
        """Send one request and return its response."""
        with self.lock:
            if not self.online:
                raise Unavailable("The network is down.")
            if self.page is not None:
                return self.page
            return self.alter(self._respond(request))

    def _respond(self, request: HttpRequest) -> HttpResponse:
        parts = urlsplit(request.url)
        device = int(request.headers["Signature-Input"].split('keyid="')[1].split('"')[0])
        public = a_key(f"device {device}").public_key()
        signed = verify_request(
            request.method, parts.netloc, parts.path, parts.query, request.body, request.headers, public
        )
        self.requested_paths.append(parts.path)
        window = self.windows.get((device, signed.channel), CounterWindow())
        after, fresh = window.accept(signed.counter)
        self.windows[device, signed.channel] = after
        if not fresh:
            message: protocol.Message = _error(
                "counter_too_low", "Too low.", last=window.highest, channel=signed.channel
            )
            return self._signed(409, message, signed.signature)
        handlers: dict[str, Handler] = {
            protocol.HELLO: self._hello,
            protocol.SNAPSHOT: self._snapshot,
            protocol.CHANGES: self._changes,
            protocol.JOURNAL: self._journal,
        }
        message = handlers[parts.path](request.body, parse_qs(parts.query), device)
        status = 403 if isinstance(message, protocol.ErrorAnswer) else 200
        return self._signed(status, message, signed.signature)

    def _signed(self, status: int, message: protocol.Message, signature: bytes) -> HttpResponse:
        body = protocol.encode(message)
        headers = sign_answer(
            status, body, key=SERVER_KEY, server_time=self.hands.true, position="", request_signature=signature
        )
        return HttpResponse(status, headers | {"Content-Type": protocol.MEDIA_TYPE}, body)

    # -- the four endpoints -------------------------------------------------------------------------------------

    def _hello(self, body: bytes, _query: dict[str, list[str]], device: int) -> protocol.Message:
        asked = protocol.decode(protocol.HelloRequest, body)
        gate, code = (GATE_A, "A") if device == 11 else (GATE_B, "B")
        assignments = [
            protocol.Assignment(event=event, event_id=f"event-{event}", name="Night Music", gate=gate, gate_code=code)
            for event in self.serves
        ]
        mark = self._mark(device, asked.branch) if (device, asked.branch) in self.entries else None
        return protocol.HelloAnswer(
            server_time=self.hands.true, mark=mark, assignments=assignments, profile="gate", revoked=self.revoked
        )

    def _snapshot(self, _body: bytes, query: dict[str, list[str]], _device: int) -> protocol.Message:
        if self.cut_after_frames is not None:
            if self.cut_after_frames == 0:
                raise Unavailable("The connection was lost.")
            self.cut_after_frames -= 1
        kind, key = protocol.read_row_mark(query.get("after", [""])[0])
        beyond = sorted(place for place in self.rows if place > (int(kind), key))
        keys, ahead = beyond[: self.frame_limit], beyond[self.frame_limit : 2 * self.frame_limit]
        last, then = (some[-1] if len(some) == self.frame_limit else None for some in (keys, ahead))
        return protocol.SnapshotAnswer(
            event=int(query["event"][0]),
            lineage=self.lineage,
            base_revision=self.revision,
            frame=to_frame([self.rows[place] for place in keys]),
            as_of=self.hands.true,
            next=protocol.row_mark(RowKind(last[0]), last[1]) if last else None,
            then=protocol.row_mark(RowKind(then[0]), then[1]) if then else None,
        )

    def _changes(self, body: bytes, _query: dict[str, list[str]], _device: int) -> protocol.Message:
        if self.revoked:
            return _error("device_revoked", "This device was shut out.")
        asked = protocol.decode(protocol.ChangesRequest, body)
        batches = [protocol.sign_batch(self._batch(at), SERVER_KEY) for at in asked.events]
        return protocol.ChangesAnswer(events=batches, server_time=self.hands.true)

    def _batch(self, at: protocol.EventAt) -> protocol.Batch:
        known = at.lineage == self.lineage and at.revision <= self.revision
        rows = [self.rows[place] for place, changed in self.changed.items() if changed > at.revision] if known else []
        movements = self.movements[at.heard :] if known else []
        return protocol.Batch(
            event=at.event,
            lineage=self.lineage,
            from_revision=at.revision if known else 0,
            to_revision=self.revision,
            digest=self.digest(),
            as_of=self.hands.true,
            rows=to_frame(rows) if rows else b"",
            movements=movements_to_bytes(movements),
            heard=len(self.movements) if known else 0,
            resync=not known,
        )

    def _journal(self, body: bytes, _query: dict[str, list[str]], device: int) -> protocol.Message:
        asked = protocol.decode(protocol.JournalRequest, body)
        held = self.entries.setdefault((device, asked.branch), {})
        results = [self._take(held, bytes(entry), device) for entry in asked.entries]
        return protocol.JournalAnswer(
            answers=results, mark=self._mark(device, asked.branch), server_time=self.hands.true
        )

    def _take(self, held: dict[int, bytes], body: bytes, device: int) -> tuple[int, str, str]:
        entry = scans.decode(body)
        if held.setdefault(entry.seq, body) != body:
            return entry.seq, "accepted", "fork"
        if entry.seq in self.quarantine:
            return entry.seq, "quarantined", "foreign_event"
        movement = scans.movement_of(entry, entry.wall + entry.offset)
        if movement is not None and all(
            (one.device, one.branch, one.seq) != (device, entry.branch, entry.seq) for one in self.movements
        ):
            self.movements.append(movement)
        return entry.seq, "accepted", ""

    def _mark(self, device: int, branch: int) -> protocol.Mark:
        held = self.entries.get((device, branch), {})
        seq = 0
        while seq + 1 in held:
            seq += 1
        return protocol.Mark(branch=branch, seq=seq, head=scans.entry_hash(held[seq]) if seq else scans.GENESIS)


def _error(code: str, message: str, **details: Any) -> protocol.ErrorAnswer:
    return protocol.ErrorAnswer(error=protocol.ErrorBody(code=code, message=message, details=details or None))
