"""What a barrier tells: who went through, and whose admission is taken back because nobody did."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

MOST_WITHOUT_A_TURN = 3
"""After this many in a row it is more likely that the contact is broken than that nobody went through."""
LOOK_S = 0.5


@dataclass(frozen=True, slots=True)
class Awaited:
    """An admission for which the barrier was opened."""

    seq: int
    until: int  # monotonic ms


class Turns:
    """The admissions for which the barrier was opened and nobody has gone through yet, oldest first.

    A barrier without a contact tells nothing: then everybody is taken to have gone through when their time is over.
    """

    def __init__(
        self,
        *,
        told: bool,
        within_ms: int,
        untold_ms: int = 1_000,
        keeps: bool = False,
        monotonic_ms: Callable[[], int],
        take_back: Callable[[int], None],
        report: Callable[[bool], None] = lambda _broken: None,
    ) -> None:
        """`take_back` annuls an admission, unless the barrier tells nothing or the gate `keeps` it all the same.

        `report` says whether the contact seems to be broken.
        """
        self.told = told
        self._keeps = keeps
        self._untold_ms = untold_ms
        self._within_ms = within_ms
        self._monotonic_ms = monotonic_ms
        self._take_back = take_back
        self._report = report
        self._awaited: deque[Awaited] = deque()
        self._ending: int | None = None
        self._settled: dict[int, bool] = {}
        self._without_a_turn = 0
        self._changed = threading.Condition()

    def opened(self, seq: int) -> None:
        """The barrier was opened for this admission."""
        with self._changed:
            self._settled.pop(seq, None)
            within_ms = self._within_ms if self.told else self._untold_ms
            self._awaited.append(Awaited(seq, self._monotonic_ms() + within_ms))

    def turned(self) -> None:
        """Somebody went through: whoever was admitted first."""
        with self._changed:
            self._without_a_turn = 0
            if self._awaited:
                self._settle(self._awaited.popleft().seq, went=True)
        self._report(False)

    def expire(self) -> None:
        """Ends the waiting for everybody whose time is over."""
        while (seq := self._next_over()) is not None:
            try:
                if self.told and not self._keeps:
                    # On the disk before anybody is told that it is over.
                    self._take_back(seq)
                    self._without_a_turn += 1
                    self._report(self._without_a_turn >= MOST_WITHOUT_A_TURN)
            finally:
                with self._changed:
                    self._ending = None
                    self._settle(seq, went=self._keeps or not self.told)

    def wait(self, seq: int, stop: threading.Event) -> bool | None:
        """Waits until somebody has gone through for this admission, or nobody will; None if it was not awaited."""
        with self._changed:
            while self._is_awaited(seq) and not stop.is_set():
                self._changed.wait(LOOK_S)
            return self._settled.pop(seq, None)

    def is_awaited(self, seq: int) -> bool:
        """Whether the barrier was opened for this admission, and nobody has gone through yet."""
        with self._changed:
            return self._is_awaited(seq)

    def run(self, stop: threading.Event) -> None:
        """Ends what is over, until it is stopped."""
        while not stop.wait(LOOK_S / 5):
            self.expire()

    def _is_awaited(self, seq: int) -> bool:
        return seq == self._ending or any(one.seq == seq for one in self._awaited)

    def _next_over(self) -> int | None:
        with self._changed:
            if self._awaited and self._monotonic_ms() >= self._awaited[0].until:
                # Whoever goes through from now on does so for somebody else.
                self._ending = self._awaited.popleft().seq
                return self._ending
            return None

    def _settle(self, seq: int, *, went: bool) -> None:
        self._settled = {seq: went}
        self._changed.notify_all()
