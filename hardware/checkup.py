"""Tries each device once and says in words what works and what to do about the rest."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from hardware.devices import ReaderPlan, open_barrier, open_indicators, open_reader
from hardware.ports import CodeReader, DeviceError, MonotonicNs, Signal

LOOK_S = 3.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One device tried: whether it works, and the words for the person who asked."""

    device: str
    works: bool
    words: str


def check_devices(
    readers: tuple[ReaderPlan, ...], indicators: tuple[str, ...], barrier: str, monotonic_ns: MonotonicNs
) -> Iterator[Finding]:
    """A finding for each device named. It opens and closes them, so not while a gate is running."""
    for plan in readers:
        yield _tried(plan.name or plan.kind, partial(_try_reader, plan, monotonic_ns))
    for kind in indicators:
        yield _tried(kind, partial(_try_indicator, kind))
    yield _tried("barrier", partial(_try_barrier, barrier))


def _tried(device: str, attempt: Callable[[], str]) -> Finding:
    try:
        return Finding(device, True, attempt())
    except DeviceError as fault:
        return Finding(device, False, f"{fault.happened} {fault.remedy}")


def _try_reader(plan: ReaderPlan, monotonic_ns: MonotonicNs) -> str:
    stop = threading.Event()
    reader = open_reader(plan, monotonic_ns, stop)
    try:
        return _look(plan, reader)
    finally:
        stop.set()
        reader.close()


def _look(plan: ReaderPlan, reader: CodeReader) -> str:
    if plan.kind != "camera":
        return "It can be read."
    code = reader.next(LOOK_S)
    return "It sends pictures, and a code was read." if code else "It sends pictures; no code was in front of it."


def _try_indicator(kind: str) -> str:
    (indicator,) = open_indicators((kind,))
    try:
        indicator.show(Signal.ADMIT)
        threading.Event().wait(0.5)
        # A beep that came to nothing is reported at the next signal.
        indicator.show(Signal.READY)
    finally:
        indicator.close()
    return "The signal for an admission was given: did you notice it?"


def _try_barrier(kind: str) -> str:
    barrier = open_barrier(kind)
    if barrier is None:
        return "None is configured; staff let people through."
    barrier.close()
    return "It answers. It was not opened: somebody may be standing in it."
