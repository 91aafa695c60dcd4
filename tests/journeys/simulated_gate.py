"""A real gate in its own folder that can scan, sync, lose power, be copied and boot with a wrong clock."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from gate_app import reading_home
from gate_app.command_line import commands
from gate_app.enrolment import enrol
from gate_app.gate_context import GateContext, HostEnvironment, open_gate_context
from gate_app.installation.config import read_config
from gate_app.installation.home import Home
from gate_app.scanning.gate import Presentation
from gate_app.scanning.gathering import ScanOptions
from gate_app.sync.pull import Puller
from gate_app.sync.push import Pusher
from shared.admission import Override
from shared.journal.scans import Entry
from shared.wire.snapshot import SupervisorRow
from tests.gate_builders import Hands, LampOnTheTable, chance
from tests.journeys.network_link import NetworkLink

ADDRESS = "https://tickets.example"


@dataclass
class SimulatedGate:
    """A gate with its reader, lamp, clocks and network link."""

    name: str
    folder: Path
    hands: Hands
    link: NetworkLink
    device_id: str = ""
    boot: bytes = b"boot0001"
    lamp: LampOnTheTable = field(default_factory=LampOnTheTable)
    context: GateContext = field(init=False)
    puller: Puller = field(init=False)
    pusher: Pusher = field(init=False)
    _shown: int = 0

    # -- the machine -------------------------------------------------------------------------------------------------

    def enrol(self, code: str) -> None:
        """Enrol with a code and restart."""
        self._open()
        world = self.context.host
        got = enrol(ADDRESS, code, self.link, world.entropy, name=self.name, software=world.software)
        reading_home.take_identity(self.context, got)
        self.switch_off()
        self.switch_on()

    def switch_on(self) -> None:
        """Start the gate, as a new process since the last boot."""
        self._open()
        self.puller, self.pusher = self.context.sync(self.link, 0)

    def _open(self) -> None:
        home = Home(self.folder).ready()
        entropy = chance(f"{self.folder}{self.boot!r}{self.hands.up}")
        world = HostEnvironment(self.hands.wall, self.hands.monotonic, entropy, self.boot, "gatehouse-gate test")
        self.context = open_gate_context(home, read_config(home.settings), world)

    def switch_off(self) -> None:
        """Stop the gate cleanly."""
        self.context.close()

    def home_settings(self, text: str) -> None:
        """Write its settings; they count from the next start."""
        Home(self.folder).settings.write_text(f"{text}\n")

    def lose_power(self) -> None:
        """Stop the gate without warning: only what was committed remains."""
        self.context.roster.close()
        self.context.database.close()

    def boot_up(self, *, wall_error_ms: int = 0) -> None:
        """Reboot the machine; without a battery clock its wall clock may be wrong by any amount."""
        self.boot = sha256(self.boot).digest()[:8]
        self.hands.up, self.hands.wall_error = 5_000, wall_error_ms
        self.lamp.cut = False
        self.switch_on()

    def image(self, place: Path) -> Path:
        """Copy its card as it is now; return the copy's folder."""
        self.switch_off()
        shutil.copytree(self.folder, place)
        self.switch_on()
        return place

    def put_back(self, image: Path) -> None:
        """Restore an older image of the card and reboot."""
        self.switch_off()
        shutil.rmtree(self.folder)
        shutil.copytree(image, self.folder)
        self.boot_up()

    # -- scanning -----------------------------------------------------------------------------------------------------

    def scan(
        self,
        code: str,
        *,
        reader: str = "",
        direction: str | None = None,
        mode: str | None = None,
        override: Override | None = None,
    ) -> dict[str, Any]:
        """Scan a code, by default at a new reader each time so that it is not a repeated scan."""
        self._shown += 1
        options = ScanOptions(direction, mode, "", override)
        return self.context.gate.handle(Presentation(code, reader or f"reader {self._shown}", options), self.lamp)

    def reason(self, code: str, **how: Any) -> str:
        """Scan a code; return only the verdict's reason."""
        return str(self.scan(code, **how)["reason"])

    def sync(self) -> dict[str, Any]:
        """Sync once, as `gatehouse-gate sync --once` does."""
        return commands.sync_once(self.context, self.puller, self.pusher)

    def supervisor(self, pin: str) -> SupervisorRow:
        """The supervisor with this PIN."""
        rows = [
            row for snapshot in self.context.roster.snapshots.values() for row in snapshot.rows.supervisors.values()
        ]
        answer = self.context.supervisors.ask(pin, rows, self.context.time.now().at)
        assert answer.supervisor is not None, answer.message
        return answer.supervisor

    # -- its state ----------------------------------------------------------------------------------------------------

    @property
    def number(self) -> int:
        """The device number."""
        return self.context.require_enrolled().device_number

    @property
    def unsent(self) -> int:
        """The number of entries that the server has not acknowledged."""
        return self.context.journal.unsent()

    def entries(self) -> list[Entry]:
        """The whole journal."""
        return list(self.context.journal.entries())

    def admissions(self) -> list[Entry]:
        """The entries that admitted somebody."""
        return [entry for entry in self.entries() if entry.admitted]

    def branches(self) -> list[int]:
        """The numbers of its journal branches with entries, oldest first."""
        numbers = [entry.branch for entry in self.entries() if entry.device == self.number]
        return list(dict.fromkeys(numbers))
