"""Finds pooled connections whose server has gone, without asking before each use: that would cost a round trip."""

from __future__ import annotations

import select
from functools import partial
from typing import Any

from sqlalchemy import Dialect, Engine, event
from sqlalchemy.exc import InvalidatePoolError


def replace_dead_connections(engine: Engine) -> None:
    """Test a connection before its use where something has arrived unasked: a server that ends says so.

    One that has vanished without a word is found by the keepalives of the connection.
    """
    event.listen(engine, "checkout", partial(_require_alive, engine.dialect))


def _require_alive(dialect: Dialect, connection: Any, _record: Any, _fairy: Any) -> None:
    if not connection.closed and not _has_input(connection.fileno()):
        return
    try:
        dialect.do_ping(connection)
    except dialect.loaded_dbapi.Error:
        raise InvalidatePoolError from None  # the pool opens new ones


def _has_input(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
