"""Opens what the configuration names. A named device that is missing is an error, never a fake in its place."""

import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hardware.fakes import FakeBarrier, FakeIndicator, FakeReader
from hardware.keyboard import KeyboardReader
from hardware.ports import Barrier, CodeReader, DeviceError, Indicator, MonotonicNs
from hardware.sound import Sound, find_player

if TYPE_CHECKING:
    from hardware.decoder import Decoded

READERS = ("camera", "keyboard", "fake", "usb", "serial")
CAMERA_REMEDY = "Install the camera's libraries: pip install 'gatehouse[camera]', and on Debian: apt install libzbar0"


def nobody() -> None:
    """Nobody waits for glimpses."""


@dataclass(frozen=True, slots=True)
class ReaderPlan:
    """Which reader to open, in the configuration's words."""

    kind: str
    name: str = ""
    source: str = ""
    """For a camera: its number, its path under /dev, or a video file. Empty: the first camera."""
    width: int = 1280
    height: int = 720


def open_reader(
    plan: ReaderPlan,
    monotonic_ns: MonotonicNs,
    stop: threading.Event,
    on_glimpse: Callable[[], None] = nobody,
) -> CodeReader:
    """The reader that the plan names, ready to be asked. Raises DeviceError."""
    name = plan.name or plan.kind
    if plan.kind == "camera":
        return _open_camera(plan, name, monotonic_ns, stop, on_glimpse)
    if plan.kind == "keyboard":
        return KeyboardReader(_standard_input(name), monotonic_ns, name).open()
    if plan.kind == "fake":
        return FakeReader(monotonic_ns, name)
    if plan.kind in READERS:
        raise DeviceError(name, f"Readers of the kind '{plan.kind}' are not built yet.", _choose(READERS[:3]))
    raise DeviceError(name, f"There is no reader of the kind '{plan.kind}'.", _choose(READERS[:3]))


def open_indicators(kinds: tuple[str, ...]) -> list[Indicator]:
    """The lamps and loudspeakers named, opened; when one fails, those before it are closed again."""
    opened: list[Indicator] = []
    with ExitStack() as undo:
        for kind in kinds:
            indicator = _open_indicator(kind)
            undo.callback(indicator.close)
            opened.append(indicator)
        undo.pop_all()
    return opened


def open_barrier(kind: str) -> Barrier | None:
    """The barrier named; none is a gate where staff let people through."""
    if kind in {"", "none"}:
        return None
    if kind == "fake":
        return FakeBarrier()
    raise DeviceError("barrier", f"There is no barrier of the kind '{kind}'.", _choose(("none", "fake")))


def decode_picture(path: Path) -> "Decoded":
    """A still picture through the camera's own pipeline. Raises DeviceError for what is missing or unreadable."""
    try:
        from hardware.decoder import decode_picture as decode
    except ImportError as why:
        raise _libraries_missing(why) from why
    return decode(path)


def _open_indicator(kind: str) -> Indicator:
    if kind == "sound":
        return Sound(find_player()).open()
    if kind == "fake":
        return FakeIndicator()
    raise DeviceError(kind, f"There is no lamp or loudspeaker of the kind '{kind}'.", _choose(("sound", "fake")))


def _open_camera(
    plan: ReaderPlan, name: str, monotonic_ns: MonotonicNs, stop: threading.Event, on_glimpse: Callable[[], None]
) -> CodeReader:
    try:
        from hardware.camera import Camera, Recording, webcam
        from hardware.camera_reader import CameraReader
        from hardware.decoder import Decoder
    except ImportError as why:
        raise _libraries_missing(why) from why
    source: Camera | Recording
    if _is_file(plan.source):
        source = Recording(Path(plan.source), monotonic_ns, name).open(stop)
    else:
        source = Camera(webcam(_camera_number(plan.source), plan.width, plan.height), monotonic_ns, name).open(stop)
    return CameraReader(source, Decoder(), monotonic_ns, on_glimpse)


def _is_file(source: str) -> bool:
    return Path(source).is_file() if source else False


def _camera_number(source: str) -> int | str:
    return int(source or 0) if source.isdigit() or not source else source


def _standard_input(name: str) -> int:
    try:
        return sys.stdin.fileno()
    except (OSError, ValueError, AttributeError) as why:
        raise DeviceError(name, "This process has no input to read from.", "Start it in a terminal or a pipe.") from why


def _libraries_missing(why: ImportError) -> DeviceError:
    return DeviceError("camera", f"A library that reads codes from pictures is missing ({why}).", CAMERA_REMEDY + ".")


def _choose(kinds: tuple[str, ...]) -> str:
    return f"Choose one of: {', '.join(kinds)}."
