"""A child program that can be stopped or killed, restarted, and never outlives this process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

KEEPER = Path(__file__).with_name("keeper.py")
POLL_SECONDS = 0.02


class ProgramFailedError(RuntimeError):
    """A program exited, or did not become ready, when it should have been running."""


@dataclass
class Child:
    """How to start and stop a program; `start` and `stop` may be called repeatedly."""

    name: str
    command: list[str]
    output: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    user: str = "-"
    stop_signal: int = signal.SIGTERM
    stop_timeout: float = 10.0
    _keeper: subprocess.Popen[str] | None = field(default=None, init=False, repr=False)
    _pid: int = field(default=0, init=False)

    def start(self) -> None:
        """Start the program under a keeper that ends it when this process ends, for whatever reason."""
        if self.running:
            raise ProgramFailedError(f"{self.name} is already running")
        with self.output.open("ab") as output:
            self._keeper = subprocess.Popen(
                [
                    sys.executable,
                    "-I",
                    str(KEEPER),
                    str(self.stop_signal),
                    str(self.stop_timeout),
                    self.user,
                    *self.command,
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                env={**os.environ, **self.environment},
                cwd=self.folder,
                start_new_session=True,
                text=True,
            )
        self._pid = int(self._first_line() or 0)
        if not self._pid:
            raise ProgramFailedError(self._describe("could not be started"))

    def _first_line(self) -> str:
        return self._keeper.stdout.readline().strip() if self._keeper and self._keeper.stdout else ""

    @property
    def running(self) -> bool:
        """Whether the program has neither exited nor been stopped."""
        return self._keeper is not None and self._keeper.poll() is None

    @property
    def pid(self) -> int:
        """The process id of the program itself."""
        return self._pid

    def stop(self) -> int:
        """Stop the program, kill it after `stop_timeout` seconds, and return its exit status (0 if it never ran)."""
        if self._keeper is None:
            return 0
        if self._keeper.stdin and not self._keeper.stdin.closed:
            self._keeper.stdin.close()
        return self._wait()

    def kill(self) -> None:
        """Kill the program and its process group at once, as a power cut would."""
        if self.running:
            os.killpg(self._pid, signal.SIGKILL)
        self.stop()

    def _wait(self) -> int:
        assert self._keeper is not None  # noqa: S101 -- narrows the type; both callers have checked
        status = self._keeper.wait(self.stop_timeout + 10)
        if self._keeper.stdout:
            self._keeper.stdout.close()
        self._keeper = None
        return status

    def wait_until(self, ready: Callable[[], bool], seconds: float = 60) -> None:
        """Return once `ready()` is true. ProgramFailedError if the program exits or time runs out."""
        deadline = time.monotonic() + seconds
        while not ready():
            self.require_running()
            if time.monotonic() > deadline:
                self.kill()
                raise ProgramFailedError(self._describe(f"was not ready after {seconds:.0f} seconds"))
            time.sleep(POLL_SECONDS)

    def require_running(self) -> None:
        """ProgramFailedError with the end of its output if the program has exited."""
        if not self.running:
            raise ProgramFailedError(self._describe("exited"))

    def output_tail(self, lines: int = 15) -> str:
        """The last lines of its output."""
        if not self.output.exists():
            return ""
        return "\n".join(self.output.read_text(errors="replace").splitlines()[-lines:])

    def _describe(self, what: str) -> str:
        return f"{self.name} {what}. Its last output:\n{self.output_tail() or '(none)'}"
