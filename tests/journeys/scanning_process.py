"""A gate in a process of its own, fed with codes, killed without warning."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any


class ScanningProcess:
    """`gatehouse-gate scan -` over one home."""

    def __init__(self, home: Path) -> None:
        command = [sys.executable, "-m", "gate_app", "scan", "-", "--home", str(home)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def show(self, code: str) -> dict[str, Any]:
        """Holds a code up and waits for the answer."""
        self.hold_up(code)
        assert self._process.stdout is not None
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def hold_up(self, code: str) -> None:
        """Holds a code up and waits for nothing."""
        assert self._process.stdin is not None
        self._process.stdin.write(code.encode() + b"\n")
        self._process.stdin.flush()

    def kill(self) -> list[dict[str, Any]]:
        """The power goes; what it had printed by then."""
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
        # A line that was cut in two lit no lamp.
        whole = rest.rpartition(b"\n")[0]
        return [json.loads(line) for line in whole.splitlines()]
