"""A camera in front of which simulated guests take their turns; it stands where a real one stands."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hardware.ports import MonotonicNs
from hardware.simulated.guests import Guest, again
from hardware.simulated.scene import Optics, Scene
from hardware.vision.camera import Frame
from hardware.vision.pixels import Image

SECOND_NS = 1_000_000_000
APPROACH_NS = 1_200_000_000
REACTION_NS = 350_000_000
PATIENCE_NS = 7_000_000_000
AWAY_NS = 1_500_000_000
TRIES = 3
"""Guests who see no lamp for so long take their code away, look at it, and hold it up anew, so often in all."""
BETWEEN_NS = 300_000_000
"""At least so long after a guest nobody is in the picture."""
EMPTY = Optics()


class Tempo(Protocol):
    """How the time of a simulation passes."""

    def now_ns(self) -> int: ...

    def wait_until(self, at_ns: int) -> None: ...


class AtOnce:
    """Time passes as soon as somebody waits for it: a simulation as fast as the machine."""

    def __init__(self, at_ns: int = 0) -> None:
        self._now = at_ns

    def now_ns(self) -> int:
        """The time of the simulation."""
        return self._now

    def wait_until(self, at_ns: int) -> None:
        """Moves on to that time."""
        self._now = max(self._now, at_ns)


class AsItIs:
    """Real time, until it is stopped."""

    def __init__(self, monotonic_ns: MonotonicNs, stop: threading.Event) -> None:
        self._monotonic_ns = monotonic_ns
        self._stop = stop

    def now_ns(self) -> int:
        """The monotonic clock."""
        return self._monotonic_ns()

    def wait_until(self, at_ns: int) -> None:
        """Waits."""
        self._stop.wait(max(0, at_ns - self._monotonic_ns()) / 1e9)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A guest, and how long after the doors opened they join the line."""

    number: int
    guest: Guest
    after_ns: int


@dataclass(slots=True)
class Turn:
    """A guest's turn at the camera."""

    arrival: Arrival
    guest: Guest
    """The guest, with the way of holding up the code this time."""
    held_ns: int
    """When it is held up, this time."""
    tries: int = 1
    frames: int = 0
    read_after: int | None = None
    """The number of the frame in which the gate read the code, from 1."""
    read_ns: int = 0

    def over(self, now: int) -> bool:
        """Guests go on soon after the lamp, and give up when they have tried often enough without it."""
        if self.read_after is not None:
            return now - self.read_ns >= REACTION_NS
        return self.tries == TRIES and self.impatient(now)

    def impatient(self, now: int) -> bool:
        """Whether the code has been held up for long without an answer."""
        return self.read_after is None and now - self.held_ns >= PATIENCE_NS

    def hold_up_anew(self, guest: Guest, at_ns: int) -> None:
        """Takes the code away until then."""
        self.guest, self.held_ns, self.tries = guest, at_ns, self.tries + 1


class SimulatedCamera:
    """A frame source: guests come one after the other, each as long as the gate needs."""

    def __init__(
        self,
        arrivals: Iterator[Arrival],
        scene: Scene,
        tempo: Tempo,
        *,
        frames_a_second: float = 15,
        name: str = "simulated camera",
        on_turn_over: Callable[[Turn], None],
        on_frame: Callable[[Turn | None, Image], None],
    ) -> None:
        self.name = name
        self.turn: Turn | None = None
        self._arrivals = arrivals
        self._next = next(arrivals, None)
        self._scene = scene
        self._tempo = tempo
        self._every_ns = round(SECOND_NS / frames_a_second)
        self._opened_ns = tempo.now_ns()
        self._due_ns = self._opened_ns
        self._free_ns = self._opened_ns
        self._on_turn_over = on_turn_over
        self._on_frame = on_frame
        self._closed = False

    @property
    def ended(self) -> bool:
        """Whether the last guest has gone."""
        return self._closed or (self.turn is None and self._next is None and self._tempo.now_ns() > self._free_ns)

    def newest(self, timeout_s: float) -> Frame | None:
        """The next frame; a frame that nobody asked for in time was never taken."""
        if self.ended:
            return None
        now = self._tempo.now_ns()
        self._due_ns = max(self._due_ns + self._every_ns, now)
        if self._due_ns - now > timeout_s * SECOND_NS:
            self._tempo.wait_until(now + round(timeout_s * SECOND_NS))
            return None
        self._tempo.wait_until(self._due_ns)
        return self._take(self._tempo.now_ns())

    def served(self) -> None:
        """Tells the guest at the camera that the lamp is on."""
        if self.turn is not None and self.turn.read_after is None:
            self.turn.read_after, self.turn.read_ns = self.turn.frames, self._tempo.now_ns()

    def close(self) -> None:
        self._closed = True

    def _take(self, now: int) -> Frame:
        self._change_turns(now)
        shown = self.turn if self.turn is not None and now >= self.turn.held_ns else None
        pixels = self._view(shown, now)
        self._on_frame(shown, pixels)
        return Frame(pixels, now)

    def _change_turns(self, now: int) -> None:
        if self.turn is not None and self.turn.over(now):
            over, self.turn, self._free_ns = self.turn, None, now + BETWEEN_NS
            self._on_turn_over(over)
        elif self.turn is not None and self.turn.impatient(now):
            self.turn.hold_up_anew(again(self.turn.guest, self._scene.chance, self._scene.height), now + AWAY_NS)
        waits = self._next is not None and self._opened_ns + self._next.after_ns <= now
        if self.turn is None and waits and self._next is not None and now >= self._free_ns:
            self.turn, self._next = Turn(self._next, self._next.guest, now), next(self._arrivals, None)

    def _view(self, turn: Turn | None, now: int) -> Image:
        if turn is None:
            return self._scene.frame([], EMPTY)
        turn.frames += 1
        moment, guest = (now - turn.held_ns) / APPROACH_NS, turn.guest
        pose = guest.pose(moment, self._scene.width, self._scene.height)
        return np.ascontiguousarray(self._scene.frame([(guest.drawing, pose)], guest.optics(moment)))
