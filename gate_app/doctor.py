"""Checks everything a gate depends on, and says what to do about problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import requests

from gate_app.config import Config, config_or_defaults
from gate_app.database import disk_problem
from gate_app.gate_context import HostEnvironment
from gate_app.home import Home
from gate_app.identity import load
from gate_app.journal.reading import verify_in
from gate_app.reading_home import journal, status
from gate_app.status import disk_status, journal_status
from hardware import checkup
from hardware.devices import CAMERA_REMEDY
from hardware.ports import DeviceError
from shared.errors import GatehouseError, NotFound, StorageError
from shared.lifecycle import OVER

ANSWER_S = 5.0
SOUND = "sound"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of checking one part: whether it works, and what to do if not."""

    part: str
    ok: bool
    message: str


Check = Callable[[Home, Config, HostEnvironment], Finding]


def findings(home: Home, host: HostEnvironment) -> Iterator[Finding]:
    """One finding per part. A part that cannot be checked is a finding too."""
    try:
        home.require_readable()
    except StorageError as why:
        yield Finding("home", False, why.message)
        return
    config, mistakes = config_or_defaults(home.settings)
    if mistakes:
        yield Finding("settings", False, mistakes)
    for part, check in CHECKS.items():
        try:
            yield check(home, config, host)
        except (GatehouseError, DeviceError) as why:
            yield Finding(part, False, str(why))


def _enrolment(home: Home, _config: Config, _host: HostEnvironment) -> Finding:
    identity = load(home.identity)
    if identity is None:
        return Finding("enrolment", False, "Not enrolled. Run: gatehouse-gate enrol URL CODE.")
    return Finding("enrolment", True, f"{identity.device_name or 'This gate'} of {identity.organisation_name}.")


def _ready(home: Home, _config: Config, host: HostEnvironment) -> Finding:
    try:
        found = status(home, host)
    except NotFound:
        return Finding("ready", False, "This gate has not been used yet.")
    missing = [event["no_gate"] for event in found["events"] if event.get("no_gate") and event["status"] not in OVER]
    if found["ready"] and not missing:
        posts = ", ".join(f"gate {event['gate']} at {event['name']}" for event in found["events"] if event["gate"])
        return Finding("ready", True, f"Stands at {posts}." if posts else "Ready.")
    return Finding("ready", False, ". ".join(dict.fromkeys([found["not_ready"] or "", *missing])).strip(". ") + ".")


def _camera(_home: Home, config: Config, _host: HostEnvironment) -> Finding:
    try:
        import cv2
        import zxingcpp  # noqa: F401 - checks only that it can be imported
    except ImportError as why:
        wanted = any(reader.kind == "camera" for reader in config.readers)
        return Finding("camera", not wanted, f"Libraries are missing ({why}). {CAMERA_REMEDY}.")
    found = sorted(str(path) for path in Path("/dev").glob("video*"))
    message = f"OpenCV {cv2.__version__}, zxing-cpp {version('zxing-cpp')}; cameras: {', '.join(found) or 'none'}."
    wanted = any(reader.kind == "camera" and not reader.source for reader in config.readers)
    return Finding("camera", bool(found) or not wanted, message)


def _scanner(home: Home, config: Config, host: HostEnvironment) -> Finding:
    if not config.readers:
        return Finding("scanner", True, "No reader in the settings; choose one with --reader.")
    options = [reader.options for reader in config.readers]
    return _tried("scanner", home, lambda: checkup.check_readers(options, host.monotonic))


def _sound(home: Home, config: Config, _host: HostEnvironment) -> Finding:
    if SOUND not in config.indicators:
        return Finding("sound", True, "Not configured.")
    return _tried("sound", home, lambda: checkup.check_indicators([SOUND], config.signals))


def _gpio(home: Home, config: Config, _host: HostEnvironment) -> Finding:
    lamps = [kind for kind in config.indicators if kind != SOUND]
    return _tried(
        "gpio",
        home,
        lambda: [
            *checkup.check_indicators(lamps, config.signals),
            checkup.check_barrier(config.barrier, config.signals),
        ],
    )


def _tried(part: str, home: Home, attempts: Callable[[], list[checkup.Finding]]) -> Finding:
    """Try devices, unless a running gate needs them."""
    if holder := home.holder():
        return Finding(part, True, f"Not tried, because {holder} is using this gate: its screen shows faults.")
    tried = attempts()
    message = " ".join(f"{finding.device}: {finding.message}" for finding in tried)
    return Finding(part, all(finding.works for finding in tried), message)


def _clock(home: Home, _config: Config, host: HostEnvironment) -> Finding:
    try:
        clock = status(home, host)["clock"]
    except NotFound:
        return Finding("clock", False, "Never synchronised with a server. Enrol and sync.")
    signed = clock["source"] == "server"
    advice = "" if signed else " Sync once: there has been no server time since this machine started."
    message = f"{clock['now']} ± {clock['uncertainty_ms'] / 1000:.1f} s by {clock['source']}.{advice}"
    return Finding("clock", signed, message)


def _disk(home: Home, config: Config, _host: HostEnvironment) -> Finding:
    if not home.folder.is_dir():
        return Finding("disk", False, f"{home.folder} does not exist yet. Choose another folder with --home, or enrol.")
    if problem := disk_problem(home.database):
        return Finding("disk", False, problem)
    disk = disk_status(home.folder, config.least_free_mb)
    advice = " Free some space or replace the card." if disk["low"] else ""
    return Finding("disk", not disk["low"], f"{disk['free_mb']} MB free.{advice}")


def _journal(home: Home, _config: Config, _host: HostEnvironment) -> Finding:
    try:
        with journal(home) as connection:
            chain, fork = verify_in(connection), journal_status(connection, 0)["fork_words"]
    except NotFound:
        return Finding("journal", True, "No entries yet.")
    if chain.ok and fork:
        return Finding("journal", False, fork)
    if chain.ok:
        return Finding("journal", True, f"{chain.entries} entries, chain intact.")
    places = ", ".join(chain.lost) or str(chain.broken_at)
    message = (
        f"{chain.entries} entries, damaged at {places}. Everything else is intact. Replace the card after this event."
    )
    return Finding("journal", False, message)


def _network(home: Home, config: Config, _host: HostEnvironment) -> Finding:
    identity = load(home.identity)
    if identity is None:
        return Finding("network", True, "Not enrolled with a server yet.")
    try:
        answer = requests.get(f"{identity.server}/healthz", timeout=ANSWER_S, verify=config.ca_file or True)
    except requests.RequestException as why:
        return Finding(
            "network", False, f"{identity.server} does not answer ({type(why).__name__}). Check the cable or Wi-Fi."
        )
    return Finding("network", answer.ok, f"{identity.server} answers (HTTP {answer.status_code}).")


CHECKS: dict[str, Check] = {
    "enrolment": _enrolment,
    "ready": _ready,
    "camera": _camera,
    "scanner": _scanner,
    "sound": _sound,
    "gpio": _gpio,
    "clock": _clock,
    "disk": _disk,
    "journal": _journal,
    "network": _network,
}
