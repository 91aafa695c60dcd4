"""One real gate over a folder of its own: it scans, syncs, loses power, is copied, and boots with a wrong clock."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from gate_app import commands, reading_home
from gate_app.config import read_config
from gate_app.enrolment import enrol
from gate_app.gate import Presented
from gate_app.gathering import Wish
from gate_app.home import Home
from gate_app.lodge import Lodge, World, open_lodge
from gate_app.sync.pull import Puller
from gate_app.sync.push import Pusher
from shared.admission import Override
from shared.scans import Entry
from shared.snapshot import SupervisorRow
from tests.gate_builders import Hands, LampOnTheTable, chance
from tests.journeys.cable import Cable

ADDRESS = "https://tickets.example"


@dataclass
class Door:
    """A gate with its reader, its lamp, its clocks and its cable."""

    name: str
    folder: Path
    hands: Hands
    cable: Cable
    device_id: str = ""
    boot: bytes = b"boot0001"
    lamp: LampOnTheTable = field(default_factory=LampOnTheTable)
    lodge: Lodge = field(init=False)
    puller: Puller = field(init=False)
    pusher: Pusher = field(init=False)
    _shown: int = 0

    # -- the machine -------------------------------------------------------------------------------------------------

    def enrol(self, code: str) -> None:
        """Somebody holds the enrolment code in front of it."""
        self._open()
        world = self.lodge.world
        got = enrol(ADDRESS, code, self.cable, world.entropy, name=self.name, software=world.software)
        reading_home.take_identity(self.lodge, got)
        self.switch_off()
        self.switch_on()

    def switch_on(self) -> None:
        """A new process in the present run of the machine."""
        self._open()
        self.puller, self.pusher = self.lodge.sync(self.cable, 0)

    def _open(self) -> None:
        home = Home(self.folder).ready()
        entropy = chance(f"{self.folder}{self.boot!r}{self.hands.up}")
        world = World(self.hands.wall, self.hands.monotonic, entropy, self.boot, "gatehouse-gate test")
        self.lodge = open_lodge(home, read_config(home.settings), world)

    def switch_off(self) -> None:
        """In order: what was only counted is written down."""
        self.lodge.close()

    def lose_power(self) -> None:
        """Without a word: what was committed is all there is."""
        self.lodge.roster.close()
        self.lodge.database.close()

    def boot_up(self, *, wall_error_ms: int = 0) -> None:
        """The machine starts anew; it has no battery clock, so its wall clock may say anything."""
        self.boot = sha256(self.boot).digest()[:8]
        self.hands.up, self.hands.wall_error = 5_000, wall_error_ms
        self.lamp.cut = False
        self.switch_on()

    def image(self, place: Path) -> Path:
        """A copy of its card, as it is now."""
        self.switch_off()
        shutil.copytree(self.folder, place)
        self.switch_on()
        return place

    def put_back(self, image: Path) -> None:
        """An older image goes onto the card."""
        self.switch_off()
        shutil.rmtree(self.folder)
        shutil.copytree(image, self.folder)
        self.boot_up()

    # -- at the door ---------------------------------------------------------------------------------------------------

    def scan(
        self,
        code: str,
        *,
        reader: str = "",
        direction: str | None = None,
        mode: str | None = None,
        override: Override | None = None,
    ) -> dict[str, Any]:
        """Holds a code in front of a reader; another one each time, lest it be a mere repeat."""
        self._shown += 1
        wish = Wish(direction, mode, "", override)
        return self.lodge.gate.handle(Presented(code, reader or f"reader {self._shown}", wish), self.lamp)

    def reason(self, code: str, **how: Any) -> str:
        """Only the reason of the verdict."""
        return str(self.scan(code, **how)["reason"])

    def sync(self) -> dict[str, Any]:
        """Everything that is new, down and up, as `gatehouse-gate sync --once` does it."""
        return commands.sync_once(self.lodge, self.puller, self.pusher)

    def supervisor(self, pin: str) -> SupervisorRow:
        """Whoever types this PIN."""
        rows = [row for book in self.lodge.roster.books.values() for row in book.facts.supervisors.values()]
        answer = self.lodge.supervisors.ask(pin, rows, self.lodge.time.now().at)
        assert answer.supervisor is not None, answer.words
        return answer.supervisor

    # -- looking at it -------------------------------------------------------------------------------------------------

    @property
    def number(self) -> int:
        """The device's number."""
        return self.lodge.require_enrolled().device_number

    @property
    def unsent(self) -> int:
        """What the server has not acknowledged."""
        return self.lodge.journal.unsent()

    def entries(self) -> list[Entry]:
        """The whole journal."""
        return list(self.lodge.journal.entries())

    def admissions(self) -> list[Entry]:
        """Who was let in."""
        return [entry for entry in self.entries() if entry.admitted]

    def branches(self) -> list[int]:
        """The numbers of its journals, oldest first, those that hold anything."""
        numbers = [entry.branch for entry in self.entries() if entry.device == self.number]
        return list(dict.fromkeys(numbers))
