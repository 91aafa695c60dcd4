"""A gate with its people: a real journal and real tickets behind the pages of stewards and supervisors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gate_app.indicators import Indicators
from gate_app.installation.assignments import AssignmentStore, EventAssignment
from gate_app.installation.home import Home
from gate_app.running.run import LampAndScreen
from gate_app.scanning.gate import Presentation
from gate_app.scanning.gathering import ScanOptions
from gate_app.scanning.parties import Parties
from gate_app.scanning.turns import Turns
from gate_app.screen.feed import Feed
from gate_app.screen.server import ScreenServer
from gate_app.status import status
from gate_app.supervision.screens import Role
from hardware.fakes import FakeTurnstile
from shared.wire.snapshot import TicketState
from tests.gate_builders import (
    EVENT,
    GATE_A,
    GATE_B,
    GateAtHome,
    a_code,
    a_party_code,
    a_ticket_row,
    enrolled,
    give_rows,
    the_house,
)

NAME = "Amélie Okonkwo"


class StaffedGate:
    """A gate in this process with its screen; `scan` holds a code in front of its reader."""

    def __init__(self, folder: Path, *, turnstile: bool = False) -> None:
        enrolled(folder)
        post = EventAssignment(EVENT, "event-7", "Night Music", GATE_A, "A", (GATE_A, GATE_B))
        AssignmentStore(Home(folder).assignments).assign([post])
        self.home = GateAtHome(folder)
        cancelled = a_ticket_row(8, name="Lindiwe van der Merwe", state=TicketState.CANCELLED)
        give_rows(self.home, [*the_house(7), cancelled, a_ticket_row(9, name=NAME, notes="Brings a guide dog")])
        self.context = self.home.context
        self.feed = Feed(self.home.hands.monotonic)
        self.turns = self._turns() if turnstile else None
        self.stile = FakeTurnstile(self.turns.turned) if self.turns else None
        outputs = Indicators((), self.stile, lambda _fault: None, lambda _device: None)
        self.lamp = LampAndScreen(outputs, self.feed, self.turns)
        self.parties = Parties(
            self.context.gate, self.context.time.monotonic_ms, asks=True, turns=self.turns, show=self.feed.party
        )
        self.desk = self.context.desk(
            self.lamp, lambda words: self.feed.fault("info", words), self.parties, self.feed.taken_back
        )
        self.server = ScreenServer(self.feed, port=0, desk=self.desk).open()
        self.tell()

    def tell(self) -> None:
        """The screens hear how the gate stands."""
        self.feed.status({**status(self.context.status_source()), "online": True})

    def scan(self, number: int, reader: str = "left lane") -> dict[str, Any]:
        """A guest at the reader."""
        self.home.hands.pass_ms(6_000)
        return self.context.gate.handle(Presentation(a_code(number), reader, ScanOptions()), self.lamp)

    def scan_party(self, *numbers: int) -> None:
        """A party at the reader."""
        self.home.hands.pass_ms(6_000)
        self.parties.present(Presentation(a_party_code(*numbers), "left lane", ScanOptions()), self.lamp)

    def nobody_goes(self) -> None:
        """The time within which somebody must go through is over."""
        self.home.hands.pass_ms(10_000)
        assert self.turns is not None
        self.turns.expire()

    def _turns(self) -> Turns:
        def take_back(seq: int) -> None:
            self.context.supervisor_actions().take_back_unturned(seq)
            self.feed.taken_back(seq)

        return Turns(told=True, within_ms=10_000, monotonic_ms=self.context.time.monotonic_ms, take_back=take_back)

    def link(self, role: Role) -> str:
        """An address that makes a browser a screen of this role."""
        return f"{self.server.address}pair#{self.desk.screens.link(role)}"

    def close(self) -> None:
        self.server.close()
        self.context.close()
