"""A camera for a measured gate: a program that hands on what is written to a pipe."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from hardware.vision.camera_program import HEAD, JPEG, MARK
from scripts.benchmarking.gates.door_film import HEIGHT, WIDTH

PATIENCE_S = 60.0
SETTINGS = """
indicators = ["{lamp}"]
repeat_ms = 0
[[readers]]
kind = "camera"
name = "lane"
source = "program:cat {pipe}"
"""


def opened_pipe(pipe: Path, gate: subprocess.Popen[str]) -> Writer:
    """The pipe, once the gate has opened its camera."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and gate.poll() is None:
        with suppress(OSError):
            return Writer(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        time.sleep(0.05)
    gate.kill()
    raise RuntimeError(f"the gate did not open its camera: {gate.communicate()[1]}")


class Writer:
    """The writing end of the camera's pipe."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, True)
        self._descriptor = descriptor

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_why: object) -> None:
        os.close(self._descriptor)

    def send(self, jpeg: bytes) -> None:
        """Send one frame."""
        content = HEAD.pack(MARK, JPEG, WIDTH, HEIGHT, len(jpeg)) + jpeg
        while content:
            content = content[os.write(self._descriptor, content) :]
