"""A real gate enrolled with a measured server, and a transport that counts received bytes."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gate_app import reading_home
from gate_app.app import http_transport, this_host
from gate_app.command_line import commands
from gate_app.enrolment import enrol
from gate_app.gate_context import GateContext, open_gate_context
from gate_app.installation.config import read_config
from gate_app.installation.home import Home
from gate_app.scanning.gate import Presentation, ScanResult
from gate_app.scanning.gathering import ScanOptions
from gate_app.sync.client import HttpRequest, HttpResponse, Transport
from shared.admission import Mode, Verdict


@dataclass
class CountingTransport:
    """Sends every request and counts the bytes of the responses."""

    transport: Transport
    received: int = 0

    def send(self, request: HttpRequest) -> HttpResponse:
        """Send one request and return its response."""
        response = self.transport.send(request)
        self.received += len(response.body) + sum(
            len(name) + len(value) + 4 for name, value in response.headers.items()
        )
        return response


class NullLamp:
    """A lamp that shows nothing."""

    def show(self, result: ScanResult, verdict: Verdict, mode: Mode) -> None:
        """Ignore a verdict."""

    def repeat(self, result: ScanResult) -> None:
        """Ignore a repeated result."""


@dataclass
class MeasuredGate:
    """A gate in this process; the caller closes it."""

    folder: Path
    context: GateContext
    transport: CountingTransport
    lamp: NullLamp = field(default_factory=NullLamp)

    @classmethod
    def enrolled(cls, folder: Path, address: str, code: str) -> MeasuredGate:
        """Enrol a new gate with this code."""
        unenrolled = cls._open(folder)
        host = unenrolled.context.host
        reading_home.take_identity(
            unenrolled.context, enrol(address, code, unenrolled.transport, host.entropy, name=folder.name)
        )
        unenrolled.close()
        return cls._open(folder)

    @classmethod
    def _open(cls, folder: Path) -> MeasuredGate:
        home = Home(folder).ready()
        context = open_gate_context(home, read_config(home.settings), this_host())
        return cls(folder, context, CountingTransport(http_transport(context.config)))

    def sync(self) -> dict[str, Any]:
        """Sync once, as `gatehouse-gate sync --once` does."""
        result = commands.sync_once(self.context, *self.context.sync(self.transport, 0))
        if "error" in result:
            raise RuntimeError(f"the gate could not sync: {result['error']}")
        return result

    def show(self, code: str, reader: str, mode: str | None = None) -> ScanResult:
        """Scan a code at a reader."""
        return self.context.gate.handle(Presentation(code, reader, ScanOptions(mode=mode)), self.lamp)

    def close(self) -> None:
        """Close its connection and its files."""
        with contextlib.suppress(AttributeError):
            self.transport.transport.close()  # type: ignore[attr-defined]  # only the HTTP transport keeps a connection
        self.context.close()
