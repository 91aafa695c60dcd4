"""A camera behind a program: the ribbon camera's process, and what else speaks its language."""

import sys
import threading
import time
from pathlib import Path

import cv2
import numpy as np
import pytest

from hardware.devices import ReaderOptions, open_reader
from hardware.ports import CodeReader, DeviceError
from hardware.vision.camera_program import ProgramCapture, ribbon_command
from tests.unit.hardware.images import code, held_up, room, ticket_text

TEXT = ticket_text()
# Stands for picamera2: the program that is shipped runs with it, and no line of it is replaced.
PICAMERA = """
import numpy as np
class Picamera2:
    def create_video_configuration(self, main, buffer_count): return main
    def configure(self, main): assert main["format"] == "YUV420"; self.size = main["size"]
    def start(self): self.left = {frames}
    def stop(self): pass
    def capture_array(self, stream):
        assert stream == "main"
        self.left -= 1
        if self.left < 0: raise SystemExit(0)
        # As the Pi does it: rows padded to 64 bytes, then the two colours.
        return np.load({file!r})
"""


def picamera(folder: Path, frames: int) -> None:
    """Puts a module picamera2 into a folder: it sends the same frame so many times."""
    picture = held_up(code(TEXT, 4), room(640, 480), (200, 120))
    padded = np.zeros((720, 704), np.uint8)
    padded[:480, :640] = picture
    np.save(folder / "frame.npy", padded)
    (folder / "picamera2.py").write_text(PICAMERA.format(frames=frames, file=str(folder / "frame.npy")))


def ribbon(folder: Path) -> list[str]:
    """The shipped program, run by this Python and with that module."""
    shipped = ribbon_command(640, 480)[1:]
    start = f"import sys, runpy; sys.path.insert(0, {str(folder)!r}); runpy.run_path(sys.argv[0], run_name='__main__')"
    return [sys.executable, "-c", f"import sys; sys.argv = {shipped!r}; {start}"]


def read_one(reader: CodeReader) -> str:
    for _ in range(100):
        reading = reader.next(0.2)
        if reading:
            return reading.text
    pytest.fail("nothing was read")


def test_the_ribbon_cameras_program_sends_the_brightness_of_its_frames(tmp_path: Path) -> None:
    picamera(tmp_path, 2)
    capture = ProgramCapture(ribbon(tmp_path))
    taken = [capture.read() for _ in range(3)]
    capture.release()
    assert [there for there, _ in taken] == [True, True, False]
    expected = held_up(code(TEXT, 4), room(640, 480), (200, 120))
    assert all(np.array_equal(pixels, expected) for _, pixels in taken[:2] if pixels is not None)


def test_a_program_that_crashes_is_a_fault_and_is_started_again(tmp_path: Path) -> None:
    """Its first run ends after a frame of noise, its second shows a ticket."""
    cv2.imwrite(str(tmp_path / "code.jpg"), held_up(code(TEXT, 4), room(640, 480), (200, 120)))
    program = tmp_path / "camera.py"
    program.write_text(f"""
import pathlib, struct, sys, time
folder = pathlib.Path({str(tmp_path)!r})
again = (folder / "ran").exists()
(folder / "ran").touch()
jpeg = (folder / "code.jpg").read_bytes()
write = sys.stdout.buffer.write
if not again:
    write(b"no frame at all, but bytes")
    sys.exit(1)
while True:
    write(struct.pack(">4s4sHHI", b"GHF1", b"JPEG", 640, 480, len(jpeg)) + jpeg)
    sys.stdout.buffer.flush()
    time.sleep(0.05)
""")
    options = ReaderOptions("camera", "lane", f"program:{sys.executable} {program}")
    stop = threading.Event()
    reader = open_reader(options, time.monotonic_ns, stop)
    try:
        with pytest.raises(DeviceError, match="unplugged or has stopped"):
            read_one(reader)
        texts = []
        while not texts:
            try:
                texts.append(read_one(reader))
            except DeviceError:
                continue
        assert texts == [TEXT]
    finally:
        stop.set()
        reader.close()


@pytest.mark.parametrize(
    ("source", "message"),
    [("program:/no/such/camera", "There is no camera"), ("program:", "is empty"), ("program:'cam", "cannot be read")],
)
def test_a_program_that_cannot_run_is_said_in_words(source: str, message: str) -> None:
    with pytest.raises(DeviceError, match=message):
        open_reader(ReaderOptions("camera", "lane", source), lambda: 0, threading.Event())


def test_a_machine_without_picamera2_is_told_what_to_install() -> None:
    import subprocess

    command = [sys.executable, *ribbon_command(640, 480)[1:]]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "apt install python3-picamera2" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
