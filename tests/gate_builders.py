"""Builders for gate tests: an organisation with keys, an event with tickets, and gates in temporary homes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from argon2 import PasswordHasher
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec import structs

from gate_app.gate_context import GateContext, HostEnvironment, open_gate_context
from gate_app.installation.assignments import AssignmentStore, EventAssignment
from gate_app.installation.config import read_config
from gate_app.installation.home import Home
from gate_app.installation.identity import Identity, keep
from gate_app.scanning.gate import Presentation
from gate_app.scanning.gathering import ScanOptions
from shared.admission import Mode, Override, Verdict
from shared.journal import scans
from shared.parties import Member
from shared.tickets import Entitlement, Ticket, TicketFlags, party_claims, sign
from shared.wire.snapshot import (
    EMPTY_DIGEST,
    AnyRow,
    DeviceRow,
    EventDay,
    EventRow,
    GateRow,
    KeyRow,
    MembershipState,
    PolicyRow,
    Position,
    SupervisorRow,
    TicketRow,
    TicketState,
    TicketTypeRow,
    ZoneRow,
    digest_add,
    pack,
)

EVENING = 1_783_186_200_000  # 2026-07-04T19:30:00+02:00
HOUR = 3_600_000
ORGANISATION = "org-1"
EVENT, GATE_A, GATE_B, FLOOR, STALLS = 7, 1, 2, 1, 2
PIN = "271828"
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


def a_key(name: str) -> Ed25519PrivateKey:
    """A private key that is the same in every run."""
    return Ed25519PrivateKey.from_private_bytes(sha256(name.encode()).digest())


TICKET_KEY = a_key("ticket key")
SERVER_KEY = a_key("server key")


def a_ticket(number: int = 1, **changes: Any) -> Ticket:
    """A valid ticket's claims."""
    claims = Ticket(3, EVENT, ticket_id_of(number), 1, (EVENING - 48 * HOUR) // 1000, 1, STALLS, number)
    return structs.replace(claims, **changes)


def ticket_id_of(number: int) -> int:
    """Scattered over 64 bits, as real ones are."""
    return int.from_bytes(sha256(b"ticket %d" % number).digest()[:8], "big") | 1


def a_code(number: int = 1, key: Ed25519PrivateKey = TICKET_KEY, **changes: Any) -> str:
    """The code of a ticket."""
    return sign(a_ticket(number, **changes), key)


def a_party_code(*numbers: int, issues: dict[int, int] | None = None, issued_at: int | None = None) -> str:
    """The code that is good for these tickets, at issue 1 where nothing else is said."""
    members = [Member(ticket_id_of(number), (issues or {}).get(number, 1)) for number in numbers]
    at = (EVENING - 48 * HOUR) // 1000 if issued_at is None else issued_at
    return sign(party_claims(3, EVENT, at, members), TICKET_KEY)


def a_ticket_row(number: int = 1, **changes: Any) -> TicketRow:
    """The ticket's row from the server."""
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
    """All rows of a small event."""
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
    """Clocks that only move when told to."""

    def __init__(self, at: int = EVENING) -> None:
        self.true = at
        self.wall_error = 0
        self.up = 1_000_000

    def wall(self) -> int:
        """The machine's wall clock."""
        return self.true + self.wall_error

    def monotonic(self) -> int:
        """Monotonic nanoseconds."""
        return self.up * 1_000_000

    def pass_ms(self, ms: int) -> None:
        """Lets time pass."""
        self.true += ms
        self.up += ms


def chance(seed: str = "chance") -> Callable[[int], bytes]:
    """Entropy that is the same in every run."""
    counter = iter(range(1_000_000))
    return lambda size: sha256(f"{seed} {next(counter)}".encode()).digest()[:size]


@dataclass
class LampOnTheTable:
    """A lamp that records what it shows; `cut` cuts the power just before it lights."""

    given: list[dict[str, Any]] = field(default_factory=list)
    repeated: list[dict[str, Any]] = field(default_factory=list)
    cut: bool = False

    def show(self, result: dict[str, Any], verdict: Verdict, mode: Mode) -> None:
        if self.cut:
            raise PowerCut
        self.given.append(result)

    def repeat(self, result: dict[str, Any]) -> None:
        self.repeated.append(result)


class PowerCut(BaseException):
    """The power fails: no more code runs."""


@dataclass
class GateAtHome:
    """One gate over one folder, which can be switched off and on again."""

    folder: Path
    hands: Hands = field(default_factory=Hands)
    device: int = 11
    boot: bytes = b"boot0001"
    seed: str = "gate"
    lamp: LampOnTheTable = field(default_factory=LampOnTheTable)
    context: GateContext = field(init=False)

    def __post_init__(self) -> None:
        self.switch_on()

    def switch_on(self) -> GateContext:
        """A new process over the same folder."""
        home = Home(self.folder).ready()
        world = HostEnvironment(
            self.hands.wall, self.hands.monotonic, chance(f"{self.seed}{self.boot!r}"), self.boot, "test"
        )
        self.context = open_gate_context(home, read_config(home.settings), world)
        return self.context

    def crash(self, *, reboot: bool = False, away_ms: int = 1_000) -> GateContext:
        """Kills the process; only what was committed survives."""
        self.context.roster.close()
        self.context.database.close()
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
        options = ScanOptions(direction, mode, gate, override)
        return self.context.gate.handle(Presentation(code, reader, options, by_hand), self.lamp)

    def entries(self) -> list[scans.Entry]:
        """All entries of the journal."""
        return list(self.context.journal.entries())

    def presentations(self) -> list[scans.Entry]:
        """The entries of presentations."""
        return [entry for entry in self.entries() if entry.kind in ("presentation", "by_hand")]


def enrolled(folder: Path, device: int = 11, server: str = "http://server.test") -> None:
    """Gives a home an identity and an assignment, as enrolment does."""
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
    AssignmentStore(home.assignments).assign(
        [EventAssignment(EVENT, "event-7", "Night Music", gate, "A" if gate == GATE_A else "B")]
    )


def a_gate(
    folder: Path, rows: Iterable[AnyRow] | None = None, *, device: int = 11, hands: Hands | None = None
) -> GateAtHome:
    """An enrolled gate with a snapshot, as after its first sync."""
    enrolled(folder, device)
    gate = GateAtHome(folder, hands or Hands(), device)
    give_rows(gate, the_house() if rows is None else rows)
    return gate


def give_rows(gate: GateAtHome, rows: Iterable[AnyRow], *, lineage: bytes = b"lineage1", revision: int = 1) -> None:
    """Installs a whole snapshot."""
    packed = [pack(row) for row in rows]
    builder = gate.context.roster.builder(EVENT)
    builder.add(packed)
    position = Position(lineage, revision, digest_add(EMPTY_DIGEST, *packed))
    gate.context.roster.install(EVENT, builder, position, gate.hands.true)
