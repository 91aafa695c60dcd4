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
_MACHINE_ID = Path("/etc/machine-id")
_SERIAL = Path("/sys/firmware/devicetree/base/serial-number")


def real_world() -> World:
    """This machine's clocks and chance."""
    return World(wall_clock, monotonic_clock, os.urandom, boot_id(), software(), machine())


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


def machine() -> str:
    """What tells this machine from another that runs from a copy of its card: serial number, network hardware."""
    cards = sorted(device.with_name("address") for device in Path("/sys/class/net").glob("*/device"))
    told = (_read_text(place) for place in (_SERIAL, _MACHINE_ID, *cards))
    return " ".join(words for words in told if words)


def _read_text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip("\0 \n")
    except OSError:
        return ""


def software() -> str:
    """Name and version of this program, for the server's page of devices."""
    try:
        return f"gatehouse-gate {version('gatehouse')}"
    except PackageNotFoundError:
        return "gatehouse-gate"
