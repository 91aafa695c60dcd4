"""Opens the configured devices. A missing device is an error; it is never replaced by a fake."""

import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hardware.fakes import FakeBarrier, FakeIndicator, FakeReader, FakeTurnstile
from hardware.keyboard import KeyboardReader
from hardware.osdp.bus import NAME
from hardware.osdp.options import OsdpOptions
from hardware.osdp.signals import OsdpBarrier, OsdpLamp
from hardware.pins.barrier import RelayBarrier, tell_nobody
from hardware.pins.lamps import Buzzer, Lamps
from hardware.ports import (
    Barrier,
    CodeReader,
    DeviceError,
    Hint,
    Indicator,
    MonotonicNs,
    ReaderKind,
    SentPictures,
    TypedPage,
    anything,
    ignore_hint,
    nothing,
)
from hardware.scanners.serial_line import serial_scanner
from hardware.scanners.usb_keys import UsbScanner
from hardware.signalling import SignalOptions
from hardware.sound import Sound, find_player
from hardware.typed_codes import TypedCodes

if TYPE_CHECKING:
    from hardware.vision.camera import Capture
    from hardware.vision.camera_reader import FrameSource
    from hardware.vision.decoder import Decoded
    from hardware.vision.webcams import Torch

RIBBON, PROGRAM = "ribbon", "program:"

CAMERA_REMEDY = (
    "Install the camera's libraries: pip install -r requirements/camera.txt in a checkout of Gatehouse, "
    "and on Debian: apt install libzbar0"
)


@dataclass(frozen=True, slots=True)
class ReaderOptions:
    """Which reader to open, as configured."""

    kind: str
    name: str = ""
    source: str = ""
    """For a camera: a part of its name, its number, its path under /dev, `ribbon`, `program:` and a command, or a video
    file. Empty: the first camera. For a scanner: a part of its name, or its path. Empty: the only one."""
    width: int = 1280
    height: int = 720
    focus: int | None = None
    exposure: int | None = None
    torch: str = ""
    region: tuple[int, int, int, int] | None = None
    """For a camera: the part that is looked at, as left, top, width and height in percent."""
    layout: str = "us"
    """For a scanner over USB: the keyboard that it is set to."""
    baud: int = 9600


@dataclass(frozen=True, slots=True)
class ReaderRequest:
    """What a reader is opened with; `stop` ends its threads."""

    options: ReaderOptions
    name: str
    monotonic_ns: MonotonicNs
    stop: threading.Event
    on_hint: Callable[[Hint], None]
    wanted: Callable[[str], bool]
    whole: Callable[[str], bool]


def open_reader(
    options: ReaderOptions,
    monotonic_ns: MonotonicNs,
    stop: threading.Event,
    on_hint: Callable[[Hint], None] = ignore_hint,
    wanted: Callable[[str], bool] = anything,
    *,
    whole: Callable[[str], bool] = nothing,
) -> CodeReader:
    """Opens the reader described by `options`. Raises DeviceError.

    `wanted` tells tickets from other codes, `whole` a whole ticket from a part of one.
    """
    request = ReaderRequest(options, options.name or options.kind, monotonic_ns, stop, on_hint, wanted, whole)
    for kind, opener in READERS.items():
        if options.kind == kind:
            return opener(request)
    happened = f"There is no reader of the kind '{options.kind}'."
    raise DeviceError(request.name, happened, _choose_one_of(tuple(READERS)))


def open_typed_page(monotonic_ns: MonotonicNs, name: str) -> TypedPage:
    """A reader of what is typed into the gate's own page."""
    return TypedCodes(monotonic_ns, name)


def open_phone(
    name: str,
    monotonic_ns: MonotonicNs,
    on_hint: Callable[[Hint], None] = ignore_hint,
    wanted: Callable[[str], bool] = anything,
) -> SentPictures:
    """A reader of the pictures that a telephone sends. Raises DeviceError without the libraries of cameras."""
    try:
        from hardware.vision.phone_reader import PhoneReader
    except ImportError as why:
        raise _libraries_missing(why) from why
    return PhoneReader(name, monotonic_ns, on_hint=on_hint, wanted=wanted)


def _open_camera(request: ReaderRequest) -> CodeReader:
    try:
        from hardware.vision.camera_reader import CameraReader
        from hardware.vision.decoder import Decoder
        from hardware.vision.region import Region

        region = Region(*request.options.region) if request.options.region else None
        source, torch = _open_source(request), _open_torch(request.options.torch)
    except ImportError as why:
        raise _libraries_missing(why) from why
    clock = request.monotonic_ns
    return CameraReader(
        source, Decoder(), clock, on_hint=request.on_hint, wanted=request.wanted, torch=torch, region=region
    )


def _open_source(request: ReaderRequest) -> "FrameSource":
    from hardware.vision.camera import Camera, Recording

    if request.options.source and Path(request.options.source).is_file():
        return Recording(Path(request.options.source), request.monotonic_ns, request.name).open(request.stop)
    return Camera(_capture_of(request), request.monotonic_ns, request.name).open(request.stop)


def _capture_of(request: ReaderRequest) -> "Callable[[], Capture]":
    """How the camera is opened, at the start and whenever it has been plugged in again."""
    from hardware.vision.camera_program import ProgramCapture, command_of, ribbon_command
    from hardware.vision.webcams import Lens, device_of, open_webcam

    options = request.options
    if options.source == RIBBON:
        return lambda: ProgramCapture(ribbon_command(options.width, options.height))
    if options.source.startswith(PROGRAM):
        command = command_of(options.source.removeprefix(PROGRAM), request.name)
        return lambda: ProgramCapture(command)
    lens = Lens(options.width, options.height, options.focus, options.exposure)
    return lambda: open_webcam(device_of(options.source, request.name), lens)


