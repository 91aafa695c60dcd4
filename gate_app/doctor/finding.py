"""The result of checking one part of a gate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gate_app.gate_context import HostEnvironment
from gate_app.installation.config import Config
from gate_app.installation.home import Home
from hardware.machine import MachineState, machine_state


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of checking one part: whether it works, and what to do if not; `code` names the fault."""

    part: str
    ok: bool
    message: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class Examined:
    """What is examined: a home with its settings, and the machine it is on."""

    home: Home
    config: Config
    host: HostEnvironment
    look: Callable[[], MachineState] = machine_state


def well(part: str, message: str) -> Finding:
    """The part works."""
    return Finding(part, True, message)


def fault(part: str, code: str, message: str) -> Finding:
    """The part does not work."""
    return Finding(part, False, message, code)
