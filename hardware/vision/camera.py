"""Frames from a webcam, always the newest, or from a recording, one after the other."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import cv2

from hardware.ports import DeviceError, MonotonicNs
from hardware.vision.pixels import Image

REMEDY = "Check the cable, and that no other program uses the camera; the gate keeps retrying."
FAILURES_UNTIL_AWAY = 5
RECONNECT_S = 1.0
FAILED_GRAB_PAUSE_S = 0.02
SILENT_AFTER_NS = 5_000_000_000
CLOSING_S = 2.0


@dataclass(frozen=True, slots=True)
class Frame:
    """One image and the time it was taken."""

    pixels: Image
    at_monotonic_ns: int


class Capture(Protocol):
    """The part of cv2.VideoCapture that is used here."""

    def isOpened(self) -> bool: ...  # noqa: N802 - OpenCV's name

    def read(self) -> tuple[bool, Image | None]: ...

    def release(self) -> None: ...


OpenCapture = Callable[[], Capture]


def recording(path: Path) -> OpenCapture:
    """Opens a video file."""

    def opened() -> Capture:
        return cv2.VideoCapture(str(path))  # type: ignore[return-value]  # as above

    return opened


class _NoCapture:
    """Stands for a camera that is not there."""

    def isOpened(self) -> bool:  # noqa: N802 - OpenCV's name
        return False

    def read(self) -> tuple[bool, Image | None]:
        return False, None

    def release(self) -> None:
        return


NO_CAPTURE = _NoCapture()


class Camera:
    """A live camera. Its thread keeps only the newest frame: an old one shows a guest who has left."""

    def __init__(self, open_capture: OpenCapture, monotonic_ns: MonotonicNs, name: str = "camera") -> None:
        self.name = name
        self._open_capture = open_capture
        self._monotonic_ns = monotonic_ns
        self._changed = threading.Condition()
        self._newest: Frame | None = None
        self._away: str | None = None
        self._last_sign_ns = 0
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def ended(self) -> bool:
        """Whether the camera was closed."""
        return self._closing.is_set()

    def open(self, stop: threading.Event) -> "Camera":
        """Takes frames until `stop` is set or the camera is closed. Raises DeviceError if there is no camera."""
        first = self._open_capture()
        if not first.isOpened():
            first.release()
            raise DeviceError(self.name, "There is no camera, or another program is using it.", REMEDY)
        self._last_sign_ns = self._monotonic_ns()
        self._thread = threading.Thread(target=self._take_frames, args=(first, stop), name=self.name, daemon=True)
        self._thread.start()
        return self

    def newest(self, timeout_s: float) -> Frame | None:
        """The newest frame not returned yet, or None. Raises DeviceError while the camera is missing or silent."""
        with self._changed:
            self._changed.wait_for(lambda: self._newest is not None or self._away is not None, timeout_s)
            frame, self._newest = self._newest, None
            if frame is None:
                self._raise_if_away()
            return frame

    def close(self) -> None:
        self._closing.set()
        if self._thread is not None:
            self._thread.join(CLOSING_S)
            self._thread = None

    def _raise_if_away(self) -> None:
        if self._away is not None:
            raise DeviceError(self.name, self._away, REMEDY)
        if self._monotonic_ns() - self._last_sign_ns > SILENT_AFTER_NS:
            raise DeviceError(self.name, "The camera has not sent an image for a while.", REMEDY)

    def _take_frames(self, capture: Capture, stop: threading.Event) -> None:
        while not self._stopped(stop):
            if capture.isOpened():
                self._take_until_lost(capture, stop)
            capture.release()
            if self._stopped(stop):
                return
            self._report("The camera was unplugged or has stopped.")
            self._closing.wait(RECONNECT_S)
            capture = self._opened_again()
        capture.release()

    def _opened_again(self) -> Capture:
        try:
            return self._open_capture()
        except DeviceError as why:
            # Its name is not there as long as it is unplugged.
            self._report(why.happened)
            return NO_CAPTURE

    def _take_until_lost(self, capture: Capture, stop: threading.Event) -> None:
        failures = 0
        while failures < FAILURES_UNTIL_AWAY and not self._stopped(stop):
            taken, pixels = self._take_one(capture)
            if taken and pixels is not None:
                failures = 0
                self._put(Frame(pixels, self._monotonic_ns()))
            else:
                failures += 1
                self._closing.wait(FAILED_GRAB_PAUSE_S)

    def _take_one(self, capture: Capture) -> tuple[bool, Image | None]:
        try:
            return capture.read()
        except cv2.error:
            return False, None

    def _put(self, frame: Frame) -> None:
        with self._changed:
            self._newest = frame
            self._away = None
            self._last_sign_ns = frame.at_monotonic_ns
            self._changed.notify_all()

    def _report(self, problem: str) -> None:
        with self._changed:
            self._away = problem
            self._changed.notify_all()

    def _stopped(self, stop: threading.Event) -> bool:
        return stop.is_set() or self._closing.is_set()


class Recording:
    """A video file instead of a camera: it drops no frames, and it ends."""

    def __init__(self, path: Path, monotonic_ns: MonotonicNs, name: str = "recording") -> None:
        self.name = name
        self._path = path
        self._monotonic_ns = monotonic_ns
        self._capture: Capture | None = None

    @property
    def ended(self) -> bool:
        return self._capture is None

    def open(self, stop: threading.Event) -> "Recording":  # noqa: ARG002 - a file has no thread to stop
        """Opens the file. Raises DeviceError if it is not a video."""
        capture = recording(self._path)()
        if not capture.isOpened():
            raise DeviceError(self.name, f"{self._path.name} is missing or is not a video.", "Choose a video file.")
        self._capture = capture
        return self

    def newest(self, timeout_s: float) -> Frame | None:  # noqa: ARG002 - a file never makes the caller wait
        """The next frame, or None at the end."""
        if self._capture is None:
            return None
        taken, pixels = self._capture.read()
        if taken and pixels is not None:
            return Frame(pixels, self._monotonic_ns())
        self.close()
        return None

    def close(self) -> None:
        if self._capture is not None:
            self._capture.release()
            self._capture = None
