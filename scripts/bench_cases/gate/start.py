"""From the start of the service to its screen and to its first decision: after a power cut guests wait for it.

A gate with 20,000 tickets and a journal of earlier scans; before its camera a guest has been waiting since before the
start. Once it is held to one core at half speed, as a stand-in for a Raspberry Pi 4. The yardstick is bare Python that
imports OpenCV and zxing-cpp and serves a page. Programs were compiled and read before, as after the first start: what
an SD card takes to read them is not in the figures.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

from gate_app.scanning.gate import Presentation
from scripts.benchmarking.gates.door_camera import SETTINGS, opened_pipe
from scripts.benchmarking.gates.door_film import FRAMES_A_SECOND, film
from scripts.benchmarking.gates.door_gate import STOPWATCH
from scripts.benchmarking.gates.loaded_event import LoadedEvent, install_gate
from scripts.benchmarking.meters.throttle import held_to
from scripts.benchmarking.result import Figure, Result, at_most
from scripts.benchmarking.statistics import Spread

TICKETS = 20_000
SHARE = 0.5
PATIENCE_S = 60.0
GOAL_S = 5.0
HELD_FRAMES = 20
# A process that waits, so that it can be held to its share before it does anything.
WAITING = ("/bin/sh", "-c", 'kill -STOP $$; exec "$@"', "sh")
YARDSTICK = ("scripts.benchmarking.yardsticks.bare_page",)
GATE = ("scripts.benchmarking.gates.door_gate", "run", "--screen", "0", "--home")


def measure(*, quick: bool) -> Iterator[Result]:
    """Measure starts of a gate and of the yardstick in turn, at half speed and at full speed."""
    starts, scans = (2, 300) if quick else (6, 3_000)
    event = LoadedEvent.of(TICKETS)
    with tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as folder:
        place = _Place(Path(folder), _frames(event))
        _prepare(event, place, scans)
        # The first start compiles.
        _start_gate(place, throttled=False)
        for throttled in (True, False):
            gates = [(_start_gate(place, throttled=throttled), _start_bare(place, throttled)) for _ in range(starts)]
            yield from _results(gates, "throttled" if throttled else "")


def _results(gates: list[tuple[_Times, float]], word: str) -> Iterator[Result]:
    bare = Spread.of([seconds for _, seconds in gates]).p50
    for case, seconds in (
        ("screen served", [times.page for times, _ in gates]),
        ("first decision", [times.lamp for times, _ in gates]),
    ):
        figure = Figure.of_spread(Spread.of(seconds), "s", bare)
        yield Result("start", f"{case} {word}".strip(), figure, at_most(GOAL_S, "p95"))


@dataclass
class _Place:
    """Where the gate lives, and what its camera sees."""

    folder: Path
    frames: list[bytes]

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def pipe(self) -> Path:
        return self.folder / "frames"


@dataclass
class _Times:
    """Seconds from the start to the page and to the first lamp."""

    page: float = 0
    lamp: float = 0
    lit: threading.Event = field(default_factory=threading.Event)


class _NoLamp:
    """Scans of earlier evenings need no lamp."""

    def show(self, *_what: object) -> None:
        """Nothing to show."""

    repeat = show


def _frames(event: LoadedEvent) -> list[bytes]:
    return [frame.jpeg for frame in film([event.code(event.ids[-1])])][-HELD_FRAMES:]


def _prepare(event: LoadedEvent, place: _Place, scans: int) -> None:
    """A gate that has been used."""
    context = install_gate(event, place.home)
    for id in event.ids[:scans]:
        context.gate.handle(Presentation(event.code(id), "camera"), _NoLamp())
    context.close()
    (place.home / "gate.toml").write_text(SETTINGS.format(lamp=STOPWATCH, pipe=place.pipe))
    os.mkfifo(place.pipe)


def _start_gate(place: _Place, *, throttled: bool) -> _Times:
    times, over = _Times(), threading.Event()
    with _started(place, (*GATE, str(place.home)), throttled) as (process, began), ExitStack() as cleanup:
        cleanup.callback(over.set)
        threads = [
            threading.Thread(target=_show_ticket, args=(place, process, over), daemon=True),
            threading.Thread(target=_wait_for_lamp, args=(process, times, began), daemon=True),
        ]
        for thread in threads:
            thread.start()
        times.page = _page_served(process, began)
        if not times.lit.wait(PATIENCE_S):
            raise RuntimeError("the gate has not answered the guest before its camera")
    return times


def _start_bare(place: _Place, throttled: bool) -> float:
    with _started(place, YARDSTICK, throttled) as (process, began):
        return _page_served(process, began)


@contextmanager
def _started(place: _Place, words: tuple[str, ...], throttled: bool) -> Iterator[tuple[subprocess.Popen[str], float]]:
    """The process, held to its share from its first instruction on, and when it was let go."""
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(
        [*WAITING, sys.executable, "-m", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=own | {"PYTHONPYCACHEPREFIX": str(place.folder / "compiled")},
    )
    os.waitpid(process.pid, os.WUNTRACED)
    try:
        with held_to(process.pid, SHARE) if throttled else nullcontext():
            began = time.monotonic()
            os.kill(process.pid, signal.SIGCONT)
            yield process, began
    finally:
        process.kill()
        process.communicate()


def _page_served(process: subprocess.Popen[str], began: float) -> float:
    """Seconds until the page that the process names is served."""
    said = []
    for line in process.stderr or ():
        said.append(line)
        if ": http://" in line:
            with urllib.request.urlopen(line.split(": ")[1].split()[0], timeout=PATIENCE_S) as page:  # noqa: S310
                page.read()
            return time.monotonic() - began
    raise RuntimeError(f"no page was served: {''.join(said)}")


def _show_ticket(place: _Place, process: subprocess.Popen[str], over: threading.Event) -> None:
    """A guest holds a ticket up for as long as it takes."""
    with suppress(BrokenPipeError), opened_pipe(place.pipe, process) as stream:
        for jpeg in itertools.cycle(place.frames):
            if over.wait(1 / FRAMES_A_SECOND):
                return
            stream.send(jpeg)


def _wait_for_lamp(process: subprocess.Popen[str], times: _Times, began: float) -> None:
    for line in process.stdout or ():
        times.lamp = int(line.split()[0]) / 1e9 - began
        times.lit.set()
        return
