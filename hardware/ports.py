"""What a gate asks of its devices, and how a device says that it cannot.

A port is the smallest thing the gate needs. Whoever opens a device closes it; every device can be closed
twice. A device that fails raises `DeviceError` with words for the person standing in front of it, and may
be asked again: coming back is its own business.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

MonotonicNs = Callable[[], int]
"""A clock that only runs forward, in nanoseconds; the application that opens the devices brings it."""


class DeviceError(Exception):
    """A device that cannot do its work: which one, what happened, and what a person can do about it."""

    def __init__(self, device: str, happened: str, remedy: str) -> None:
        super().__init__(f"{device}: {happened} {remedy}")
        self.device = device
        self.happened = happened
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class Reading:
    """One presentation of one code: any text at all, when it was in front of the reader, and at which reader."""

    text: str
    at_monotonic_ns: int
    reader: str


@runtime_checkable
class CodeReader(Protocol):
    """A source of codes. One thread asks it; a slow caller misses nothing that was typed or scanned by hand."""

    @property
    def name(self) -> str:
        """Which reader of this gate this is; repeats are judged per reader."""
        ...

    @property
    def ended(self) -> bool:
        """True once there can be no further reading: the input was closed, the recording is over."""
        ...

    def next(self, timeout_s: float) -> Reading | None:
        """The next reading, or None when none came in time. Raises DeviceError for as long as the device is away."""
        ...

    def close(self) -> None: ...


class Signal(StrEnum):
    """What staff and guests are told by lamp and sound. AGAIN: the verdict before stands, nothing new happened."""

    READY = "ready"
    ADMIT = "admit"
    ATTENTION = "attention"
    DENY = "deny"
    AGAIN = "again"
    TEST = "test"
    FAULT = "fault"


@runtime_checkable
class Indicator(Protocol):
    """A lamp or a loudspeaker. Returns at once; a new signal takes the place of the one before."""

    def show(self, signal: Signal) -> None:
        """Raises DeviceError when the signal could not be given."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class Barrier(Protocol):
    """A turnstile or a door opener."""

    def let_one_through(self) -> None:
        """Opens for one person and returns at once. Raises DeviceError when it does not open."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Slip:
    """A small piece of paper for the guest, such as the seat given at the gate."""

    title: str
    lines: tuple[str, ...]


@runtime_checkable
class Printer(Protocol):
    """A slip printer."""

    def print_slip(self, slip: Slip) -> None:
        """Raises DeviceError when nothing came out."""
        ...

    def close(self) -> None: ...
