"""A lane with simulated guests: the camera they come to, and over it the reader and the decoder of every camera."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np

from hardware.ports import Hint
from hardware.simulated.camera import Arrival, SimulatedCamera, Tempo, Turn
from hardware.simulated.scene import Scene
from hardware.vision.camera_reader import CameraReader
from hardware.vision.decoder import Decoded, Decoder
from hardware.vision.pixels import Image


class TimedDecoder(Decoder):
    """The decoder of a camera, with the processor time that it took and the stage that read the last code."""

    def __init__(self) -> None:
        super().__init__()
        self.frames = 0
        self.processor_ns = 0
        self.stage = ""

    @property
    def millis_a_frame(self) -> float:
        """Processor time of a frame on average."""
        return self.processor_ns / max(1, self.frames) / 1e6

    def frame(self, pixels: Image) -> Decoded:
        began = time.thread_time_ns()
        decoded = super().frame(pixels)
        self.processor_ns += time.thread_time_ns() - began
        self.frames += 1
        if decoded.found:
            self.stage = decoded.stage
        return decoded


class SimulatedLane:
    """A reader to which guests come by themselves."""

    def __init__(
        self,
        arrivals: Iterator[Arrival],
        size: tuple[int, int],
        chance: np.random.Generator,
        tempo: Tempo,
        *,
        on_turn_over: Callable[[Turn], None],
        on_hint: Callable[[Hint], None],
        wanted: Callable[[str], bool],
        keep_in: Path | None = None,
    ) -> None:
        """`keep_in` is a folder for a picture of every frame with a guest."""
        self._keep_in = keep_in
        self.decoder = TimedDecoder()
        self.camera = SimulatedCamera(
            arrivals, Scene(*size, chance), tempo, on_turn_over=on_turn_over, on_frame=self._keep
        )
        self.reader = CameraReader(self.camera, self.decoder, tempo.now_ns, on_hint=on_hint, wanted=wanted)

    def _keep(self, turn: Turn | None, pixels: Image) -> None:
        if self._keep_in is not None and turn is not None:
            name = f"guest-{turn.arrival.number:04d}-frame-{turn.frames:03d}.png"
            cv2.imwrite(str(self._keep_in / name), pixels)
