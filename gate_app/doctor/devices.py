"""Readers, lamps, loudspeaker and barrier: each is tried, and where one fails, the system is asked why."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from gate_app.doctor.finding import Code, Examined, Finding, fault, well
from hardware import checkup
from hardware.devices import CAMERA_REMEDY, ReaderOptions
from hardware.ports import ReaderKind

SOUND = "sound"
DEVICES = Path("/dev")


def check_camera(examined: Examined) -> Finding:
    """Whether the libraries for cameras are there, and a camera if one is wanted."""
    try:
        import cv2
        import zxingcpp  # noqa: F401 - checks only that it can be imported
    except ImportError as why:
        wanted = any(reader.kind == ReaderKind.CAMERA for reader in examined.config.readers)
        message = f"Libraries are missing ({why}). {CAMERA_REMEDY}."
        return fault("camera", Code.CAMERA_LIBRARIES, message) if wanted else well("camera", message)
    found = sorted(str(path) for path in DEVICES.glob("video*"))
    message = f"OpenCV {cv2.__version__}, zxing-cpp {version('zxing-cpp')}; cameras: {', '.join(found) or 'none'}."
    wanted = any(reader.kind == ReaderKind.CAMERA and not reader.source for reader in examined.config.readers)
    if wanted and not found:
        return fault("camera", Code.CAMERA_MISSING, f"{message} Plug one in, and try another cable and socket.")
    return well("camera", message)


def check_scanner(examined: Examined) -> Finding:
    """Whether every reader in the settings works."""
    readers = [reader.options for reader in examined.config.readers]
    if not readers:
        return well("scanner", "No reader in the settings; choose one with --reader.")

    def attempt() -> list[checkup.Finding]:
        return checkup.check_readers(readers, examined.host.monotonic)

    return _tried("scanner", examined, attempt, readers)


def check_sound(examined: Examined) -> Finding:
    """Whether the loudspeaker works, if the gate has one."""
    if SOUND not in examined.config.indicators:
        return well("sound", "Not configured.")
    return _tried("sound", examined, lambda: checkup.check_indicators([SOUND], examined.config.signals))


def check_gpio(examined: Examined) -> Finding:
    """Whether lamps and barrier work."""
    config = examined.config
    lamps = [kind for kind in config.indicators if kind != SOUND]

    def attempt() -> list[checkup.Finding]:
        tried = checkup.check_indicators(lamps, config.signals)
        return [*tried, checkup.check_barrier(config.barrier, config.signals)]

    return _tried("gpio", examined, attempt)


def _tried(
    part: str,
    examined: Examined,
    attempt: Callable[[], list[checkup.Finding]],
    readers: Iterable[ReaderOptions] = (),
) -> Finding:
    """Try devices, unless a running gate needs them."""
    if holder := examined.home.holder():
        return well(part, f"Not tried, because {holder} is using this gate: its screen shows faults.")
    tried = attempt()
    message = " ".join(f"{finding.device}: {finding.message}" for finding in tried)
    failed = {finding.device: finding.code for finding in tried if not finding.works}
    # Also of those that open: of two programs at one serial line each gets half of the letters.
    causes = [(code, words) for code, words in map(_cause, readers) if code]
    if causes:
        return fault(part, Code(causes[0][0]), " ".join([message, *(words for _, words in causes)]))
    if not failed:
        return well(part, message)
    return fault(part, Code(next((code for code in failed.values() if code), f"{part}_fails")), message)


def _cause(reader: ReaderOptions) -> tuple[str, str]:
    """Why a device file cannot be used, as a code and in words; both empty if the system sees nothing wrong with it."""
    kind = "camera" if reader.kind == ReaderKind.CAMERA else "scanner"
    path = Path(f"/dev/video{reader.source}") if reader.source.isdigit() else Path(reader.source)
    if not path.is_absolute():
        return "", ""
    if not path.exists():
        return f"{kind}_missing", f"{path} is not there: plug it in, and try another cable and socket."
    if not os.access(path, os.R_OK | os.W_OK, effective_ids=True):
        return f"{kind}_no_permission", (
            f"This user may not use {path}: add it to the group {_group(path)}"
            f" (sudo usermod --append --groups {_group(path)} gatehouse), and start the gate again."
        )
    if user := _user_of(path):
        return f"{kind}_busy", f"{path} is in use by {user}: close that program."
    return "", ""


def _group(path: Path) -> str:
    try:
        return path.group()
    except (KeyError, OSError):
        return "of that file"


def _user_of(path: Path) -> str:
    """The other process that has this device open, as far as this user may know."""
    device, own = path.resolve(), str(os.getpid())
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if process.name != own and any(_points_at(handle, device) for handle in (process / "fd").iterdir()):
                return f"{(process / 'comm').read_text().strip()} (process {process.name})"
    return ""


def _points_at(handle: Path, device: Path) -> bool:
    with suppress(OSError):
        return handle.readlink() == device
    return False
