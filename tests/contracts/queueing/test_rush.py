"""Many at once: everybody gets one number, nobody gets lost at the opening, and no slot is given twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app_server import AppServer
from tests.contracts.holds.at_once import guests, together
from tests.contracts.queueing.rush import OPENING, Rush, a_rush

CROWD = 24


@pytest.fixture
def crowd(app_server: AppServer, tmp_path: Path) -> Iterator[tuple[Rush, list[AppServer]]]:
    """A rush at two servers on one PostgreSQL; on SQLite at one."""
    rush = a_rush(app_server, slots=5)
    if app_server.database.embedded:
        yield rush, [app_server]
        return
    other = AppServer(app_server.url, tmp_path, fresh=False)
    other.now = app_server.now
    yield rush, [app_server, other]
    other.close()


def at(nodes: list[AppServer], moment: int) -> None:
    for node in nodes:
        node.now = moment


def test_everybody_gets_a_number_of_their_own(crowd: tuple[Rush, list[AppServer]]) -> None:
    rush, nodes = crowd
    at(nodes, OPENING)
    visitors = guests(rush.sale, nodes, CROWD)
    assert set(together([lambda guest=guest: guest.ask("POST", rush.path).status_code for guest in visitors])) == {201}  # type: ignore[misc]
    together([lambda guest=guest: guest.ask("GET", rush.path).status_code for guest in visitors])  # type: ignore[misc]
    assert sorted(rush.place(guest)["number"] for guest in visitors) == list(range(1, CROWD + 1))
    assert [rush.place(guest)["state"] for guest in visitors].count("admitted") == 5


def test_who_joins_in_the_moment_of_the_opening_is_before_or_after_it_but_never_lost(
    crowd: tuple[Rush, list[AppServer]],
) -> None:
    rush, nodes = crowd
    at(nodes, OPENING - 1)
    early = guests(rush.sale, nodes, CROWD)
    for guest in early[: CROWD // 2]:
        rush.join(guest)
    at(nodes, OPENING)
    joins = [lambda guest=guest: guest.ask("POST", rush.path).status_code for guest in early[CROWD // 2 :]]
    looks = [lambda guest=guest: guest.ask("GET", rush.path).status_code for guest in early[: CROWD // 2]]
    assert set(together([*joins, *looks])) <= {200, 201}  # type: ignore[misc]
    assert sorted(rush.place(guest)["number"] for guest in early) == list(range(1, CROWD + 1))


def test_one_guest_who_joins_many_times_at_once_has_one_place(crowd: tuple[Rush, list[AppServer]]) -> None:
    rush, nodes = crowd
    at(nodes, OPENING)
    guest = guests(rush.sale, nodes, 1)[0]
    cookies = guest.client.get_cookie("gatehouse_guest_marquee")
    assert cookies is not None

    def join(node: AppServer) -> int:
        client = node.app.test_client()
        client.set_cookie("gatehouse_guest_marquee", cookies.value)
        return client.post(rush.path, headers=guest.headers).status_code

    statuses = together([lambda node=node: join(node) for node in nodes * 4])  # type: ignore[misc]
    assert statuses.count(201) == 1 and set(statuses) == {200, 201}
    assert rush.sale.rows("SELECT COUNT(*) FROM queue_entries") == [(1,)]
