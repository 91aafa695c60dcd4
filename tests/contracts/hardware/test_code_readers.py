"""What every code reader promises: fake, keyboard, scanners, recording and live camera pass the same tests."""

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import pytest

from hardware.devices import READERS, open_phone, open_typed_page
from hardware.fakes import FakeReader
from hardware.keyboard import KeyboardReader
from hardware.ports import CodeReader, DeviceError, ReaderKind, Reading, SentPictures, TypedPage
from hardware.scanners.serial_line import serial_scanner
from hardware.scanners.usb_keys import UsbScanner
from hardware.vision.camera import Camera, Recording, recording
from hardware.vision.camera_reader import CameraReader
from hardware.vision.decoder import Decoder
from tests.unit.hardware.images import code, held_up, room, ticket_text
from tests.unit.hardware.test_camera import film
from tests.unit.hardware.test_scanners import SerialCable, Socket, keys_for

CODES = [ticket_text(1), ticket_text(2), ticket_text(3)]


def clock() -> int:
    import time

    return time.monotonic_ns()


@dataclass
class Stand:
    """A reader with three codes in front of it, and how its input ends; a scanner's never does."""

    reader: CodeReader
    end: Callable[[], None] | None
    name: str


def fake(folder: Path) -> Stand:
    reader = FakeReader(clock, "lane")
    for text in CODES:
        reader.scan(text)
    return Stand(reader, reader.end, "lane")


def keyboard(folder: Path) -> Stand:
    near, far = os.pipe()
    os.write(far, "".join(f"{text}\n" for text in CODES).encode())
    return Stand(KeyboardReader(near, clock, "lane").open(), lambda: os.close(far), "lane")


def usb(folder: Path) -> Stand:
    socket = Socket(folder)
    socket.plug_in()
    reader = UsbScanner("", folder=folder, grab=lambda _descriptor: None).reader(clock, "lane").open()
    socket.send(keys_for("".join(f"{text}\r" for text in CODES)))
    return Stand(reader, None, "lane")


def serial(folder: Path) -> Stand:
    cable = SerialCable(folder)
    cable.plug_in()
    reader = serial_scanner("", 9600, clock, "lane", folder).open()
    os.write(cable.far, "".join(f"{text}\r" for text in CODES).encode())
    return Stand(reader, None, "lane")


def showing(folder: Path, frames: int = 1) -> Path:
    """Each code for so many frames."""
    shown = [held_up(code(text, 4), room(640, 480), (20, 20)) for text in CODES]
    return film(folder / "door.avi", [frame for frame in shown for _ in range(frames)])


def video(folder: Path) -> Stand:
    source = Recording(showing(folder), clock, "lane").open(threading.Event())
    return Stand(CameraReader(source, Decoder(), clock), lambda: None, "lane")


def phone(folder: Path) -> Stand:
    """A telephone that takes a photograph of each."""
    reader = open_phone("lane", clock)
    for text in CODES:
        photograph = cv2.imencode(".jpg", held_up(code(text, 4), room(640, 480), (20, 20)))[1].tobytes()
        assert isinstance(reader, SentPictures)
        assert reader.photograph(photograph) is None
    return Stand(reader, None, "lane")


def page(folder: Path) -> Stand:
    """A scanner that types into the gate's page."""
    reader = open_typed_page(clock, "lane")
    assert isinstance(reader, TypedPage)
    for text in CODES:
        reader.type(text)
    return Stand(reader, None, "lane")


NOT_SET = {"page": page}
"""A reader that no settings open."""
STANDS = {
    **NOT_SET,
    ReaderKind.FAKE: fake,
    ReaderKind.KEYBOARD: keyboard,
    ReaderKind.CAMERA: video,
    ReaderKind.USB: usb,
    ReaderKind.SERIAL: serial,
    ReaderKind.PHONE: phone,
}


@pytest.fixture(params=STANDS.values(), ids=STANDS)
def stand(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stand]:
    made: Stand = request.param(tmp_path)
    yield made
    made.reader.close()


def read(reader: CodeReader) -> Reading:
    """The next reading, however many short waits it takes."""
    for _ in range(200):
        reading = reader.next(0.1)
        if reading:
            return reading
    pytest.fail("the reader delivered nothing")


def test_every_kind_that_can_be_opened_is_tested_here() -> None:
    assert STANDS.keys() == {*READERS, *NOT_SET}


def test_it_is_a_code_reader(stand: Stand) -> None:
    assert isinstance(stand.reader, CodeReader)


def test_codes_arrive_in_order_with_name_and_rising_time(stand: Stand) -> None:
    readings = [read(stand.reader) for _ in CODES]
    assert [reading.text for reading in readings] == CODES
    assert {reading.reader for reading in readings} == {stand.name} == {stand.reader.name}
    assert [r.at_monotonic_ns for r in readings] == sorted(r.at_monotonic_ns for r in readings)


def test_nothing_more_is_none_and_no_fault(stand: Stand) -> None:
    for _ in CODES:
        read(stand.reader)
    assert stand.reader.next(0.01) is None


def test_it_has_ended_only_when_everything_was_delivered(stand: Stand) -> None:
    if stand.end is None:
        assert [read(stand.reader).text for _ in CODES] == CODES
        assert not stand.reader.ended
        return
    stand.end()
    taken = []
    while not stand.reader.ended:
        reading = stand.reader.next(0.1)
        if reading:
            taken.append(reading.text)
    assert taken == CODES
    assert stand.reader.next(0) is None


def test_it_can_be_closed_twice_and_is_over_then(stand: Stand) -> None:
    stand.reader.close()
    stand.reader.close()
    assert stand.reader.next(0) is None
    assert stand.reader.ended


class TestUnplugged:
    """Readers that can be unplugged: they report it, and work again afterwards."""

    def test_the_fake(self) -> None:
        reader = FakeReader(clock)
        reader.unplug()
        with pytest.raises(DeviceError) as raised:
            reader.next(0)
        assert raised.value.remedy
        reader.plug_in()
        reader.scan("A")
        assert read(reader).text == "A"

    def test_a_live_camera(self, tmp_path: Path) -> None:
        """The real cv2.VideoCapture: a video file that stops and starts again is a cable pulled and put back."""
        stop = threading.Event()
        # A file is read as fast as the machine can: three frames would be over before anybody looks.
        camera = Camera(recording(showing(tmp_path, frames=40)), clock, "lane").open(stop)
        reader = CameraReader(camera, Decoder(), clock)
        raised, texts = read_through_faults(reader)
        assert raised.device == "lane"
        assert raised.remedy
        assert texts[0] in CODES
        stop.set()
        reader.close()


def read_through_faults(reader: CodeReader) -> tuple[DeviceError, list[str]]:
    """One fault and what was read after it."""
    fault: DeviceError | None = None
    for _ in range(2_000):
        try:
            reading = reader.next(0.1)
        except DeviceError as raised:
            fault = raised
            threading.Event().wait(0.02)
            continue
        if fault and reading:
            return fault, [reading.text]
    pytest.fail("the camera did not come back")
