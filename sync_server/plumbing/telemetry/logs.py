"""Log lines as JSON on standard error; they never contain names, addresses, codes or keys."""

from __future__ import annotations

import logging
import sys

import structlog

from sync_server.plumbing.telemetry.tracing import trace_id

LOG = structlog.get_logger("gatehouse")

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


def _writer(*_: object) -> structlog.WriteLogger:
    """Writes each line at once, because processes share the file; to what is standard error now, which may change."""
    return structlog.WriteLogger(sys.stderr)


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
