"""The machine: clock, disk, power, temperature, and the port of the screen."""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Final

from gate_app.clock.time_keeper import TimeSource
from gate_app.doctor.finding import Code, Examined, Finding, fault, well
from gate_app.reading_home import status
from gate_app.status import disk_status
from gate_app.storage.database import disk_problem
from shared.clock import MonotonicClock
from shared.errors import NotFound

WRONG_CLOCK_MS: Final = 120_000
"""Beyond this, certificates, log lines and other programs suffer; scans go by the server's time all the same."""
HOT_CELSIUS: Final = 80.0
"""A Raspberry Pi slows down from here on."""
SYNCS: Final = 16
SLOW_SYNC_MS: Final = 150
"""A guest waits for one sync at least."""
ANSWER_S: Final = 5.0


def check_clock(examined: Examined) -> Finding:
    """Whether the time is known, and whether the system's own clock agrees with it."""
    try:
        clock = status(examined.home, examined.host)["clock"]
    except NotFound:
        return fault("clock", Code.CLOCK_NEVER_SET, "Never synchronised with a server. Enrol and sync.")
    message = f"{clock['now']} ± {clock['uncertainty_ms'] / 1000:.1f} s by {clock['source']}."
    if clock["source"] not in {TimeSource.SERVER, TimeSource.BY_HAND}:
        advice = "Sync once: there has been no server time since this machine started."
        return fault("clock", Code.CLOCK_NEVER_SET, f"{message} {advice}")
    off = clock["offset_ms"]
    if abs(off) > WRONG_CLOCK_MS:
        where = "behind" if off > 0 else "ahead"
        return fault(
            "clock",
            Code.CLOCK_WRONG,
            f"{message} This machine's own clock is {abs(off) // 1000} s {where}. Scans are not affected; set it, or"
            " let systemd-timesyncd do so: timedatectl set-ntp true.",
        )
    if clock["source"] != TimeSource.SERVER:
        return fault("clock", Code.CLOCK_BY_HAND, f"{message} Sync once to have the server's time.")
    return well("clock", message)


def check_disk(examined: Examined) -> Finding:
    """Whether the disk can be written, has room, and keeps what is written fast enough."""
    home, config = examined.home, examined.config
    if not home.folder.is_dir():
        return fault(
            "disk", Code.NO_HOME, f"{home.folder} does not exist yet. Choose another folder with --home, or enrol."
        )
    if problem := disk_problem(home.database):
        return fault("disk", Code.DISK_READ_ONLY if "read-only" in problem else Code.DISK_FULL, problem)
    disk = disk_status(home.folder, config.least_free_mb)
    if disk["low"]:
        return fault("disk", Code.DISK_LOW, f"{disk['free_mb']} MB free. Free some space or replace the card.")
    return _syncing(home.folder, examined.host.monotonic, f"{disk['free_mb']} MB free.")


def _syncing(folder: Path, monotonic_ns: MonotonicClock, message: str) -> Finding:
    """Whether writes reach the card soon: a guest waits for it."""
    try:
        took = sorted(_sync_times(folder, monotonic_ns))
    except OSError as why:
        # Another user's home: what the disk says of itself has been told.
        return well("disk", f"{message} Writing was not tried ({why.strerror}).")
    usual, worst = took[len(took) // 2], took[-1]
    message += f" A write takes {usual:.0f} ms, the slowest of {SYNCS} took {worst:.0f} ms."
    if usual <= SLOW_SYNC_MS:
        return well("disk", message)
    advice = "The card is too slow or wearing out: replace it, before the evening by one of class A1 or better."
    return fault("disk", Code.DISK_SLOW, f"{message} {advice}")


def _sync_times(folder: Path, monotonic_ns: MonotonicClock) -> Iterator[float]:
    trial = folder / f".doctor-{os.getpid()}"
    handle = os.open(trial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        for _ in range(SYNCS):
            began = monotonic_ns()
            os.write(handle, bytes(4096))
            os.fsync(handle)
            yield (monotonic_ns() - began) / 1_000_000
    finally:
        os.close(handle)
        trial.unlink(missing_ok=True)


def check_power(examined: Examined) -> Finding:
    """Whether the machine has enough power."""
    state = examined.look()
    if state.under_voltage:
        return fault(
            "power",
            Code.UNDER_VOLTAGE,
            "The voltage is too low: cameras fail and cards lose what was written. Use the maker's own power supply"
            " (5.1 V, 3 A or more), a short thick cable, and a powered hub for what is plugged in.",
        )
    if state.on_battery:
        charge = "" if state.battery_percent is None else f" at {state.battery_percent} %"
        return fault("power", Code.ON_BATTERY, f"Runs on its battery{charge}. Plug it in.")
    return well("power", "No complaint." if state.under_voltage is False else "This machine does not report it.")


def check_temperature(examined: Examined) -> Finding:
    """Whether the machine is cool enough to work at full speed."""
    state = examined.look()
    if state.celsius is None and not state.throttled:
        return well("temperature", "This machine does not report it.")
    message = "Slowed down by heat." if state.celsius is None else f"{state.celsius:.0f} °C."
    if state.throttled or (state.celsius or 0) >= HOT_CELSIUS:
        advice = "It slows down: take it out of the sun, open its case, or give it a heat sink or a fan."
        return fault("temperature", Code.OVERHEATED, f"{message} {advice}")
    return well("temperature", message)


def check_screen(examined: Examined) -> Finding:
    """Whether the screen of a running gate answers, or its port is free for one that is to start."""
    host, port = examined.config.screen_host, examined.config.screen_port
    holder = examined.home.holder()
    if "gatehouse-gate run" in holder:
        return _answering(_near(host), port)
    return _free(host, port)


def _near(host: str) -> str:
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - what a gate listens at


def _answering(host: str, port: int) -> Finding:
    connection = HTTPConnection(host, port, timeout=ANSWER_S)
    try:
        connection.request("GET", "/")
        answer = connection.getresponse().status
    except (OSError, HTTPException) as why:
        return fault(
            "screen",
            Code.SCREEN_NOT_REACHABLE,
            f"The gate runs, but its screen at http://{host}:{port}/ does not answer ({type(why).__name__}). If it was"
            " started with --screen or --headless, this is no fault; else restart the gate.",
        )
    finally:
        connection.close()
    return well("screen", f"http://{host}:{port}/ answers (HTTP {answer}).")


def _free(host: str, port: int) -> Finding:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError as why:
            return _not_free(host, port, why)
    return well("screen", f"Port {port} is free.")


def _not_free(host: str, port: int, why: OSError) -> Finding:
    if why.errno == errno.EADDRINUSE:
        message = f"Port {port} is taken{_by_whom(port)}. Stop that program, or set another screen_port in gate.toml."
        return fault("screen", Code.PORT_TAKEN, message)
    message = f"The screen cannot listen at {host}, port {port}: {why.strerror}. Correct screen_host in gate.toml."
    return fault("screen", Code.SCREEN_ADDRESS, message)


def _by_whom(port: int) -> str:
    """The process that listens there, as far as this user may know."""
    if not sys.platform.startswith("linux"):
        return ""
    inodes = set(_listening(port))
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if any(str(handle.readlink()) in inodes for handle in (process / "fd").iterdir()):
                return f" by {(process / 'comm').read_text().strip()} (process {process.name})"
    return ""


def _listening(port: int) -> Iterator[str]:
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with suppress(OSError):
            for line in Path(table).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                    yield f"socket:[{fields[9]}]"
