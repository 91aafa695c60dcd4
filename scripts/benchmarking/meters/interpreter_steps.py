"""Counts the interpreter's steps (opcodes) of what a thread does: other work on the machine does not change them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")


class StepCounter:
    """Counts one run after another."""

    def __init__(self) -> None:
        """Nothing was counted yet."""
        self.counts: list[int] = []
        self._steps = 0

    def run(self, act: Callable[[], T]) -> T:
        """Do this, and count its steps up to its end, or up to `stop`."""
        self._steps, before, runs = 0, sys.gettrace(), len(self.counts)
        sys.settrace(self._trace)
        try:
            return act()
        finally:
            sys.settrace(before)
            if len(self.counts) == runs:
                self.counts.append(self._steps)

    def stop(self) -> None:
        """Count no more of this run."""
        self.counts.append(self._steps)

    def _trace(self, frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "opcode":
            self._steps += 1
        elif event == "call":
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._trace
