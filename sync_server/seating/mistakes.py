"""Collects everything that is wrong with a layout or a list, each with its place: people correct it in one go."""

from __future__ import annotations

from typing import Final

from shared.errors import InvalidRequest

TOLD: Final = 100
"""More than this many are counted, not listed."""


class Mistakes:
    """What is wrong, and where."""

    def __init__(self, subject: str = "layout", code: str = "invalid_layout") -> None:
        """Nothing, so far; `subject` is what is read, `code` the word of the refusal."""
        self.subject, self.code = subject, code
        self.count = 0
        self.told: list[dict[str, str]] = []

    def add(self, place: str, problem: str) -> None:
        """One more."""
        self.count += 1
        if len(self.told) < TOLD:
            self.told.append({"place": place, "problem": problem})

    def stop(self, code: str | None = None) -> None:
        """InvalidRequest with all of them, where there are any: nothing of what is wrong is kept."""
        if not self.count:
            return
        first = "; ".join(f"{each['place']}: {each['problem']}" for each in self.told[:3])
        more = f"; and {self.count - 3} more" if self.count > 3 else ""
        raise InvalidRequest(
            f"The {self.subject} has {self.count} mistake{'s' if self.count > 1 else ''}, and nothing of it was kept. "
            f"{first}{more}.",
            code=code or self.code,
            mistakes=self.told,
            mistakes_in_all=self.count,
        )
