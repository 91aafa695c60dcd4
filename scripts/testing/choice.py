"""Which tests a run consists of, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Choice:
    """Test files with the changed file that led to each, or everything because of one shared file."""

    tests: Mapping[str, str] = field(default_factory=dict)
    everything: str = ""  # the shared file

    def text(self) -> str:
        """What was chosen, in words."""
        if self.everything:
            return f"Everything: {self.everything} is shared by all tests."
        if not self.tests:
            return "Nothing: no change affects a test."
        lines = [f"  {test}  because of {why}" for test, why in sorted(self.tests.items())]
        return "\n".join([f"{len(lines)} test files:", *lines])
