"""Tries each device once, and says what works and what to do about the rest."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from hardware.devices import ReaderOptions, open_barrier, open_indicators, open_reader, shows_darkness
from hardware.pins.options import Fail
from hardware.ports import CodeReader, DeviceError, LivePicture, MonotonicNs, ReaderKind, Signal
from hardware.signalling import SignalOptions

LOOK_S = 3.0
WITHOUT_POWER = {
    Fail.SAFE: " Without power it lets people through.",
    Fail.SECURE: " Without power it stays shut: somebody needs its key.",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """The result for one device: whether it works, and a message."""

    device: str
    works: bool
    message: str
    code: str = ""


class DarkError(DeviceError):
    """A camera that works and sees nothing."""


def check_readers(readers: Iterable[ReaderOptions], monotonic_ns: MonotonicNs) -> list[Finding]:
    """A finding for each reader. It opens and closes them, so never while a gate is running."""
    return [_try(options.name or options.kind, partial(_try_reader, options, monotonic_ns)) for options in readers]


def check_indicators(kinds: Iterable[str], options: SignalOptions | None = None) -> list[Finding]:
    """A finding for each lamp and loudspeaker, which gives the signal for an admission."""
    return [_try(kind, partial(_try_indicator, kind, options)) for kind in kinds]


def check_barrier(kind: str, options: SignalOptions | None = None) -> Finding:
    """A finding for the barrier, which stays closed."""
    return _try("barrier", partial(_try_barrier, kind, options))


def _try(device: str, attempt: Callable[[], str]) -> Finding:
    try:
        return Finding(device, True, attempt())
    except DarkError as fault:
        return Finding(device, False, f"{fault.happened} {fault.remedy}", "camera_dark")
    except DeviceError as fault:
        return Finding(device, False, f"{fault.happened} {fault.remedy}")


def _try_reader(options: ReaderOptions, monotonic_ns: MonotonicNs) -> str:
    stop = threading.Event()
    reader = open_reader(options, monotonic_ns, stop)
    try:
        return _look(options, reader)
    finally:
        stop.set()
        reader.close()


def _look(options: ReaderOptions, reader: CodeReader) -> str:
    if options.kind != ReaderKind.CAMERA:
        return "Ready."
    _picture(reader)  # from now on the camera keeps its frames
    code = reader.next(LOOK_S)
    jpeg = _picture(reader)
    if code is None and jpeg and shows_darkness(jpeg):
        raise DarkError(
            reader.name, "Sends images, but they are dark.", "Take off the lens cap, or give it more light."
        )
    return "Sends images; a code was read." if code else "Sends images; no code was in view."


def _picture(reader: CodeReader) -> bytes:
    picture = reader.picture(0, 0.0) if isinstance(reader, LivePicture) else None
    return picture.jpeg if picture else b""


def _try_indicator(kind: str, options: SignalOptions | None) -> str:
    (indicator,) = open_indicators((kind,), options)
    try:
        indicator.show(Signal.ADMIT)
        threading.Event().wait(0.5)
        # A failed beep is reported at the next signal.
        indicator.show(Signal.READY)
    finally:
        indicator.close()
    return "Gave the signal for an admission: did you see or hear it?"


def _try_barrier(kind: str, options: SignalOptions | None) -> str:
    emergencies: list[bool] = []
    barrier = open_barrier(kind, options, emergencies.append)
    if barrier is None:
        return "None configured; staff let people through."
    barrier.close()
    if emergencies:
        raise DeviceError(
            "barrier", "Its emergency contact is open.", "Close it, or check its cable: it must be closed."
        )
    fail = options.pins.fail if options else None
    without = WITHOUT_POWER[fail] if fail and kind == "relay" else ""
    return f"Responds. Not opened, because somebody may be standing in it.{without}"
