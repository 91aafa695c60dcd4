"""Each process of a server has rows of its own, where it looks for seats in a rush."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from sync_server.commands.draining import DRAIN, DrainingServer
from sync_server.seating.search import row_shares

ROWS = 10


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[DrainingServer]:
    """The main process of a server, which starts none."""
    monkeypatch.setenv(row_shares.VARIABLE, "0/1")
    before = signal.getsignal(DRAIN)
    yield DrainingServer("nothing:app", port=0, workers=3, drain_seconds=0)
    signal.signal(DRAIN, before)


def test_processes_share_the_rows_among_them_and_a_new_one_has_those_of_the_one_that_it_replaces(
    server: DrainingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server._init_shared_socket()  # type: ignore[no-untyped-call]  # as before the first process
    started = []
    for number in (0, 1, 2, 1):
        server._spawn_worker(number, print, print)
        started.append(row_shares.own().rows(ROWS))
    first, second, third, replacing = started
    assert first | second | third == (1 << ROWS) - 1 and not first & second | second & third | first & third
    assert replacing == second


def test_a_process_without_siblings_has_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(row_shares.VARIABLE, raising=False)
    assert row_shares.own().is_all and row_shares.own().rows(ROWS) == (1 << ROWS) - 1
