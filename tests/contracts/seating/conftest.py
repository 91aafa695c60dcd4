"""An office whose venue has a layout."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contracts.seating.stage import Stage, a_stage
from tests.office import Desk, Office


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
def stage(office: Office, desk: Desk) -> Stage:
    """An event in a house with an active layout."""
    return a_stage(office, desk)
