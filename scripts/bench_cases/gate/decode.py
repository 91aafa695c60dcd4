"""Reading codes in camera frames, by processor time: guests who walk up, an empty door, small codes, phantoms.

Beside the gate's decoder run plain zxing-cpp, pyzbar and OpenCV's own detector, on the same frames. The frames are made
by hardware/simulated, as for `gatehouse-gate simulate`. Each run draws other guests, from a seed that it prints: nobody
can have tuned a stage to a single one of them. GATEHOUSE_BENCH_SEED repeats a run.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import cv2
import numpy as np
from pyzbar import pyzbar

from hardware.simulated.carriers import TEXTURE_PX, Carrier, Drawing, draw
from hardware.simulated.guests import a_guest
from hardware.simulated.scene import Optics, Pose, Scene
from hardware.vision.decoder import Decoder
from hardware.vision.pixels import Image
from hardware.vision.stages import read_zxing
from scripts.benchmarking.gates.hard_codes import HARD, Hard, ticket_text
from scripts.benchmarking.result import ANY, Figure, Result, at_least, at_most
from scripts.benchmarking.statistics import Spread

FRAMES_OF_A_GUEST = 20
LARGE_ENOUGH_PX = (3.0, 2.5, 2.25, 2.0, 1.75, 1.5)
READ_SHARE = 0.88
ROOM_FRAMES = 100
GROUPS = 5
"""The guests come in groups: how far their shares lie apart says how much one share is worth."""
# What another decoder reaches is no goal of ours.

Read = Callable[[Image], tuple[str, ...]]


def _zxing(image: Image) -> tuple[str, ...]:
    return tuple(code.text for code in read_zxing(image).found)


def _pyzbar(image: Image) -> tuple[str, ...]:
    return tuple(code.data.decode("utf-8", "replace") for code in pyzbar.decode(image, [pyzbar.ZBarSymbol.QRCODE]))


def _opencv() -> Read:
    detector = cv2.QRCodeDetector()

    def read(image: Image) -> tuple[str, ...]:
        try:
            text, _, _ = detector.detectAndDecode(image)
        except cv2.error:
            return ()
        return (text,) if text else ()

    return read


def _gate() -> Read:
    decoder = Decoder()
    return lambda image: decoder.frame(image).codes


DECODERS: dict[str, Callable[[], Read]] = {
    "": _gate,
    "zxing-cpp": lambda: _zxing,
    "pyzbar": lambda: _pyzbar,
    "opencv": _opencv,
}
"""By the word that follows the name of a case; a new one for each guest, because the gate's remembers frames."""


