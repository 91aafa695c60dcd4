"""Looks at everything a gate leans on, and says what to do about what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import requests

from gate_app.config import Config, config_or_none_of_it
from gate_app.home import Home
from gate_app.identity import load
from gate_app.journal_reading import verify_in
from gate_app.lodge import World
from gate_app.reading_home import journal, status
from gate_app.status import disk_status
from hardware.devices import CAMERA_REMEDY, open_barrier, open_indicators
from hardware.ports import DeviceError
from shared.errors import GatehouseError, NotFound, StorageError

ANSWER_S = 5.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One part, whether it works, and what to do."""

    part: str
    ok: bool
    words: str


Check = Callable[[Home, Config, World], Finding]


def findings(home: Home, world: World) -> Iterator[Finding]:
    """One a part. A part that cannot be looked at is a finding too."""
    try:
        home.require_readable()
    except StorageError as why:
        yield Finding("home", False, why.message)
        return
    config, mistakes = config_or_none_of_it(home.settings)
    if mistakes:
        yield Finding("settings", False, mistakes)
    for part, check in CHECKS.items():
        try:
            yield check(home, config, world)
        except (GatehouseError, DeviceError) as why:
            yield Finding(part, False, str(why))


def _enrolment(home: Home, _config: Config, _world: World) -> Finding:
    identity = load(home.identity)
    if identity is None:
        return Finding("enrolment", False, "Not enrolled. Run: gatehouse-gate enrol URL CODE.")
    return Finding("enrolment", True, f"{identity.device_name or 'This gate'} of {identity.organisation_name}.")


def _camera(_home: Home, config: Config, _world: World) -> Finding:
    try:
        import cv2
        import zxingcpp  # noqa: F401 - only whether it is there
    except ImportError as why:
        wanted = any(reader.kind == "camera" for reader in config.readers)
        return Finding("camera", not wanted, f"Its libraries are missing ({why}). {CAMERA_REMEDY}.")
    found = sorted(str(path) for path in Path("/dev").glob("video*"))
    words = f"OpenCV {cv2.__version__}, zxing-cpp {version('zxing-cpp')}; cameras: {', '.join(found) or 'none'}."
    wanted = any(reader.kind == "camera" and not reader.source for reader in config.readers)
    return Finding("camera", bool(found) or not wanted, words)


def _scanner(_home: Home, config: Config, _world: World) -> Finding:
    kinds = ", ".join(f"{reader.kind} {reader.name}".strip() for reader in config.readers)
    if not kinds:
        return Finding("scanner", True, "No reader is named in the settings; --reader names one at the start.")
    return Finding("scanner", True, f"Named in the settings: {kinds}.")


def _sound(_home: Home, config: Config, _world: World) -> Finding:
    if "sound" not in config.indicators:
        return Finding("sound", True, "Not asked for.")
    for indicator in open_indicators(("sound",)):
        indicator.close()
    return Finding("sound", True, "A player is there.")


def _gpio(_home: Home, config: Config, _world: World) -> Finding:
    named = [kind for kind in config.indicators if kind != "sound"]
    for indicator in open_indicators(tuple(named)):
        indicator.close()
    barrier = open_barrier(config.barrier)
    if barrier is not None:
        barrier.close()
    return Finding("gpio", True, f"Lamps: {', '.join(named) or 'none'}; barrier: {config.barrier}.")


def _clock(home: Home, _config: Config, world: World) -> Finding:
    try:
        clock = status(home, world)["clock"]
    except NotFound:
        return Finding("clock", False, "No server's time was ever heard. Enrol and sync.")
    signed = clock["source"] == "server"
    advice = "" if signed else " Sync once: since this machine started it heard no server's time."
    words = f"{clock['now']} ± {clock['uncertainty_ms'] / 1000:.1f} s by {clock['source']}.{advice}"
    return Finding("clock", signed, words)


def _disk(home: Home, config: Config, _world: World) -> Finding:
    if not home.folder.is_dir():
        return Finding("disk", False, f"{home.folder} does not exist yet. Name another folder with --home, or enrol.")
    disk = disk_status(home.folder, config.least_free_mb)
    advice = " Free some space or change the card." if disk["low"] else ""
    return Finding("disk", not disk["low"], f"{disk['free_mb']} MB free.{advice}")


def _journal(home: Home, _config: Config, _world: World) -> Finding:
    try:
        with journal(home) as connection:
            chain = verify_in(connection)
    except NotFound:
        return Finding("journal", True, "Nothing was written down here yet.")
    if chain.ok:
        return Finding("journal", True, f"{chain.entries} entries, each names the one before.")
    places = ", ".join(chain.lost) or str(chain.broken_at)
    words = f"{chain.entries} entries, damaged at {places}. Everything else is kept. Change the card after this event."
    return Finding("journal", False, words)


def _network(home: Home, config: Config, _world: World) -> Finding:
    identity = load(home.identity)
    if identity is None:
        return Finding("network", True, "No server is known yet.")
    try:
        answer = requests.get(f"{identity.server}/healthz", timeout=ANSWER_S, verify=config.ca_file or True)
    except requests.RequestException as why:
        return Finding(
            "network", False, f"{identity.server} does not answer ({type(why).__name__}). Check cable and Wi-Fi."
        )
    return Finding("network", answer.ok, f"{identity.server} answers (HTTP {answer.status_code}).")


CHECKS: dict[str, Check] = {
    "enrolment": _enrolment,
    "camera": _camera,
    "scanner": _scanner,
    "sound": _sound,
    "gpio": _gpio,
    "clock": _clock,
    "disk": _disk,
    "journal": _journal,
    "network": _network,
}
