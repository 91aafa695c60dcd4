"""Checks JSON from elsewhere against an expected shape, and lists every difference with its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Protocol

from sync_server.seating.layouts.mistakes import Mistakes


class Shape(Protocol):
    """What a value must look like."""

    def check(self, value: object, place: str, mistakes: Mistakes) -> None:
        """Add what is wrong with the value."""
        ...


@dataclass(frozen=True, slots=True)
class Text:
    """Text, optionally from a list of choices."""

    nullable: bool = False
    choices: tuple[str, ...] = ()
    longest: int = 1000

    def check(self, value: object, place: str, mistakes: Mistakes) -> None:
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
    """A finite number."""

    def check(self, value: object, place: str, mistakes: Mistakes) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            mistakes.add(place, "must be a number")


@dataclass(frozen=True, slots=True)
class Boolean:
    """True or false."""

    def check(self, value: object, place: str, mistakes: Mistakes) -> None:
        if not isinstance(value, bool):
            mistakes.add(place, "must be true or false")


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of items of one shape."""

    item: Shape

    def check(self, value: object, place: str, mistakes: Mistakes) -> None:
        if not isinstance(value, list):
            mistakes.add(place, "must be a list")
            return
        for at, item in enumerate(value):
            self.item.check(item, f"{place}[{at}]", mistakes)


@dataclass(frozen=True, slots=True)
class OneOf:
    """Text, or a value of another shape."""

    text: Shape
    other: Shape

    def check(self, value: object, place: str, mistakes: Mistakes) -> None:
        (self.text if isinstance(value, str) else self.other).check(value, place, mistakes)


@dataclass(frozen=True, slots=True)
class Fields:
    """An object with required and optional fields, and no others."""

    required: Mapping[str, Shape]
    optional: Mapping[str, Shape] = field(default_factory=dict)

    def check(self, value: object, place: str, mistakes: Mistakes) -> None:
        if not isinstance(value, dict):
            mistakes.add(place or "the file", "must be an object")
            return
        for name in self.required:
            if name not in value:
                mistakes.add(_join(place, name), "is missing")
        for name, inner in value.items():
            self._check_field(str(name), inner, place, mistakes)

    def _check_field(self, name: str, value: Any, place: str, mistakes: Mistakes) -> None:
        shape = self.required.get(name) or self.optional.get(name)
        if shape is None:
            mistakes.add(_join(place, name), "is not a field of this format")
        else:
            shape.check(value, _join(place, name), mistakes)


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
