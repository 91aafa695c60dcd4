"""The most memory that a process has held."""

from __future__ import annotations

from pathlib import Path


def peak_mb(pid: int) -> float:
    """So far, in megabytes of 2^20 bytes; the system counts it from the start of the program, not of its parent."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    kilobytes = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    return kilobytes / 1024
