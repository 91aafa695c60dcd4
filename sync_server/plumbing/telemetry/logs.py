"""Log lines as JSON on standard error; they never contain names, addresses, codes or keys."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog

from sync_server.plumbing.telemetry.tracing import trace_id


class _Log:
    """The logger as it was set up last: structlog would put it together for each line, written or not."""

    def __init__(self) -> None:
        self.current: Any = structlog.get_logger("gatehouse")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.current, name)


LOG = _Log()

Line = structlog.typing.EventDict

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}

_LONGEST_EXCEPTION = 16_000
"""In characters: a statement with thousands of values would fill the disk, at every attempt."""


def _name_trace(_logger: object, _name: str, line: Line) -> Line:
    if found := trace_id():
        line.setdefault("trace_id", found)
    return line


def _shorten_exception(_logger: object, _name: str, line: Line) -> Line:
    text = line.get("exception")
    if isinstance(text, str) and len(text) > _LONGEST_EXCEPTION:
        half = _LONGEST_EXCEPTION // 2
        line["exception"] = f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"
    return line


class _StandardError:
    """What is standard error at the moment of a line: it may change."""

    def write(self, text: str) -> None:
        sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


def _writer(*_: object) -> structlog.WriteLogger:
    """Writes each line at once, because processes share the file."""
    return structlog.WriteLogger(_StandardError())  # type: ignore[arg-type]  # it needs no more of a file


def set_up(level: str) -> None:
    """Log to standard error, from this level on."""
    logging.getLogger("pika").setLevel(logging.CRITICAL)  # verbose; one line of ours says what matters
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            _name_trace,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _shorten_exception,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[level]),
        logger_factory=_writer,
        cache_logger_on_first_use=False,
    )
    LOG.current = structlog.get_logger("gatehouse").bind()
