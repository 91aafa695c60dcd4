"""A code reader made of the pictures that a telephone sends: the newest frame of its camera, or single photographs."""

import threading
from collections import deque
from collections.abc import Callable

import numpy as np

from hardware.ports import DeviceError, Hint, MonotonicNs, Reading, anything, ignore_hint
from hardware.vision.advice import advice
from hardware.vision.camera import Frame
from hardware.vision.camera_reader import CameraReader
from hardware.vision.decoder import Decoded, Decoder
from hardware.vision.pixels import DamagedFrame, Image, grey
from hardware.vision.sightings import LooksRight
from hardware.vision.stills import decode_still

# A telephone makes its pictures smaller before it sends them; what says that it is larger is not unpacked at all.
MOST_PIXELS = 5_000_000
SILENT_AFTER_NS = 6_000_000_000
# How long a frame waits to be looked at before the telephone may send the next.
TAKEN_WITHIN_S = 1.0
_FRAMES = frozenset({*range(0xC0, 0xD0)}) - {0xC4, 0xC8, 0xCC}
_ALONE = frozenset({0x01, *range(0xD0, 0xD8)})


class _NewestSent:
    """A frame source that is filled from outside; a frame that nobody has looked at gives way to the next."""

    def __init__(self, name: str, monotonic_ns: MonotonicNs) -> None:
        self.name = name
        self.ended = False
        self._monotonic_ns = monotonic_ns
        self._changed = threading.Condition()
        self._newest: Frame | None = None
        self._prodded = False
        self._last_sign_ns = monotonic_ns()

    def put(self, pixels: Image) -> None:
        """Takes a frame, and returns when it is being looked at, is replaced, or has waited long enough."""
        frame = Frame(pixels, self._monotonic_ns())
        with self._changed:
            self._newest, self._last_sign_ns = frame, frame.at_monotonic_ns
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._newest is not frame or self.ended, TAKEN_WITHIN_S)

    def sign(self) -> None:
        with self._changed:
            self._last_sign_ns = self._monotonic_ns()

    def prod(self) -> None:
        """Ends the wait for a frame: something else has come."""
        with self._changed:
            self._prodded = True
            self._changed.notify_all()

    def newest(self, timeout_s: float) -> Frame | None:
        with self._changed:
            self._changed.wait_for(lambda: self._newest is not None or self._prodded or self.ended, timeout_s)
            frame, self._newest, self._prodded = self._newest, None, False
            self._changed.notify_all()
            if frame is None and not self.ended and self._monotonic_ns() - self._last_sign_ns > SILENT_AFTER_NS:
                raise DeviceError(self.name, "The telephone is away.", "Wake it up and open its page again.")
            return frame

    def close(self) -> None:
        with self._changed:
            self.ended, self._newest = True, None
            self._changed.notify_all()


class PhoneReader:
    """A CodeReader of what one telephone sends, by the decoders of the gate's own cameras."""

    def __init__(
        self,
        name: str,
        monotonic_ns: MonotonicNs,
        *,
        on_hint: Callable[[Hint], None] = ignore_hint,
        wanted: LooksRight = anything,
    ) -> None:
        self._monotonic_ns = monotonic_ns
        self._wanted = wanted
        self._frames = _NewestSent(name, monotonic_ns)
        self._camera = CameraReader(self._frames, Decoder(), monotonic_ns, on_hint=on_hint, wanted=wanted)
        self._photographed: deque[Reading] = deque()

    @property
    def name(self) -> str:
        return self._frames.name

    @property
    def ended(self) -> bool:
        return self._frames.ended and not self._photographed

    def next(self, timeout_s: float) -> Reading | None:
        """The next reading. Raises DeviceError while nothing was heard of the telephone for a while."""
        if not self._photographed:
            reading = self._camera.next(timeout_s)
            if reading is not None:
                return reading
        return self._photographed.popleft() if self._photographed else None

    def sign(self) -> None:
        """The telephone is there, though it sends no picture now."""
        self._frames.sign()

    def frame(self, jpeg: bytes) -> bool:
        """A frame of its camera, in place of any before it. False if it is none that can be looked at."""
        if not _is_small_jpeg(jpeg):
            return False
        self._frames.put(_pixels(jpeg))
        return True

    def photograph(self, jpeg: bytes) -> Hint | None:
        """A single photograph: its ticket is delivered, or the hint says what to do better."""
        self.sign()
        if not _is_small_jpeg(jpeg):
            return Hint.NO_CODE
        try:
            image = grey(_pixels(jpeg))
        except DamagedFrame:
            return Hint.NO_CODE
        decoded = decode_still(image)
        if decoded.found:
            return self._deliver(decoded)
        return advice(image, decoded.located, None) or Hint.NO_CODE

    def close(self) -> None:
        self._camera.close()
        self._photographed.clear()

    def _deliver(self, decoded: Decoded) -> Hint | None:
        tickets = [code for code in decoded.found if self._wanted(code.text)]
        if len(tickets) > 1:
            return Hint.ONE_AT_A_TIME
        chosen = max(tickets or decoded.found, key=lambda code: code.size)
        self._photographed.append(Reading(chosen.text, self._monotonic_ns(), self.name))
        self._frames.prod()
        return None


def _pixels(jpeg: bytes) -> Image:
    return np.frombuffer(jpeg, np.uint8).reshape(1, -1)


def _is_small_jpeg(content: bytes) -> bool:
    """Whether it is a JPEG whose head tells of no more pixels than a telephone sends: few bytes can hide many."""
    width, height = jpeg_size(content)
    return 0 < width * height <= MOST_PIXELS


def jpeg_size(content: bytes) -> tuple[int, int]:
    """Width and height by the head of a JPEG; (0, 0) if it has none."""
    if content[:2] != b"\xff\xd8":
        return 0, 0
    at = 2
    while at + 9 <= len(content) and content[at] == 0xFF:
        kind = content[at + 1]
        if kind in _FRAMES:
            return int.from_bytes(content[at + 7 : at + 9]), int.from_bytes(content[at + 5 : at + 7])
        at += 2 if kind in _ALONE else 1 if kind == 0xFF else 2 + int.from_bytes(content[at + 2 : at + 4])
    return 0, 0
