"""A span for each statement that goes through the engine: what it does and to how many rows, never a value."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Engine, ExceptionContext, event

from sync_server.plumbing.telemetry.spans import Span, Spans

_KEY = "gatehouse span"


def record(engine: Engine, spans: Spans) -> None:
    """From now on."""

    def begin(connection: Connection, _cursor: Any, statement: str, parameters: Any, _context: Any, many: bool) -> None:
        rows = len(parameters) if many else 1
        verb = statement.lstrip().partition(" ")[0][:10].upper()
        connection.info[_KEY] = spans.span(f"statement {verb}", sets=rows).__enter__()

    def end(connection: Connection, *_: Any) -> None:
        _end(connection)

    def fail(failure: ExceptionContext) -> None:
        if failure.connection is not None and not failure.connection.invalidated:
            _end(failure.connection)

    event.listen(engine, "before_cursor_execute", begin)
    event.listen(engine, "after_cursor_execute", end)
    event.listen(engine, "handle_error", fail)


def _end(connection: Connection) -> None:
    span: Span | None = connection.info.pop(_KEY, None)
    if span is not None:
        span.__exit__(None, None, None)
