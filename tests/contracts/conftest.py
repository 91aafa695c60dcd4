"""An office on a fresh database of each kind in turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.office import Desk, Evening, Office, an_evening


@pytest.fixture
def office(database_url: str, tmp_path: Path) -> Iterator[Office]:
    """A server whose clock is set by hand."""
    made = Office(database_url, tmp_path)
    yield made
    made.close()


@pytest.fixture
def desk(office: Office) -> Desk:
    """Somebody with every right in the organisation `marquee`."""
    return office.desk(office.organisation("marquee"))


@pytest.fixture
def evening(desk: Desk) -> Evening:
    """An event that can issue a hundred tickets."""
    return an_evening(desk)
