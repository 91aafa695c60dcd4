"""A gate with its people: a real journal and real tickets behind the pages of stewards and supervisors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gate_app.assignments import AssignmentStore, EventAssignment
from gate_app.home import Home
from gate_app.indicators import Indicators
from gate_app.running import LampAndScreen
from gate_app.scanning.gate import Presentation
from gate_app.scanning.gathering import ScanOptions
from gate_app.screen.feed import Feed
from gate_app.screen.server import ScreenServer
from gate_app.status import status
from gate_app.supervision.screens import Role
from shared.snapshot import TicketState
from tests.gate_builders import (
    EVENT,
    GATE_A,
    GATE_B,
    GateAtHome,
    a_code,
    a_ticket_row,
    enrolled,
    give_rows,
    the_house,
)

NAME = "Amélie Okonkwo"


class StaffedGate:
    """A gate in this process with its screen; `scan` holds a code in front of its reader."""

    def __init__(self, folder: Path) -> None:
        enrolled(folder)
        post = EventAssignment(EVENT, "event-7", "Night Music", GATE_A, "A", (GATE_A, GATE_B))
        AssignmentStore(Home(folder).assignments).assign([post])
        self.home = GateAtHome(folder)
        cancelled = a_ticket_row(8, name="Lindiwe van der Merwe", state=TicketState.CANCELLED)
        give_rows(self.home, [*the_house(7), cancelled, a_ticket_row(9, name=NAME, notes="Brings a guide dog")])
        self.context = self.home.context
        self.feed = Feed(self.home.hands.monotonic)
        self.lamp = LampAndScreen(Indicators((), None, lambda _fault: None, lambda _device: None), self.feed)
        self.desk = self.context.desk(self.lamp, lambda words: self.feed.fault("info", words))
        self.server = ScreenServer(self.feed, port=0, desk=self.desk).open()
        self.tell()

    def tell(self) -> None:
        """The screens hear how the gate stands."""
        self.feed.status({**status(self.context.status_source()), "online": True})

    def scan(self, number: int, reader: str = "left lane") -> dict[str, Any]:
        """A guest at the reader."""
        self.home.hands.pass_ms(6_000)
        return self.context.gate.handle(Presentation(a_code(number), reader, ScanOptions()), self.lamp)

    def link(self, role: Role) -> str:
        """An address that makes a browser a screen of this role."""
        return f"{self.server.address}pair#{self.desk.screens.link(role)}"

    def close(self) -> None:
        self.server.close()
        self.context.close()
