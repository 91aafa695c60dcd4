"""What venues ask of higher packages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session


@dataclass(frozen=True, slots=True)
class VenuePorts:
    """Functions of the organisation and the venue's id."""

    uses: Mapping[str, Callable[[Session, str, str], int]]  # how many there are, by a name that people read
    layout_capacities: Callable[[Session, str, str], Mapping[str, int]]
    """Of each layout that events can choose, by name."""
