"""From the code in view to the lamp: a whole running gate, with a 720p webcam that sends JPEG thirty times a second.

A gate with 20,000 tickets runs in a process of its own, with screen, journal and live camera; the frames come through a
pipe, as from the ribbon camera. Once it is held to one core at half speed, as a stand-in for a Raspberry Pi 4.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from scripts.benchmarking.gates.door_camera import SETTINGS, Writer, opened_pipe
from scripts.benchmarking.gates.door_film import FRAMES_A_SECOND, FilmFrame, film
from scripts.benchmarking.gates.door_gate import STOPWATCH
from scripts.benchmarking.gates.loaded_event import LoadedEvent, install_gate
from scripts.benchmarking.meters.cpu_time import cpu_seconds, cpu_seconds_since
from scripts.benchmarking.meters.peak_memory import peak_mb
from scripts.benchmarking.meters.throttle import held_to
from scripts.benchmarking.result import Figure, Result, at_least, at_most, both
from scripts.benchmarking.statistics import Spread

TICKETS = 20_000
SHARE = 0.5


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure the way of the same guests, at half speed and at full speed."""
    guests = 10 if quick else 100
    event = LoadedEvent.of(TICKETS)
    frames = list(film([event.code(id) for id in event.ids[:guests]]))
    half = _evening(event, frames, throttled=True)
    whole = _evening(event, frames, throttled=False)
    goal = both(at_most(200, "p95"), at_most(500, "p99"))
    yield Result("door", "code in view to lamp throttled", _spread(half.since_in_view()), goal)
    yield Result("door", "code in view to lamp", _spread(whole.since_in_view()), goal)
    yield Result("door", "frame to lamp", _spread(whole.since_sharp()), at_most(100, "p95"))
    for name, evening in (("throttled", half), ("", whole)):
        admitted = Figure(value=100 * len(evening.lamps) / guests, unit="%")
        yield Result("door", f"guests admitted percent {name}".strip(), admitted, at_least(95))
    yield Result("door", "processor of a frame", Figure(value=whole.millis_a_frame, unit="ms"), at_most(33))
    yield Result("door", "resident MB", Figure(value=max(half.peak, whole.peak), unit="MB"), at_most(250))


def _spread(millis: list[float]) -> Figure:
    return Figure.of_spread(Spread.of(millis), "ms")


@dataclass
class Evening:
    """When each guest's code was in view and sharp, and when the lamp came on; all in ns."""

    in_view: dict[int, int] = field(default_factory=dict)
    sharp: dict[int, int] = field(default_factory=dict)
    lamps: dict[int, int] = field(default_factory=dict)
    peak: float = 0
    millis_a_frame: float = 0

    def since_in_view(self) -> list[float]:
        """Milliseconds from the code in view to the lamp, of each guest; codes read before that count as 0."""
        return [max(0.0, (at - self.in_view[guest]) / 1e6) for guest, at in self.lamps.items()]

    def since_sharp(self) -> list[float]:
        """Milliseconds from the first sharp frame; codes that were read before that count as 0."""
        return [max(0.0, (at - self.sharp[guest]) / 1e6) for guest, at in self.lamps.items()]


def _evening(event: LoadedEvent, frames: list[FilmFrame], *, throttled: bool) -> Evening:
    """The same guests at a new gate."""
    with tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as folder, ExitStack() as cleanup:
        home, pipe = Path(folder) / "home", Path(folder) / "frames"
        install_gate(event, home).close()
        (home / "gate.toml").write_text(SETTINGS.format(lamp=STOPWATCH, pipe=pipe))
        os.mkfifo(pipe)
        gate = subprocess.Popen(
            [sys.executable, "-m", "scripts.benchmarking.gates.door_gate", "run", "--screen", "0", "--home", str(home)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        cleanup.callback(_end, gate)
        # Opening waits until the gate has opened its camera.
        stream = cleanup.enter_context(opened_pipe(pipe, gate))
        limit = held_to(gate.pid, SHARE) if throttled else nullcontext("as fast as this machine")
        print("the gate runs on", cleanup.enter_context(limit), file=sys.stderr)
        return _watched(gate, stream, frames)


def _watched(gate: subprocess.Popen[str], stream: Writer, frames: list[FilmFrame]) -> Evening:
    evening, current = Evening(), [-1]
    listener = threading.Thread(target=_listen, args=(gate, evening, current), daemon=True)
    listener.start()
    _warm_up(stream, frames[0])
    before = cpu_seconds({"gate": gate.pid})
    sent = _play(stream, frames, evening, current)
    time.sleep(1)
    evening.millis_a_frame = cpu_seconds_since(before, {"gate": gate.pid})["gate"] / sent * 1000
    evening.peak = peak_mb(gate.pid)
    return evening


def _warm_up(stream: Writer, empty: FilmFrame) -> None:
    """The door is open for a while before the first guest comes."""
    for _ in range(2 * FRAMES_A_SECOND):
        stream.send(empty.jpeg)
        time.sleep(1 / FRAMES_A_SECOND)


def _play(stream: Writer, frames: list[FilmFrame], evening: Evening, current: list[int]) -> int:
    """Sends each frame when it is due; a camera that is not read in time drops frames."""
    began, sent = time.monotonic_ns(), 0
    for number, frame in enumerate(frames):
        due = began + number * 1_000_000_000 // FRAMES_A_SECOND
        now = time.monotonic_ns()
        if frame.guest >= 0:
            current[0] = frame.guest
        if frame.in_view:
            evening.in_view.setdefault(frame.guest, due)
        if frame.sharp:
            evening.sharp.setdefault(frame.guest, due)
        if now > due + 1_000_000_000 // FRAMES_A_SECOND:
            continue
        time.sleep(max(0, due - now) / 1e9)
        stream.send(frame.jpeg)
        sent += 1
    return sent


def _listen(gate: subprocess.Popen[str], evening: Evening, current: list[int]) -> None:
    for line in gate.stdout or ():
        at, _, signal = line.partition(" ")
        if signal.strip() in {"admit", "attention"}:
            evening.lamps.setdefault(current[0], int(at))


def _end(gate: subprocess.Popen[str]) -> None:
    gate.terminate()
    try:
        gate.wait(10)
    except subprocess.TimeoutExpired:
        gate.kill()
        gate.wait()
