"""An app server on a fresh database of each kind in turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app_server import ApiClient, AppServer, Concert, a_concert
from tests.contracts.checkout import shop_floor
from tests.contracts.checkout.shop_floor import Shop, a_shop
from tests.contracts.holds import seated_event
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.starting_points import StartingPoint


@pytest.fixture
def app_server(database_url: str, tmp_path: Path) -> Iterator[AppServer]:
    """A server whose clock is set by hand."""
    made = AppServer(database_url, tmp_path)
    yield made
    made.close()


@pytest.fixture
def nodes(app_server: AppServer, tmp_path: Path) -> Iterator[list[AppServer]]:
    """Two servers on one PostgreSQL, each with connections and caches of its own; on SQLite only one."""
    if app_server.database.embedded:
        yield [app_server]
        return
    other = AppServer(app_server.url, tmp_path, fresh=False)
    yield [app_server, other]
    other.close()


@pytest.fixture
def api(app_server: AppServer) -> ApiClient:
    """Somebody with every right in the organisation `marquee`."""
    return app_server.api(app_server.organisation("marquee"))


@pytest.fixture
def concert(api: ApiClient) -> Concert:
    """An event that can issue a hundred tickets."""
    return a_concert(api)


@pytest.fixture(scope="session")
def begun_sale(tmp_path_factory: pytest.TempPathFactory) -> StartingPoint[SeatedEvent]:
    """Two rows of eight seats, a floor for 300, and an event on sale there."""
    return StartingPoint(a_seated_event, seated_event.moved, tmp_path_factory.mktemp("sale"))


@pytest.fixture(scope="session")
def begun_shop(tmp_path_factory: pytest.TempPathFactory) -> StartingPoint[Shop]:
    """Sixteen seats, a floor for 300, and a ticket type for each."""
    return StartingPoint(a_shop, shop_floor.moved, tmp_path_factory.mktemp("shop"))
