"""A whole evening in a few lines: an organisation with keys, an event with tickets, a server in memory, and gates in temporary homes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from argon2 import PasswordHasher
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gate_app.config import read_config
from gate_app.gate import Presented
from gate_app.gathering import Wish
from gate_app.home import Home
from gate_app.identity import Identity, keep
from gate_app.lodge import Lodge, World, open_lodge
from gate_app.posting import Post, Posts
from gate_app.sync.client import Letter, Reply
from shared import protocol, scans
from shared.admission import Mode, Override, Verdict
from shared.errors import Unavailable
from shared.http_signatures import CounterWindow, sign_answer, verify_request
from shared.snapshot import (
    EMPTY_DIGEST,
    AnyRow,
    DeviceRow,
    EventDay,
    EventRow,
    GateRow,
    KeyRow,
    MembershipState,
    Movement,
    PolicyRow,
    Position,
    Row,
    RowKind,
    SupervisorRow,
    TicketRow,
    TicketState,
    TicketTypeRow,
    ZoneRow,
    digest_add,
    movements_to_bytes,
    pack,
    to_frame,
)
from shared.tickets import Entitlement, Ticket, TicketFlags, sign

EVENING = 1_783_186_200_000  # 2026-07-04T19:30:00+02:00
HOUR = 3_600_000
ORGANISATION = "org-1"
EVENT, GATE_A, GATE_B, FLOOR, STALLS = 7, 1, 2, 1, 2
PIN = "271828"
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


def a_key(words: str) -> Ed25519PrivateKey:
    """A private key that is the same in every run."""
    return Ed25519PrivateKey.from_private_bytes(sha256(words.encode()).digest())


TICKET_KEY = a_key("ticket key")
SERVER_KEY = a_key("server key")


def a_ticket(number: int = 1, **changes: Any) -> Ticket:
    """A valid ticket's claims."""
    claims = Ticket(3, EVENT, ticket_id_of(number), 1, (EVENING - 48 * HOUR) // 1000, 1, STALLS, number)
    return replace(claims, **changes)


def ticket_id_of(number: int) -> int:
    """Scattered over 64 bits, as real ones are."""
    return int.from_bytes(sha256(b"ticket %d" % number).digest()[:8], "big") | 1


def a_code(number: int = 1, key: Ed25519PrivateKey = TICKET_KEY, **changes: Any) -> str:
    """What is printed on it."""
    return sign(a_ticket(number, **changes), key)


def a_ticket_row(number: int = 1, **changes: Any) -> TicketRow:
    """What the server says of it."""
    row = TicketRow(
        ticket_id_of(number),
        1,
        TicketState.VALID,
        1,
        STALLS,
        number,
        "C",
        str(number),
        0,
        Entitlement.SINGLE_ENTRY,
        0,
        TicketFlags.NONE,
        0,
        0,
        "",
        MembershipState.NONE,
        0,
        f"NIGHT-{number:06d}",
        f"CODE{number:04d}",
    )
    return replace(row, **changes)


def an_event(**changes: Any) -> EventRow:
    """A concert that is live this evening."""
    day = EventDay("2026-07-04", EVENING - 14 * HOUR - 30 * 60_000, EVENING + 9 * HOUR + 30 * 60_000)
    row = EventRow(
        EVENT, ORGANISATION, "Night Music", "live", EVENING + HOUR // 2, EVENING + 6 * HOUR, "Europe/Berlin", (day,)
    )
    return replace(row, **changes)


def the_house(tickets: int = 5, *, event: EventRow | None = None) -> list[AnyRow]:
    """Every row of a small evening."""
    return [
        event or an_event(),
        GateRow(GATE_A, "A", "Main entrance"),
        GateRow(GATE_B, "B", "Side entrance"),
        ZoneRow(FLOOR, "Floor", "ga_standing"),
        ZoneRow(STALLS, "Stalls"),
        TicketTypeRow(1, "Regular"),
        KeyRow(3, ORGANISATION, TICKET_KEY.public_key().public_bytes_raw(), "active"),
        DeviceRow(11, "Gate A", a_key("device 11").public_key().public_bytes_raw()),
        DeviceRow(12, "Gate B", a_key("device 12").public_key().public_bytes_raw()),
        SupervisorRow(1, "Sam", CHEAP.hash(PIN)),
        PolicyRow(),
        *(a_ticket_row(number) for number in range(1, tickets + 1)),
    ]


class Hands:
    """Clocks that stand still until they are moved."""

    def __init__(self, at: int = EVENING) -> None:
        self.true = at
        self.wall_error = 0
        self.up = 1_000_000

    def wall(self) -> int:
        """The machine's own idea of the time."""
        return self.true + self.wall_error

    def monotonic(self) -> int:
        """Nanoseconds since the start."""
        return self.up * 1_000_000

    def pass_ms(self, ms: int) -> None:
        """Time goes by."""
        self.true += ms
        self.up += ms


def chance(seed: str = "chance") -> Callable[[int], bytes]:
    """Entropy that is the same in every run."""
    counter = iter(range(1_000_000))
    return lambda size: sha256(f"{seed} {next(counter)}".encode()).digest()[:size]


@dataclass
class LampOnTheTable:
    """Remembers what it was told; `cut` breaks the power just before it lights."""

    given: list[dict[str, Any]] = field(default_factory=list)
    repeated: list[dict[str, Any]] = field(default_factory=list)
    cut: bool = False

    def give(self, told: dict[str, Any], verdict: Verdict, mode: Mode) -> None:
        if self.cut:
            raise PowerCut
        self.given.append(told)

    def again(self, told: dict[str, Any]) -> None:
        self.repeated.append(told)


class PowerCut(BaseException):
    """Nothing of the program runs any more."""


@dataclass
class GateAtHome:
    """One gate over one folder, which can be switched off and on again."""

    folder: Path
    hands: Hands = field(default_factory=Hands)
    device: int = 11
    boot: bytes = b"boot0001"
    seed: str = "gate"
    lamp: LampOnTheTable = field(default_factory=LampOnTheTable)
    lodge: Lodge = field(init=False)

    def __post_init__(self) -> None:
        self.switch_on()

    def switch_on(self) -> Lodge:
        """A new process over the same folder."""
        home = Home(self.folder).ready()
        world = World(self.hands.wall, self.hands.monotonic, chance(f"{self.seed}{self.boot!r}"), self.boot, "test")
        self.lodge = open_lodge(home, read_config(home.settings), world)
        return self.lodge

    def crash(self, *, reboot: bool = False, away_ms: int = 1_000) -> Lodge:
        """The process is gone without a word; what was committed is all there is."""
        self.lodge.roster.close()
        self.lodge.database.close()
        self.hands.pass_ms(away_ms)
        if reboot:
            self.boot = sha256(self.boot).digest()[:8]
            self.hands.up = 5_000
        self.lamp.cut = False
        return self.switch_on()

    def scan(
        self,
        code: str,
        *,
        reader: str = "r1",
        direction: str | None = None,
        mode: str | None = None,
        gate: str = "",
        override: Override | None = None,
        by_hand: bool = False,
    ) -> dict[str, Any]:
        """Holds a code in front of a reader."""
        wish = Wish(direction, mode, gate, override)
        return self.lodge.gate.handle(Presented(code, reader, wish, by_hand), self.lamp)

    def entries(self) -> list[scans.Entry]:
        """The whole journal."""
        return list(self.lodge.journal.entries())

    def presentations(self) -> list[scans.Entry]:
        """Only what was shown to it."""
        return [entry for entry in self.entries() if entry.kind in ("presentation", "by_hand")]


def enrolled(folder: Path, device: int = 11, server: str = "http://server.test") -> None:
    """Gives a folder an identity and a post, as enrolment does."""
    home = Home(folder).ready()
    keep(
        home.identity,
        Identity(
            server=server,
            device_number=device,
            device_id=f"device-{device}",
            device_name=f"Gate {device}",
            organisation=ORGANISATION,
            organisation_name="Night Ltd",
            device_private=a_key(f"device {device}").private_bytes_raw(),
            server_public=SERVER_KEY.public_key().public_bytes_raw(),
        ),
    )
    gate = GATE_A if device == 11 else GATE_B
    Posts(home.posts).assign([Post(EVENT, "event-7", "Night Music", gate, "A" if gate == GATE_A else "B")])


def a_gate(
    folder: Path, rows: Iterable[AnyRow] | None = None, *, device: int = 11, hands: Hands | None = None
) -> GateAtHome:
    """An enrolled gate with a snapshot, as it stands after its first sync."""
    enrolled(folder, device)
    gate = GateAtHome(folder, hands or Hands(), device)
    give_rows(gate, the_house() if rows is None else rows)
    return gate


def give_rows(gate: GateAtHome, rows: Iterable[AnyRow], *, lineage: bytes = b"lineage1", revision: int = 1) -> None:
    """Installs a whole snapshot."""
    packed = [pack(row) for row in rows]
    builder = gate.lodge.roster.builder(EVENT)
    builder.add(packed)
    position = Position(lineage, revision, digest_add(EMPTY_DIGEST, *packed))
    gate.lodge.roster.install(EVENT, builder, position, gate.hands.true)


Handler = Callable[[bytes, dict[str, list[str]], int], protocol.Message]


class ServerInMemory:
    """Speaks the protocol over no network: a wire whose other end is a few dictionaries. Faults are attributes."""

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
        self.page: Reply | None = None
        self.cut_after_frames: int | None = None
        self.alter: Callable[[Reply], Reply] = lambda reply: reply
        self.revoked = False
        self.frame_limit = 5_000
        self.asked: list[str] = []
        self.lock = threading.Lock()
        for row in rows:
            self.put(row)

    # -- what an organiser does ---------------------------------------------------------------------------------

    def put(self, row: AnyRow) -> None:
        """Changes one row, and raises the revision."""
        packed = pack(row)
        self.rows[packed.kind, packed.key] = packed
        self.revision += 1
        self.changed[packed.kind, packed.key] = self.revision

    def restore(self, lineage: bytes = b"lineage2") -> None:
        """Back from a backup: another history, and no journals."""
        self.lineage = lineage
        self.entries.clear()

    def digest(self) -> bytes:
        """Over what is live."""
        return digest_add(EMPTY_DIGEST, *(row for row in self.rows.values() if row.body is not None))

    # -- the wire -----------------------------------------------------------------------------------------------

    def carry(self, letter: Letter) -> Reply:
        """One request, one answer."""
        with self.lock:
            if not self.online:
                raise Unavailable("The cable is out.")
            if self.page is not None:
                return self.page
            return self.alter(self._answer(letter))

    def _answer(self, letter: Letter) -> Reply:
        parts = urlsplit(letter.url)
        device = int(letter.headers["Signature-Input"].split('keyid="')[1].split('"')[0])
        public = a_key(f"device {device}").public_key()
        signed = verify_request(
            letter.method, parts.netloc, parts.path, parts.query, letter.body, letter.headers, public
        )
        self.asked.append(parts.path)
        window = self.windows.get((device, signed.channel), CounterWindow())
        after, fresh = window.accept(signed.counter)
        self.windows[device, signed.channel] = after
        if not fresh:
            told: protocol.Message = _error("counter_too_low", "Too low.", last=window.highest, channel=signed.channel)
            return self._signed(409, told, signed.signature)
        handlers: dict[str, Handler] = {
            protocol.HELLO: self._hello,
            protocol.SNAPSHOT: self._snapshot,
            protocol.CHANGES: self._changes,
            protocol.JOURNAL: self._journal,
        }
        told = handlers[parts.path](letter.body, parse_qs(parts.query), device)
        return self._signed(200 if not isinstance(told, protocol.ErrorAnswer) else 403, told, signed.signature)

    def _signed(self, status: int, told: protocol.Message, signature: bytes) -> Reply:
        body = protocol.encode(told)
        headers = sign_answer(
            status, body, key=SERVER_KEY, server_time=self.hands.true, position="", request_signature=signature
        )
        return Reply(status, headers | {"Content-Type": protocol.MEDIA_TYPE}, body)

    # -- the four questions -------------------------------------------------------------------------------------

    def _hello(self, body: bytes, _query: dict[str, list[str]], device: int) -> protocol.Message:
        asked = protocol.decode(protocol.HelloRequest, body)
        gate, code = (GATE_A, "A") if device == 11 else (GATE_B, "B")
        posts = [
            protocol.Assignment(event=event, event_id=f"event-{event}", name="Night Music", gate=gate, gate_code=code)
            for event in self.serves
        ]
        mark = self._mark(device, asked.branch) if (device, asked.branch) in self.entries else None
        return protocol.HelloAnswer(
            server_time=self.hands.true, mark=mark, assignments=posts, profile="gate", revoked=self.revoked
        )

    def _snapshot(self, _body: bytes, query: dict[str, list[str]], _device: int) -> protocol.Message:
        if self.cut_after_frames is not None:
            if self.cut_after_frames == 0:
                raise Unavailable("The cable was pulled in the middle.")
            self.cut_after_frames -= 1
        kind, key = protocol.read_row_mark(query.get("after", [""])[0])
        keys = sorted(place for place in self.rows if place > (int(kind), key))[: self.frame_limit]
        last = keys[-1] if len(keys) == self.frame_limit else None
        return protocol.SnapshotAnswer(
            event=int(query["event"][0]),
            lineage=self.lineage,
            base_revision=self.revision,
            frame=to_frame([self.rows[place] for place in keys]),
            as_of=self.hands.true,
            next=protocol.row_mark(RowKind(last[0]), last[1]) if last else None,
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
        news = self.movements[at.heard :] if known else []
        return protocol.Batch(
            event=at.event,
            lineage=self.lineage,
            from_revision=at.revision if known else 0,
            to_revision=self.revision,
            digest=self.digest(),
            as_of=self.hands.true,
            rows=to_frame(rows) if rows else b"",
            movements=movements_to_bytes(news),
            heard=len(self.movements) if known else 0,
            resync=not known,
        )

    def _journal(self, body: bytes, _query: dict[str, list[str]], device: int) -> protocol.Message:
        asked = protocol.decode(protocol.JournalRequest, body)
        held = self.entries.setdefault((device, asked.branch), {})
        answers = [self._take(held, bytes(entry), device) for entry in asked.entries]
        return protocol.JournalAnswer(
            answers=answers, mark=self._mark(device, asked.branch), server_time=self.hands.true
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
