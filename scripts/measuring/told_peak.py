"""Runs gatehouse-gate with the arguments given, and tells on standard error the most memory that it held."""

from __future__ import annotations

import os
import sys

from gate_app.__main__ import main
from scripts.measuring.peak import peak_mb

PEAK = "peak MB:"

if __name__ == "__main__":
    try:
        main()
    finally:
        print(PEAK, peak_mb(os.getpid()), file=sys.stderr)
