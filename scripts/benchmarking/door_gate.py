"""Runs the gate of a home with one more kind of lamp, which prints the moment at which it is asked to shine."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from gate_app.app import home_at, this_host
from gate_app.gate_context import opened
from gate_app.running.run import run_gate
from hardware import devices
from hardware.ports import Signal

STOPWATCH = "stopwatch"


class Stopwatch:
    """A lamp that prints the monotonic time of each signal."""

    def show(self, signal: Signal) -> None:
        """Print when, and which."""
        print(time.monotonic_ns(), signal.value, flush=True)

    def close(self) -> None:
        """Nothing to close."""


if __name__ == "__main__":
    devices.INDICATORS[STOPWATCH] = lambda _options: Stopwatch()
    with opened(home_at(Path(sys.argv[1])), this_host(), "run") as context:
        run_gate(context, (), 0)