@dataclass
class Timed:
    """A decoder with the processor time of each frame."""

    read: Read
    millis: list[float] = field(default_factory=list)

    def __call__(self, image: Image) -> tuple[str, ...]:
        """Read one frame."""
        began = time.thread_time_ns()
        codes = self.read(image)
        self.millis.append((time.thread_time_ns() - began) / 1e6)
        return codes


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure each case with each decoder."""
    # One thread, as on a gate that has other things to do.
    cv2.setNumThreads(1)
    seed = int(os.environ.get("GATEHOUSE_BENCH_SEED", "") or secrets.randbelow(1_000_000))
    print(f"the guests are of seed {seed}; GATEHOUSE_BENCH_SEED={seed} lets them come again", file=sys.stderr)
    numbers = np.random.default_rng(seed).integers(1 << 20, 1 << 40, 1_000).tolist()
    yield from _approach(numbers[: 30 if quick else 300])
    yield from _without_code(60 if quick else 400, numbers[-1])
    yield _smallest_module(numbers[: 8 if quick else 40])
    yield from _hard_cases(numbers[: 4 if quick else 25])
    yield _phantoms(300 if quick else 10_000, numbers[300:])


def _approach(people: list[int]) -> Iterator[Result]:
    """Of a hundred people who hold up a code at a 480p camera, how many are read within twenty frames."""
    read = dict.fromkeys(DECODERS, 0)
    millis: dict[str, list[float]] = {name: [] for name in DECODERS}
    ours: list[bool] = []
    for person in people:
        text, frames = ticket_text(person), _frames_of(person)
        for name, decoder in DECODERS.items():
            timed = Timed(decoder())
            # Only the gate's decoder is asked for every frame: the others have no memory, and stop at the first.
            seen = [text in timed(frame) for frame in frames] if not name else _until_read(timed, text, frames)
            read[name] += any(seen)
            ours += [] if name else [any(seen)]
            millis[name] += timed.millis
    for name in DECODERS:
        goal = ANY if name else at_least(95)
        yield Result(
            "decode",
            _case("approach 480p percent of people", name),
            Figure(value=100 * read[name] / len(people), unit="%"),
            goal,
        )
    shares = [100 * sum(ours[group::GROUPS]) / len(ours[group::GROUPS]) for group in range(GROUPS)]
    for word, share in (("lowest", min(shares)), ("highest", max(shares))):
        yield Result("decode", f"approach 480p {word} of {GROUPS} groups", Figure(value=share, unit="%"), ANY)
    for name in DECODERS:
        yield Result("decode", _case("approach 480p frame", name), Figure.of_spread(Spread.of(millis[name]), "ms"), ANY)


def _until_read(read: Read, text: str, frames: list[Image]) -> Iterator[bool]:
    return (text in read(frame) for frame in frames)


def _frames_of(person: int) -> list[Image]:
    chance = np.random.default_rng(person)
    scene, guest = Scene(640, 480, chance), a_guest(ticket_text(person), chance, 480)
    moments = (step / (FRAMES_OF_A_GUEST - 1) for step in range(FRAMES_OF_A_GUEST))
    return [scene.frame([(guest.drawing, guest.pose(moment, 640, 480))], guest.optics(moment)) for moment in moments]


def _without_code(frames: int, seed: int) -> Iterator[Result]:
    """A 720p camera at a door at which people pass who hold nothing up."""
    millis: dict[str, list[float]] = {}
    for name, decoder in DECODERS.items():
        timed = Timed(decoder())
        for image in _passers_by(frames if not name else frames // 4, seed=seed):
            timed(image)
        millis[name] = timed.millis
    for name, taken in millis.items():
        spread = Spread.of(taken)
        mean = sum(taken) / len(taken)
        figure = Figure(value=mean, unit="ms", p50=spread.p50, p95=spread.p95, p99=spread.p99)
        yield Result("decode", _case("720p frame without code", name), figure, ANY if name else at_most(5))


def _passers_by(frames: int, width: int = 1280, height: int = 720, *, seed: int) -> Iterator[Image]:
    """Every second second somebody walks through the picture, and the next one nobody does."""
    chance = np.random.default_rng(seed)
    scene, coat = Scene(width, height, chance), _coat(chance)
    for number in range(frames):
        step = number % 60
        held = [(coat, Pose(width * (step / 30 * 1.4 - 0.2), height * 0.6, height / 120))] if step < 30 else []
        yield scene.frame(held, Optics(focus=1, noise=3, motion_px=4 if held else 0))


def _coat(chance: np.random.Generator) -> Drawing:
    """A person without a code: a coat with a pattern, as textured as a code."""
    checks = np.kron(chance.integers(0, 2, (60, 30)), np.ones((TEXTURE_PX, TEXTURE_PX))) * 120 + 60
    size = checks.shape[1]
    corners = np.array([[0, 0], [size, 0], [size, size], [0, size]], dtype=np.float32)
    return Drawing(checks.astype(np.uint8), TEXTURE_PX, corners)


def _smallest_module(codes: list[int]) -> Result:
    """The smallest module at which 88 of 100 codes are read, straight and sharp, in frames of one camera."""
    read = [size for size in LARGE_ENOUGH_PX if _share_read(size, codes) >= READ_SHARE]
    smallest = min(read, default=float("inf"))
    return Result("decode", "module size read", Figure(value=smallest, unit="px"), at_most(2))


def _share_read(module_px: float, codes: list[int]) -> float:
    read = 0
    for number in codes:
        chance = np.random.default_rng(number)
        text = ticket_text(number)
        scene, drawing = Scene(640, 480, chance), draw(text, Carrier.PHONE, chance)
        at = chance.uniform(-0.5, 0.5, 2)
        pose = Pose(320 + float(at[0]), 240 + float(at[1]), module_px, roll=float(chance.uniform(-5, 5)))
        decoder = Decoder()
        read += any(text in decoder.frame(scene.frame([(drawing, pose)], Optics(noise=3))).codes for _ in range(6))
    return read / len(codes)


def _hard_cases(codes: list[int]) -> Iterator[Result]:
    """What doors also see: how many of a hundred are read within six frames, beside the best of the other decoders."""
    for hard in HARD:
        ours, *others = (
            100 * sum(_read_hard(hard, number, decoder()) for number in codes) / len(codes)
            for decoder in DECODERS.values()
        )
        yield Result("decode", f"{hard.name} percent", Figure(value=ours, unit="%", yardstick=max(others)), ANY)


def _read_hard(hard: Hard, number: int, read: Read) -> bool:
    frames, text = hard.frames(number)
    return any(text in read(frame) for frame in frames)


def _phantoms(frames: int, people: list[int]) -> Result:
    """Texts that nobody shows: in front of patterned coats, and beside the codes of guests."""
    reported = 0
    for start in range(0, frames // 2, ROOM_FRAMES):
        decoder = Decoder()
        for image in _passers_by(ROOM_FRAMES, 640, 480, seed=people[0] + start):
            reported += len(decoder.frame(image).codes)
    for person in people[: frames // 2 // FRAMES_OF_A_GUEST]:
        decoder, text = Decoder(), ticket_text(person)
        for image in _frames_of(person):
            reported += any(code != text for code in decoder.frame(image).codes)
    return Result("decode", "phantom reads", Figure(value=reported, unit=f"in {frames} frames"), at_most(0))


def _case(name: str, decoder: str) -> str:
    return f"{name} {decoder}".strip()
