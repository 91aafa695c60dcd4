"""The peak memory of a process."""

from __future__ import annotations

from pathlib import Path


def peak_mb(pid: int) -> float:
    """The peak so far in MiB, counted from the start of the program."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    kilobytes = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    return kilobytes / 1024
