"""The interfaces of gate devices, and the error they raise.

Whoever opens a device closes it; closing twice is safe. A device that fails raises `DeviceError` with a message for
the person in front of it, and may be called again: it recovers by itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

MonotonicNs = Callable[[], int]
"""A monotonic clock in nanoseconds, passed in by the application."""


class DeviceError(Exception):
    """A device failed: which one, what happened, and what to do about it."""

    def __init__(self, device: str, happened: str, remedy: str) -> None:
        super().__init__(f"{device}: {happened} {remedy}")
        self.device = device
        self.happened = happened
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class Reading:
    """A code that was read: its text, which may be anything, the time, and the reader."""

    text: str
    at_monotonic_ns: int
    reader: str


class Hint(StrEnum):
    """What somebody at a camera can do so that it reads their code."""

    HOLD_STILL = "hold_still"
    COME_CLOSER = "come_closer"
    TOO_DARK = "too_dark"
    TOO_BRIGHT = "too_bright"
    ONE_AT_A_TIME = "one_at_a_time"
    NO_CODE = "no_code"


def ignore_hint(_hint: Hint) -> None:
    """Tells nobody."""


def nothing(_text: str) -> bool:
    """Takes no text for a whole code."""
    return False


def anything(_text: str) -> bool:
    """Takes every code for what is wanted."""
    return True


class ReaderKind(StrEnum):
    """Readers that settings and the command line may name; `hardware.devices` says which it can open."""

    CAMERA = "camera"
    USB = "usb"
    SERIAL = "serial"
    KEYBOARD = "keyboard"
    PHONE = "phone"
    FAKE = "fake"


@runtime_checkable
class CodeReader(Protocol):
    """A source of codes, used by one thread; a slow caller misses nothing that was typed or scanned."""

    @property
    def name(self) -> str:
        """The reader's name at this gate; repeats are recognised per reader."""
        ...

    @property
    def ended(self) -> bool:
        """True once there are no more readings: the input was closed or the recording has ended."""
        ...

    def next(self, timeout_s: float) -> Reading | None:
        """The next reading, or None if none came in time. Raises DeviceError while the device is missing."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture of a live camera: its number, which rises, and a JPEG."""

    number: int
    jpeg: bytes


@runtime_checkable
class LivePicture(Protocol):
    """A reader's camera as people see it."""

    def picture(self, after: int, timeout_s: float) -> Picture | None:
        """A picture newer than number `after`; None if there is none in time."""
        ...


@runtime_checkable
class SentPictures(CodeReader, Protocol):
    """A reader whose pictures are sent to it, by a telephone of somebody at the door."""

    def sign(self) -> None:
        """The telephone is there, though it sends no picture now."""
        ...

    def frame(self, jpeg: bytes) -> bool:
        """A frame of its camera, in place of any before it. False if it is none that can be looked at."""
        ...

    def photograph(self, jpeg: bytes) -> Hint | None:
        """A single photograph: its ticket is delivered, or the hint says what to do better."""
        ...


@runtime_checkable
class TypedPage(CodeReader, Protocol):
    """A reader of what is typed into the gate's own page."""

    def type(self, code: str) -> None:
        """Takes a code that was typed."""
        ...


class Signal(StrEnum):
    """What lamp and sound can signal. AGAIN: the previous verdict stands."""

    READY = "ready"
    ADMIT = "admit"
    ATTENTION = "attention"
    DENY = "deny"
    AGAIN = "again"
    TEST = "test"
    FAULT = "fault"


@runtime_checkable
class Indicator(Protocol):
    """A lamp or a loudspeaker. Returns at once; a new signal replaces the previous one."""

    def show(self, signal: Signal) -> None:
        """Gives a signal. Raises DeviceError."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class Audible(Protocol):
    """An Indicator that sounds."""

    def set_loudness(self, percent: int) -> None:
        """From the next signal on it is so loud; 0 is quiet. Raises DeviceError."""
        ...


@runtime_checkable
class Barrier(Protocol):
    """A turnstile or a door opener."""

    @property
    def tells_turns(self) -> bool:
        """Whether it tells when somebody went through, by the function that it was opened with."""
        ...

    def let_one_through(self) -> None:
        """Opens for one person and returns at once. Raises DeviceError if it does not open."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page for a printer: as dots in rows of whole bytes, the leftmost first and black as 1, and as a PDF."""

    width: int
    height: int
    rows: bytes
    pdf: bytes = b""
    width_mm: float = 0
    height_mm: float = 0
    title: str = "Badge"
    """Of the job, for those who look at the printer's queue: no name of a guest."""

    @property
    def bytes_a_row(self) -> int:
        """How many bytes each row has."""
        return (self.width + 7) // 8


class PrinterFault(StrEnum):
    """What keeps a printer from printing."""

    NO_PAPER = "no_paper"
    OPEN = "open"
    PAUSED = "paused"
    NO_ANSWER = "no_answer"
    UNPLUGGED = "unplugged"
    NO_PERMISSION = "no_permission"
    NO_QUEUE = "no_queue"
    OTHER = "other"


class PrinterError(DeviceError):
    """A printer does not print: which fault it is, and whether a part of the sheet may be on paper."""

    def __init__(
        self,
        device: str,
        kind: PrinterFault,
        happened: str,
        remedy: str,
        *,
        begun: bool = False,
        kept: bool = False,
    ) -> None:
        super().__init__(device, happened, remedy)
        self.kind = kind
        self.begun = begun
        """False: nothing was printed, and it can be tried again. True: nobody but people can tell."""
        self.kept = kept
        """The system keeps the sheet and prints it as soon as the printer can."""


@runtime_checkable
class Printer(Protocol):
    """A printer of badges, wristbands or slips, used by one thread."""

    @property
    def name(self) -> str:
        """What the printer is called at this gate."""
        ...

    def check(self) -> None:
        """Asks whether it could print now. Raises PrinterError."""
        ...

    def print_sheet(self, sheet: Sheet) -> None:
        """Prints a page, and returns when the printer has it all. Raises PrinterError."""
        ...

    def close(self) -> None: ...
