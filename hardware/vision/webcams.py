"""USB webcams: found by a name that stays, opened with what their driver offers."""

from dataclasses import dataclass
from pathlib import Path

import cv2

from hardware.ports import DeviceError
from hardware.vision.camera import Capture

BY_NAME = Path("/dev/v4l/by-id")
LEDS = Path("/sys/class/leds")
CHOOSE = "Choose one by a part of its name, or by its path under /dev."
# The metadata of a webcam has names, too; pictures come from the first.
PICTURES = "-video-index0"
MANUAL_EXPOSURE = 1


@dataclass(frozen=True, slots=True)
class Lens:
    """The settings of a webcam; None leaves a setting to the camera."""

    width: int = 1280
    height: int = 720
    focus: int | None = None
    exposure: int | None = None


def known_webcams(folder: Path = BY_NAME) -> list[str]:
    """The names of the connected webcams, such as `usb-046d_HD_Pro_Webcam_C920_5A2B-video-index0`."""
    return sorted(path.name for path in folder.glob(f"*{PICTURES}"))


def device_of(source: str, name: str = "camera", folder: Path = BY_NAME) -> int | str:
    """What OpenCV opens: a number, a path, or the one webcam whose name contains `source`. Raises DeviceError.

    Numbers under /dev change when a camera is plugged in again; names do not.
    """
    if source.isdigit():
        return int(source)
    if source.startswith("/"):
        return source
    known = known_webcams(folder)
    if not source:
        return str(folder / known[0]) if known else 0
    found = [webcam for webcam in known if source.lower() in webcam.lower()]
    if len(found) == 1:
        return str(folder / found[0])
    there = ", ".join(known) or "none"
    happened = "Several cameras have" if found else "No connected camera has"
    raise DeviceError(name, f"{happened} “{source}” in the name; connected: {there}.", CHOOSE)


def open_webcam(device: int | str, lens: Lens) -> Capture:
    """Opens a webcam with raw frames: they are uncompressed only if they are looked at."""
    # DeviceError reports a missing camera; OpenCV need not print anything.
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    capture = cv2.VideoCapture(device, cv2.CAP_V4L2)
    for setting, value in _settings(lens):
        # A driver that lacks a control ignores it.
        capture.set(setting, value)
    return capture  # type: ignore[return-value]  # OpenCV's stub widens the element type


def _settings(lens: Lens) -> list[tuple[int, float]]:
    settings: list[tuple[int, float]] = [
        # Without compression most webcams manage only a few frames per second at this size.
        (cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG")),
        (cv2.CAP_PROP_FRAME_WIDTH, lens.width),
        (cv2.CAP_PROP_FRAME_HEIGHT, lens.height),
        (cv2.CAP_PROP_BUFFERSIZE, 1),
        (cv2.CAP_PROP_CONVERT_RGB, 0),
    ]
    if lens.focus is not None:
        settings += [(cv2.CAP_PROP_AUTOFOCUS, 0), (cv2.CAP_PROP_FOCUS, lens.focus)]
    if lens.exposure is not None:
        settings += [(cv2.CAP_PROP_AUTO_EXPOSURE, MANUAL_EXPOSURE), (cv2.CAP_PROP_EXPOSURE, lens.exposure)]
    return settings


class Torch:
    """A light that the kernel knows as an LED, such as that of a camera module."""

    def __init__(self, light: str, folder: Path = LEDS) -> None:
        self._light = light
        self._folder = folder / light

    def switch(self, *, on: bool) -> None:
        """Turns it fully on, or off. Raises DeviceError."""
        try:
            level = (self._folder / "max_brightness").read_text("ascii").strip() if on else "0"
            (self._folder / "brightness").write_text(level, "ascii")
        except OSError as why:
            known = ", ".join(sorted(path.name for path in self._folder.parent.glob("*"))) or "none"
            happened = f"The light {self._light} cannot be switched ({why.strerror}); this machine has: {known}."
            raise DeviceError("torch", happened, "Correct `torch` in gate.toml.") from why
