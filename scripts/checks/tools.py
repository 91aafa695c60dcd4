"""The third-party tools that scripts/check runs, and the commands by which they fix what they can."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one check found; `output` is empty if it passed."""

    name: str
    output: str


@dataclass(frozen=True, slots=True)
class Tool:
    """A command that checks and, where there is one, the command that fixes."""

    name: str
    command: tuple[str, ...]
    fixing: tuple[str, ...] = ()

    def run(self, *, fix: bool) -> Outcome:
        """Run the tool; its output is reported only if it fails."""
        program, *arguments = self.fixing if fix and self.fixing else self.command
        done = subprocess.run(
            [str(BIN / program), *arguments],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return Outcome(self.name, done.stdout.strip() or f"exit status {done.returncode}" if done.returncode else "")


# The slowest first, so that the others run beside it.
TOOLS = (
    Tool("types", ("mypy",)),
    Tool("format", ("ruff", "format", "--check", "."), ("ruff", "format", ".")),
    Tool("lint", ("ruff", "check", "."), ("ruff", "check", "--fix", ".")),
    Tool("import contracts", ("lint-imports", "--cache-dir", ".cache/import_linter")),
    Tool("dependencies", ("deptry", ".")),
)
