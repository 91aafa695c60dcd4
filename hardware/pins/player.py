"""Plays a pattern of lights or beeps beside the gate's work; a new one replaces it at once."""

import threading
from collections.abc import Callable, Sequence

from hardware.patterns import DARK, Step


class Player:
    """Applies one step after the other; the first before `play` returns. After the last everything is off."""

    def __init__(self, name: str, apply: Callable[[frozenset[str]], None]) -> None:
        self._apply = apply
        self._name = name
        self._changed = threading.Condition()
        self._steps: tuple[Step, ...] = ()
        self._turn = 0
        self._over = False
        self._thread: threading.Thread | None = None

    @property
    def lit(self) -> bool:
        """Whether a pattern is being played."""
        return bool(self._steps)

    def play(self, steps: Sequence[Step]) -> None:
        """Replaces what is being played."""
        with self._changed:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._steps = tuple(steps)
            self._turn += 1
            self._apply(self._steps[0].on if self._steps else DARK)
            self._changed.notify_all()

    def wait_until_over(self, timeout_s: float) -> bool:
        """Whether the pattern ended in time."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._steps, timeout_s)

    def close(self) -> None:
        """Ends the pattern; everything is off."""
        with self._changed:
            self._over, self._steps = True, ()
            self._turn += 1
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self._apply(DARK)

    def _run(self) -> None:
        with self._changed:
            while not self._over:
                if not self._steps:
                    self._changed.wait()
                    continue
                if self._replaced_within(self._steps[0].millis):
                    continue
                self._steps = self._steps[1:]
                self._apply(self._steps[0].on if self._steps else DARK)
                self._changed.notify_all()

    def _replaced_within(self, millis: int) -> bool:
        turn = self._turn
        return self._changed.wait_for(lambda: self._turn != turn, millis / 1000)
