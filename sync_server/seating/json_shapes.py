"""Holds JSON from elsewhere against the shape it should have, and tells every difference with its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Protocol

from sync_server.seating.mistakes import Mistakes


class Shape(Protocol):
    """What a value must look like."""

    def check(self, value: object, place: str, mistakes: Mistakes) -> None:
        """Add what is wrong with the value."""
        ...


@dataclass(frozen=True, slots=True)
class Text:
    """Text, perhaps of a few words only."""

    nullable: bool = False
    choices: tuple[str, ...] = ()
    longest: int = 1000

    def check(self, value: object, place: str, mistakes: Mistakes) -> None:
        """Text of no more than so many characters."""
        if value is None and self.nullable:
            return
        if not isinstance(value, str):
            mistakes.add(place, "must be text")
        elif len(value) > self.longest:
            mistakes.add(place, f"is longer than {self.longest} characters")
        elif self.choices and value not in self.choices:
            mistakes.add(place, f"must be one of {', '.join(self.choices)}")


@dataclass(frozen=True, slots=True)
class Number:
    """A finite number that is no boolean."""

    def check(self, value: object, place: str, mistakes: Mistakes) -> None:
        """A number."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            mistakes.add(place, "must be a number")


@dataclass(frozen=True, slots=True)
class Truth:
    """True or false."""

    def check(self, value: object, place: str, mistakes: Mistakes) -> None:
        """A boolean."""
        if not isinstance(value, bool):
            mistakes.add(place, "must be true or false")


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of things of one shape."""

    item: Shape

    def check(self, value: object, place: str, mistakes: Mistakes) -> None:
        """A list, and each of its items."""
        if not isinstance(value, list):
            mistakes.add(place, "must be a list")
            return
        for at, item in enumerate(value):
            self.item.check(item, f"{place}[{at}]", mistakes)


@dataclass(frozen=True, slots=True)
class OneOf:
    """Of either shape, told apart by the type of the value."""

    text: Shape
    other: Shape

    def check(self, value: object, place: str, mistakes: Mistakes) -> None:
        """Text as text, everything else as the other shape."""
        (self.text if isinstance(value, str) else self.other).check(value, place, mistakes)


@dataclass(frozen=True, slots=True)
class Fields:
    """An object with these fields and no others."""

    must: Mapping[str, Shape]
    may: Mapping[str, Shape] = field(default_factory=dict)

    def check(self, value: object, place: str, mistakes: Mistakes) -> None:
        """All that must be there, nothing unknown, and each field of its shape."""
        if not isinstance(value, dict):
            mistakes.add(place or "the file", "must be an object")
            return
        for name in self.must:
            if name not in value:
                mistakes.add(_at(place, name), "is missing")
        for name, inner in value.items():
            self._check_field(str(name), inner, place, mistakes)

    def _check_field(self, name: str, value: Any, place: str, mistakes: Mistakes) -> None:
        shape = self.must.get(name) or self.may.get(name)
        if shape is None:
            mistakes.add(_at(place, name), "is no field of this format")
        else:
            shape.check(value, _at(place, name), mistakes)


def _at(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
