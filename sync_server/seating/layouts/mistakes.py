"""Collects all mistakes of a layout or list with their places, so that people can correct them in one go."""

from __future__ import annotations

from typing import Final

from shared.errors import InvalidRequest

MAX_LISTED: Final = 100
"""The most mistakes that are listed; further ones are only counted."""


class Mistakes:
    """The mistakes found so far."""

    def __init__(self, subject: str = "layout", code: str = "invalid_layout") -> None:
        """No mistakes yet; `subject` names what is read, `code` is the error code."""
        self.subject, self.code = subject, code
        self.listed: list[dict[str, str]] = []
        self._found: dict[str, set[str]] = {}

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(map(len, self._found.values()))

    @property
    def places(self) -> frozenset[str]:
        """Where there are any."""
        return frozenset(self._found)

    def add(self, place: str, problem: str) -> None:
        """Add a mistake; the same one again counts once."""
        here = self._found.setdefault(place, set())
        if problem not in here and len(self.listed) < MAX_LISTED:
            self.listed.append({"place": place, "problem": problem})
        here.add(problem)

    def stop(self, code: str | None = None) -> None:
        """Raise InvalidRequest with all mistakes, if there are any."""
        if not self.count:
            return
        first = "; ".join(f"{each['place']}: {each['problem']}" for each in self.listed[:3])
        more = f"; and {self.count - 3} more" if self.count > 3 else ""
        if self.count > MAX_LISTED:
            more += f", of which the details list the first {MAX_LISTED}"
        raise InvalidRequest(
            f"The {self.subject} has {self.count} mistake{'s' if self.count > 1 else ''}, so nothing was saved. "
            f"{first}{more}.",
            code=code or self.code,
            mistakes=self.listed,
            mistakes_in_all=self.count,
        )
