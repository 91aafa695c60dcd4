"""Requests that share a statement, as those of a rush do: they wait while all connections of the server are busy."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from sync_server.holds.attempts.runtime import hold_runtime
from sync_server.plumbing.sql.autocommit import CONNECTIONS, AutocommitPool
from tests.contracts.holds.seated_event import SeatedEvent

T = TypeVar("T")


@contextmanager
def _no_connection_left(autocommit: AutocommitPool) -> Iterator[None]:
    pool = autocommit._open_pool()
    taken = [pool.getconn() for _ in range(CONNECTIONS)]
    try:
        yield
    finally:
        for connection in taken:
            pool.putconn(connection)


def asked_together(sale: SeatedEvent, first: Callable[[], T], others: Sequence[Callable[[], T]]) -> list[T]:
    """The answers to the others, which wait while the first has its statement; on SQLite each goes as it comes."""
    runtime = hold_runtime(sale.app_server.parts)
    runtime.hold_cache.local.forget_all()  # what it knows to be held it would ask for at once
    crowd = runtime.crowd
    if crowd is None or sale.app_server.database.autocommit is None:
        return [ask() for ask in (*others, first)][: len(others)]
    with ThreadPoolExecutor(1 + len(others)) as pool:
        with _no_connection_left(sale.app_server.database.autocommit):
            leading = pool.submit(first)
            _until(lambda: crowd.turns.busy and not len(crowd.turns.queue), [leading])
            asking = [pool.submit(ask) for ask in others]
            _until(lambda: len(crowd.turns.queue) >= sum(not each.done() for each in asking), asking)
        leading.result(60)
        return [each.result(60) for each in asking]


def _until(reached: Callable[[], bool], unless: Sequence[Future[T]]) -> None:
    for _ in range(3_000):
        if all(each.done() for each in unless) or reached():
            return
        threading.Event().wait(0.01)
    raise AssertionError("nobody waited")
