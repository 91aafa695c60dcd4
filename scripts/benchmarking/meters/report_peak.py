"""Runs gatehouse-gate with the given arguments and prints its peak memory to standard error."""

from __future__ import annotations

import os
import sys

from gate_app.__main__ import main
from scripts.benchmarking.meters.peak_memory import peak_mb

PEAK = "peak MB:"

if __name__ == "__main__":
    try:
        main()
    finally:
        print(PEAK, peak_mb(os.getpid()), file=sys.stderr)
