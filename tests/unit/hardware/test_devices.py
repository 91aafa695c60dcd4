"""Opening configured devices, and the errors when that fails."""

import subprocess
import sys
import threading
from pathlib import Path

import cv2
import pytest

from hardware.devices import ReaderOptions, decode_image, open_barrier, open_indicators, open_reader
from hardware.fakes import FakeBarrier, FakeIndicator, FakeReader
from hardware.ports import DeviceError
from tests.unit.hardware.images import code, held_up, room, ticket_text
from tests.unit.hardware.test_camera import film

TEXT = ticket_text()


def opened(options: ReaderOptions) -> object:
    return open_reader(options, lambda: 0, threading.Event())


def test_a_fake_is_opened_only_when_it_is_named() -> None:
    assert isinstance(opened(ReaderOptions("fake")), FakeReader)
    assert [type(lamp) for lamp in open_indicators(("fake",))] == [FakeIndicator]
    assert isinstance(open_barrier("fake"), FakeBarrier)


def test_a_gate_without_a_barrier_is_fine() -> None:
    assert open_barrier("none") is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ReaderOptions("camera", source="/dev/video-of-nobody"), "There is no camera"),
        (ReaderOptions("usb", source="/dev/input/of-nobody"), "There is no /dev/input/of-nobody"),
        (ReaderOptions("serial", source="/dev/tty-of-nobody"), "There is no /dev/tty-of-nobody"),
        (ReaderOptions("crystal ball"), "no reader of the kind .* Choose one of: camera, usb, serial, keyboard"),
    ],
)
def test_a_reader_that_cannot_be_opened_is_an_error_and_never_a_fake(options: ReaderOptions, message: str) -> None:
    with pytest.raises(DeviceError, match=message):
        opened(options)


def test_a_video_file_is_read_in_place_of_a_camera(tmp_path: Path) -> None:
    door = film(tmp_path / "door.avi", [room(), held_up(code(TEXT, 4), room())])
    reader = open_reader(ReaderOptions("camera", "north door", str(door)), lambda: 0, threading.Event())
    found = []
    while not reader.ended:
        reading = reader.next(0.1)
        if reading:
            found.append((reading.reader, reading.text))
    assert found == [("north door", TEXT)]


def test_a_image_goes_through_the_same_pipeline(tmp_path: Path) -> None:
    file = tmp_path / "ticket.png"
    cv2.imwrite(str(file), code(TEXT))
    decoded = decode_image(file)
    assert (decoded.codes, decoded.stage) == ((TEXT,), "plain")


def test_lamps_opened_before_a_failing_one_are_closed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[FakeIndicator] = []

    class Remembered(FakeIndicator):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    monkeypatch.setattr("hardware.devices.FakeIndicator", Remembered)
    with pytest.raises(DeviceError):
        open_indicators(("fake", "gong"))
    assert [lamp.closed for lamp in made] == [True]


@pytest.mark.parametrize("library", ["cv2", "zxingcpp", "pyzbar", "numpy"])
def test_a_machine_without_the_cameras_libraries_is_reported_what_to_install(library: str) -> None:
    """In a process of its own, because a library that is loaded once cannot be missed any more."""
    script = f"""
import sys, threading
from pathlib import Path
sys.modules[{library!r}] = None
from hardware.devices import ReaderOptions, decode_image, open_reader
from hardware.ports import DeviceError
camera = (ReaderOptions("camera"), lambda: 0, threading.Event())
for attempt, given in ((decode_image, [Path("x.png")]), (open_reader, camera)):
    try:
        attempt(*given)
    except DeviceError as told:
        print(told)
"""
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert told.count("requirements/camera.txt") == 2
    assert told.count("libzbar0") == 2


def test_a_gate_without_a_camera_loads_no_image_library() -> None:
    script = "import sys, hardware.devices; print(sorted({'cv2', 'numpy', 'zxingcpp', 'pyzbar'} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "[]"
