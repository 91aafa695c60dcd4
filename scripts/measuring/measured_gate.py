"""A real gate in a folder of its own, enrolled with a measured server, and a wire that counts what it carries."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gate_app import commands, reading_home
from gate_app.app import http_wire, real_world
from gate_app.config import read_config
from gate_app.enrolment import enrol
from gate_app.gate import Presented, Told
from gate_app.gathering import Wish
from gate_app.home import Home
from gate_app.lodge import Lodge, open_lodge
from gate_app.sync.client import Letter, Reply, Wire
from shared.admission import Mode, Verdict


@dataclass
class CountingWire:
    """Carries everything, and counts the bytes that came down."""

    wire: Wire
    down: int = 0

    def carry(self, letter: Letter) -> Reply:
        """One request, one answer."""
        reply = self.wire.carry(letter)
        self.down += len(reply.body) + sum(len(name) + len(value) + 4 for name, value in reply.headers.items())
        return reply


class DarkLamp:
    """Nobody looks."""

    def give(self, told: Told, verdict: Verdict, mode: Mode) -> None:
        """A verdict."""

    def again(self, told: Told) -> None:
        """The same once more."""


@dataclass
class MeasuredGate:
    """One gate of this process; the caller closes it."""

    folder: Path
    lodge: Lodge
    wire: CountingWire
    lamp: DarkLamp = field(default_factory=DarkLamp)

    @classmethod
    def enrolled(cls, folder: Path, address: str, code: str) -> MeasuredGate:
        """A machine that has just read its enrolment code."""
        first = cls._opened(folder)
        world = first.lodge.world
        reading_home.take_identity(first.lodge, enrol(address, code, first.wire, world.entropy, name=folder.name))
        first.close()
        return cls._opened(folder)

    @classmethod
    def _opened(cls, folder: Path) -> MeasuredGate:
        home = Home(folder).ready()
        lodge = open_lodge(home, read_config(home.settings), real_world())
        return cls(folder, lodge, CountingWire(http_wire(lodge.config)))

    def sync(self) -> dict[str, Any]:
        """Everything down and up, as `gatehouse-gate sync --once` does."""
        told = commands.sync_once(self.lodge, *self.lodge.sync(self.wire, 0))
        if "error" in told:
            raise RuntimeError(f"the gate could not sync: {told['error']}")
        return told

    def show(self, code: str, reader: str, mode: str | None = None) -> Told:
        """Holds a code in front of a reader."""
        return self.lodge.gate.handle(Presented(code, reader, Wish(mode=mode)), self.lamp)

    def close(self) -> None:
        """Lets go of its files."""
        with contextlib.suppress(AttributeError):
            self.wire.wire.close()  # type: ignore[attr-defined]  # only the real wire keeps a connection
        self.lodge.close()
