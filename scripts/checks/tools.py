"""The checks that other people's tools make, and how each is asked to mend what it can."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one check found; `words` are empty when all is well."""

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class Tool:
    """One command and, where it can mend, the other form of it."""

    name: str
    command: tuple[str, ...]
    mending: tuple[str, ...] = ()

    def run(self, *, mend: bool) -> Outcome:
        """Run it; what it printed counts only when it failed."""
        program, *arguments = self.mending if mend and self.mending else self.command
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


# The slowest first: the others run beside it.
TOOLS = (
    Tool("types", ("mypy",)),
    Tool("format", ("ruff", "format", "--check", "."), ("ruff", "format", ".")),
    Tool("lint", ("ruff", "check", "."), ("ruff", "check", "--fix", ".")),
    Tool("import contracts", ("lint-imports", "--cache-dir", ".cache/import_linter")),
    Tool("dependencies", ("deptry", ".")),
)
