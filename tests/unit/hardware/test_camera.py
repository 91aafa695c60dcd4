"""A camera that is late, lost, silent or only a video file."""

import queue
import threading
from pathlib import Path

import cv2
import numpy as np
import pytest

from hardware.ports import DeviceError
from hardware.vision.camera import Camera, Capture, Frame, Recording, recording
from hardware.vision.pixels import Image
from hardware.vision.webcams import Lens, open_webcam
from tests.unit.hardware.images import code, held_up, room, ticket_text

PATIENCE_S = 20.0


def film(path: Path, frames: list[Image]) -> Path:
    """Writes real video."""
    height, width = frames[0].shape
    out = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 15, (width, height), isColor=False)
    for frame in frames:
        out.write(frame)
    out.release()
    return path


def shade(level: int) -> Image:
    return np.full((48, 64), level, dtype=np.uint8)


class ScriptedCapture:
    """A camera whose next picture arrives when the test hands it in; None is a failed grab."""

    def __init__(self) -> None:
        self.script: queue.SimpleQueue[Image | None] = queue.SimpleQueue()
        self.drained = threading.Event()
        self.released = threading.Event()

    def isOpened(self) -> bool:  # noqa: N802 - OpenCV's name
        return True

    def read(self) -> tuple[bool, Image | None]:
        if self.script.empty():
            self.drained.set()
        while not self.released.is_set():
            try:
                picture = self.script.get(timeout=0.05)
            except queue.Empty:
                continue
            return picture is not None, picture
        return False, None

    def release(self) -> None:
        self.released.set()


class NoCapture(ScriptedCapture):
    def isOpened(self) -> bool:  # noqa: N802 - OpenCV's name
        return False


class Bench:
    """A camera over scripted captures, one after the other, with a clock that the test moves."""

    def __init__(self, *captures: Capture) -> None:
        self.now_ns = 0
        self._captures = list(captures)
        self.stop = threading.Event()
        self.camera = Camera(lambda: self._captures.pop(0), lambda: self.now_ns)

    def close(self) -> None:
        self.stop.set()
        for capture in self._captures:
            capture.release()
        self.camera.close()


def test_the_newest_frame_wins() -> None:
    capture = ScriptedCapture()
    for level in (10, 20, 30):
        capture.script.put(shade(level))
    bench = Bench(capture)
    bench.camera.open(bench.stop)
    assert capture.drained.wait(PATIENCE_S)
    frame = bench.camera.newest(PATIENCE_S)
    assert frame is not None
    assert frame.pixels[0, 0] == 30
    capture.release()
    bench.close()


def test_a_frame_is_handed_out_once() -> None:
    capture = ScriptedCapture()
    capture.script.put(shade(10))
    bench = Bench(capture)
    bench.camera.open(bench.stop)
    assert bench.camera.newest(PATIENCE_S) is not None
    assert bench.camera.newest(0.01) is None
    capture.release()
    bench.close()


def test_an_unplugged_camera_says_so_and_comes_back_by_itself() -> None:
    first, second = ScriptedCapture(), ScriptedCapture()
    for _ in range(5):
        first.script.put(None)
    second.script.put(shade(70))
    bench = Bench(first, NoCapture(), second)
    bench.camera.open(bench.stop)
    with pytest.raises(DeviceError, match="unplugged"):
        bench.camera.newest(PATIENCE_S)
    assert second.drained.wait(PATIENCE_S)
    frame = bench.camera.newest(PATIENCE_S)
    assert frame is not None
    assert frame.pixels[0, 0] == 70
    second.release()
    bench.close()


def test_one_failed_grab_is_not_a_fault() -> None:
    capture = ScriptedCapture()
    capture.script.put(None)
    capture.script.put(shade(50))
    bench = Bench(capture)
    bench.camera.open(bench.stop)
    assert bench.camera.newest(PATIENCE_S) is not None
    capture.release()
    bench.close()


def test_a_camera_that_hangs_is_reported() -> None:
    capture = ScriptedCapture()
    bench = Bench(capture)
    bench.camera.open(bench.stop)
    bench.now_ns = 6_000_000_000
    with pytest.raises(DeviceError, match="not sent an image for a while"):
        bench.camera.newest(0.01)
    capture.release()
    bench.close()


def test_a_camera_that_is_not_there_is_an_error_at_once() -> None:
    with pytest.raises(DeviceError, match="There is no camera"):
        Bench(NoCapture()).camera.open(threading.Event())


def test_a_device_file_that_does_not_exist_is_not_a_camera() -> None:
    camera = Camera(lambda: open_webcam("/dev/video-of-nobody", Lens(640, 480)), lambda: 0)
    with pytest.raises(DeviceError, match="There is no camera"):
        camera.open(threading.Event())


def test_closing_ends_the_thread_without_being_told_to_stop() -> None:
    capture = ScriptedCapture()
    bench = Bench(capture)
    bench.camera.open(bench.stop)
    capture.release()
    bench.camera.close()
    assert bench.camera.ended
    assert "camera" not in {thread.name for thread in threading.enumerate()}


def test_a_real_video_device_that_runs_dry_is_opened_again(tmp_path: Path) -> None:
    """The real cv2.VideoCapture: to the camera, a video file is a device that stops after every showing."""
    showing = film(tmp_path / "door.avi", [shade(60)] * 3)
    stop = threading.Event()
    camera = Camera(recording(showing), lambda: 0).open(stop)
    assert first_frame(camera) is not None
    with pytest.raises(DeviceError, match="unplugged"):
        while camera.newest(PATIENCE_S):
            pass
    assert first_frame(camera) is not None
    stop.set()
    camera.close()


def first_frame(camera: Camera) -> Frame | None:
    """The next frame, through any number of complaints."""
    for _ in range(10_000):
        try:
            frame = camera.newest(0.05)
        except DeviceError:
            threading.Event().wait(0.01)
            continue
        if frame:
            return frame
    return None


class TestRecordings:
    """A video file in place of a camera."""

    def test_every_frame_is_shown_in_order_and_then_it_ends(self, tmp_path: Path) -> None:
        playing = Recording(film(tmp_path / "door.avi", [shade(n) for n in (40, 90, 140)]), lambda: 5).open(
            threading.Event()
        )
        frames = [playing.newest(0) for _ in range(3)]
        assert [round(float(frame.pixels.mean()), -1) for frame in frames if frame] == [40, 90, 140]
        assert not playing.ended
        assert playing.newest(0) is None
        assert playing.ended

    def test_a_file_that_is_no_video_is_refused_with_a_message(self, tmp_path: Path) -> None:
        (tmp_path / "notes.avi").write_text("no video")
        with pytest.raises(DeviceError, match=r"notes\.avi is missing or is not a video"):
            Recording(tmp_path / "notes.avi", lambda: 0).open(threading.Event())

    def test_frames_keep_what_a_code_needs(self, tmp_path: Path) -> None:
        text = ticket_text()
        path = film(tmp_path / "guest.avi", [held_up(code(text, 4), room())])
        frame = Recording(path, lambda: 0).open(threading.Event()).newest(0)
        assert frame is not None
        from hardware.vision.stills import decode_still

        assert decode_still(frame.pixels).codes == (text,)
