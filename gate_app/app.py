"""Composition root: the only place that picks the real clocks, entropy and HTTP transport."""

from __future__ import annotations

import os
import secrets
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_data_path

from gate_app.gate_context import HostEnvironment
from gate_app.installation.config import Config
from gate_app.installation.home import Home
from shared.clock import monotonic_clock, wall_clock
from shared.release import DISTRIBUTION

if TYPE_CHECKING:
    from gate_app.sync.http_transport import HttpTransport

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_MACHINE_ID = Path("/etc/machine-id")
_SERIAL = Path("/sys/firmware/devicetree/base/serial-number")


def this_host() -> HostEnvironment:
    """This machine's clocks, entropy and ids."""
    return HostEnvironment(wall_clock, monotonic_clock, os.urandom, boot_id(), software(), machine())


def home_at(folder: Path | None) -> Home:
    """The given home, or the one in the platform's data folder."""
    return Home(folder.expanduser().absolute() if folder else user_data_path("gatehouse-gate"))


def http_transport(config: Config) -> HttpTransport:
    """The HTTP transport to the server."""
    # A gate that only scans should not spend time importing the HTTP client.
    from gate_app.sync.http_transport import HttpTransport

    return HttpTransport(config.ca_file)


def jitter() -> float:
    """A random number in [0, 1) for waiting times."""
    return secrets.randbelow(1 << 20) / (1 << 20)


def boot_id() -> bytes:
    """Eight bytes that identify this run of the machine; random where the system does not provide a boot id."""
    try:
        return bytes.fromhex(_BOOT_ID.read_text().strip().replace("-", ""))[:8]
    except (OSError, ValueError):
        return os.urandom(8)


def machine() -> str:
    """What tells this machine from another that runs from a copy of its card: serial number, network hardware."""
    cards = sorted(device.with_name("address") for device in Path("/sys/class/net").glob("*/device"))
    texts = (_read_text(path) for path in (_SERIAL, _MACHINE_ID, *cards))
    return " ".join(text for text in texts if text)


def _read_text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip("\0 \n")
    except OSError:
        return ""


def software() -> str:
    """Name and version of this program, for the server's page of devices."""
    try:
        return f"gatehouse-gate {version(DISTRIBUTION)}"
    except PackageNotFoundError:
        return "gatehouse-gate"