def _open_torch(light: str) -> "Torch | None":
    from hardware.vision.webcams import Torch

    if not light:
        return None
    torch = Torch(light)
    torch.switch(on=True)
    return torch


def _open_keyboard(request: ReaderRequest) -> CodeReader:
    return KeyboardReader(_standard_input(request.name), request.monotonic_ns, request.name).open()


def _open_usb(request: ReaderRequest) -> CodeReader:
    options = request.options
    return UsbScanner(options.source, options.layout).reader(request.monotonic_ns, request.name, request.whole).open()


def _open_serial(request: ReaderRequest) -> CodeReader:
    options = request.options
    return serial_scanner(options.source, options.baud, request.monotonic_ns, request.name, whole=request.whole).open()


def _open_fake(request: ReaderRequest) -> CodeReader:
    return FakeReader(request.monotonic_ns, request.name)


def _open_phone(request: ReaderRequest) -> CodeReader:
    return open_phone(request.name, request.monotonic_ns, request.on_hint, request.wanted)


READERS: Final[Mapping[ReaderKind, Callable[[ReaderRequest], CodeReader]]] = {
    ReaderKind.CAMERA: _open_camera,
    ReaderKind.USB: _open_usb,
    ReaderKind.SERIAL: _open_serial,
    ReaderKind.KEYBOARD: _open_keyboard,
    ReaderKind.PHONE: _open_phone,
    ReaderKind.FAKE: _open_fake,
}
"""How to open a reader of each kind that is supported."""


INDICATORS: Final[dict[str, Callable[[SignalOptions], Indicator]]] = {
    "sound": lambda options: Sound(find_player(), options.loudness).open(),
    "lamps": lambda options: Lamps(options.pins).open(),
    "buzzer": lambda options: Buzzer(options.pins, options.loudness).open(),
    "osdp": lambda options: OsdpLamp(_osdp(options), options.loudness).open(),
    "fake": lambda _options: FakeIndicator(),
}
"""How to open a lamp or loudspeaker of each kind."""


BARRIERS: Final = ("none", "relay", "osdp", "fake", "fake-turnstile")


def open_indicators(kinds: tuple[str, ...], options: SignalOptions | None = None) -> list[Indicator]:
    """Opens the named lamps and loudspeakers; if one fails, the others are closed again. Raises DeviceError."""
    opened: list[Indicator] = []
    with ExitStack() as undo:
        for kind in kinds:
            indicator = _open_indicator(kind, options or SignalOptions())
            undo.callback(indicator.close)
            opened.append(indicator)
        undo.pop_all()
    return opened


def open_barrier(
    kind: str,
    options: SignalOptions | None = None,
    on_emergency: Callable[[bool], None] = tell_nobody,
    on_turned: Callable[[], None] = tell_nobody,
) -> Barrier | None:
    """Opens the named barrier; None if staff let people through. Raises DeviceError.

    `on_emergency` is told when its emergency contact opened, and when it is closed again; `on_turned`, when somebody
    went through, if it `tells_turns`.
    """
    if kind in {"", "none"}:
        return None
    if kind == "relay":
        return RelayBarrier((options or SignalOptions()).pins, on_emergency, on_turned).open()
    if kind == "osdp":
        return OsdpBarrier(_osdp(options or SignalOptions())).open()
    if kind == "fake":
        return FakeBarrier()
    if kind == "fake-turnstile":
        return FakeTurnstile(on_turned)
    raise DeviceError("barrier", f"There is no barrier of the kind '{kind}'.", _choose_one_of(BARRIERS))


def decode_image(path: Path) -> "Decoded":
    """Decodes an image file like a camera frame. Raises DeviceError for a missing library or file."""
    try:
        from hardware.vision.stills import decode_image as decode
    except ImportError as why:
        raise _libraries_missing(why) from why
    return decode(path)


def shows_darkness(jpeg: bytes) -> bool:
    """Whether a live picture of a camera that was opened shows a place too dark to read anything."""
    from hardware.vision.advice import is_dark

    return is_dark(jpeg)


def _osdp(options: SignalOptions) -> OsdpOptions:
    if options.osdp is None:
        raise DeviceError(NAME, "The settings do not say where it is.", 'Add [osdp] with at = "…" to the settings.')
    return options.osdp


def _open_indicator(kind: str, options: SignalOptions) -> Indicator:
    opener = INDICATORS.get(kind)
    if opener is None:
        happened = f"There is no lamp or loudspeaker of the kind '{kind}'."
        raise DeviceError(kind, happened, _choose_one_of(tuple(INDICATORS)))
    return opener(options)


def _standard_input(name: str) -> int:
    try:
        return sys.stdin.fileno()
    except (OSError, ValueError, AttributeError) as why:
        raise DeviceError(
            name, "This process has no standard input.", "Start it in a terminal or with a pipe."
        ) from why


def _libraries_missing(why: ImportError) -> DeviceError:
    return DeviceError("camera", f"A library for reading codes from images is missing ({why}).", CAMERA_REMEDY + ".")


def _choose_one_of(kinds: tuple[str, ...]) -> str:
    return f"Choose one of: {', '.join(kinds)}."
