"""A gate in its own process that scans codes from its standard input and can be killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any


class ScanningProcess:
    """A process of `gatehouse-gate scan -` on one home."""

    def __init__(self, home: Path) -> None:
        command = [sys.executable, "-m", "gate_app", "scan", "-", "--home", str(home)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def show(self, code: str) -> dict[str, Any]:
        """Scan a code and wait for the result."""
        self.send(code)
        assert self._process.stdout is not None
        result: dict[str, Any] = json.loads(self._process.stdout.readline())
        return result

    def send(self, code: str) -> None:
        """Scan a code without waiting for the result."""
        assert self._process.stdin is not None
        self._process.stdin.write(code.encode() + b"\n")
        self._process.stdin.flush()

    def kill(self) -> list[dict[str, Any]]:
        """Kill the process; return the results printed but not yet read."""
        self._process.send_signal(signal.SIGKILL)
        assert self._process.stdout is not None
        rest = self._process.stdout.read()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                continue
        # An incomplete line was never shown on a lamp.
        whole = rest.rpartition(b"\n")[0]
        return [json.loads(line) for line in whole.splitlines()]
