"""Composition root: the only place of the gate that picks real clocks, real chance and the real wire."""

from __future__ import annotations

import os
import secrets
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_data_path

from gate_app.config import Config
from gate_app.home import Home
from gate_app.lodge import World
from shared.clock import monotonic_clock, wall_clock

if TYPE_CHECKING:
    from gate_app.sync.http_wire import HttpWire

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def real_world() -> World:
    """This machine's clocks and chance."""
    return World(wall_clock, monotonic_clock, os.urandom, boot_id(), software())


def home_at(folder: Path | None) -> Home:
    """The home that was named, or the platform's data folder."""
    return Home(folder.expanduser().absolute() if folder else user_data_path("gatehouse-gate"))


def http_wire(config: Config) -> HttpWire:
    """The wire to the server."""
    # A gate that only scans needs no network, nor the time to load what speaks to it.
    from gate_app.sync.http_wire import HttpWire

    return HttpWire(config.ca_file)


def jitter() -> float:
    """Chance for waiting times, in [0, 1)."""
    return secrets.randbelow(1 << 20) / (1 << 20)


def boot_id() -> bytes:
    """Eight bytes that stay the same until this machine starts again (or this process ends, where no system tells)."""
    try:
        return bytes.fromhex(_BOOT_ID.read_text().strip().replace("-", ""))[:8]
    except (OSError, ValueError):
        return os.urandom(8)


def software() -> str:
    """Name and version of this program, for the server's page of devices."""
    try:
        return f"gatehouse-gate {version('gatehouse')}"
    except PackageNotFoundError:
        return "gatehouse-gate"
