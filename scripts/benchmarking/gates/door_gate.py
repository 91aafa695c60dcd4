"""Runs `gatehouse-gate` with one more kind of lamp, which prints the moment at which it is asked to shine."""

from __future__ import annotations

import time

from gate_app.__main__ import main
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
    main()
