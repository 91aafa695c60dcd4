"""One sync of a gate with whatever answers as its server."""

from __future__ import annotations

from gate_app.command_line import commands
from gate_app.sync.client import Transport
from tests.gate_builders import GateAtHome


def sync(gate: GateAtHome, server: Transport) -> dict[str, object]:
    """What the command says of it."""
    return commands.sync_once(gate.context, *gate.context.sync(server, 0))
