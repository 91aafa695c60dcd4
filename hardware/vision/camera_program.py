"""A camera behind a program of its own, which writes frames to its standard output.

The Raspberry Pi's ribbon camera needs libraries of the system's Python, and a camera of the network needs others.
Each frame is a head of 16 bytes, all numbers big-endian, and its pixels:

    4 bytes  "GHF1"
    4 bytes  "GREY", a byte for each pixel, or "JPEG"
    2 bytes  width, 2 bytes  height, 4 bytes  length of the pixels
"""

import os
import shlex
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np

from hardware.ports import DeviceError
from hardware.vision.pixels import Image

HEAD = struct.Struct(">4s4sHHI")
MARK = b"GHF1"
GREY, JPEG = b"GREY", b"JPEG"
LARGEST = 64_000_000
ENDING_S = 2.0
RIBBON = Path(__file__).with_name("ribbon_program.py")
# picamera2 is installed for the system's Python, not for the gate's own environment.
SYSTEM_PYTHON = "/usr/bin/python3"


def ribbon_command(width: int, height: int) -> list[str]:
    """How the program for the ribbon camera is started."""
    return [SYSTEM_PYTHON, str(RIBBON), str(width), str(height)]


def command_of(line: str, name: str) -> list[str]:
    """A command line from the settings as its words. Raises DeviceError."""
    try:
        words = shlex.split(line)
    except ValueError as why:
        raise DeviceError(name, f"The command of the camera cannot be read ({why}).", "Correct gate.toml.") from why
    if not words:
        raise DeviceError(name, "The command of the camera is empty.", "Name a program after “program:”.")
    return words


class ProgramCapture:
    """A capture over a running program; closing it ends the program."""

    def __init__(self, command: list[str]) -> None:
        self._process = _started(command)

    def isOpened(self) -> bool:  # noqa: N802 - OpenCV's name
        """Whether the program could be started."""
        return self._process is not None

    def read(self) -> tuple[bool, Image | None]:
        """The next frame; waits for it. False once the program has ended or writes something else."""
        head = self._take(HEAD.size)
        if head is None:
            return False, None
        mark, kind, width, height, length = HEAD.unpack(head)
        if mark != MARK or length > LARGEST or (kind == GREY and length != width * height):
            return self._give_up()
        content = self._take(length)
        if content is None:
            return False, None
        pixels = np.frombuffer(content, dtype=np.uint8)
        return True, pixels.reshape(height, width) if kind == GREY else pixels.reshape(1, -1)

    def release(self) -> None:
        """Ends the program."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(ENDING_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()

    def _give_up(self) -> tuple[bool, None]:
        """What follows a broken head cannot be understood: only a new start helps."""
        if self._process is not None:
            with suppress(OSError):
                self._process.kill()
        return False, None

    def _take(self, size: int) -> bytes | None:
        stream = self._process.stdout if self._process else None
        if stream is None:
            return None
        with suppress(OSError, ValueError):
            content = stream.read(size)
            return content if content is not None and len(content) == size else None
        return None


def _started(command: list[str]) -> "subprocess.Popen[bytes] | None":
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    try:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=sys.stderr, env=environment
        )
    except (OSError, ValueError):
        return None
