"""Shared by all commands: opens the server's runtime, prints output, and reports errors.

Imports of the server are deferred, so that `--help` stays fast.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from shared.errors import GatehouseError, SettingsError
from shared.garbage import keep_for_good
from sync_server.plumbing.requests.principals import ActionContext, Actor

if TYPE_CHECKING:
    from sync_server.config import Config
    from sync_server.runtime import ServerRuntime

OPERATOR = Actor("operator")

EXIT_FAILED: Final = 1
"""The command was tried and failed."""
EXIT_USAGE: Final = 2
"""The arguments or settings are wrong: nothing was tried, and a retry would fail too."""
_USAGE_ERRORS: Final = {SettingsError.code, "wrong_master_key"}


@contextmanager
def open_runtime(config: Config | None = None, *, prepared: bool = True) -> Iterator[ServerRuntime]:
    """The server's runtime for these settings, or those of the environment; closed at the end of the block.

    With `prepared`, the database schema is brought up to date or checked first.
    """
    from sync_server import config as settings
    from sync_server.runtime import build_runtime, prepare_database

    keep_for_good(searched=False)
    runtime = build_runtime(config or settings.from_environment())
    try:
        if prepared:
            prepare_database(runtime)
        yield runtime
    finally:
        runtime.close()


def operator_context(runtime: ServerRuntime, actor: Actor = OPERATOR) -> ActionContext:
    """An action of the operator, now."""
    return ActionContext(actor, runtime.parts.clock(), runtime.parts.entropy)


def echo(message: str) -> None:
    """Print a message for people."""
    print(message, file=sys.stderr)


def print_json(value: Any) -> None:
    """Print a line of JSON for programs."""
    print(json.dumps(value, ensure_ascii=False))


def report_failure(error: Exception) -> int:
    """Print an expected error and return the exit status; raise unexpected errors again."""
    if isinstance(error, GatehouseError):
        echo(error.message)
        return EXIT_USAGE if error.error_code in _USAGE_ERRORS else EXIT_FAILED
    from sqlalchemy.exc import OperationalError, SQLAlchemyError

    if isinstance(error, OperationalError) and error.statement is None:
        echo(describe_unreachable(error))
        return EXIT_USAGE
    if isinstance(error, (SQLAlchemyError, OSError)):
        echo(describe_failure(error))
        return EXIT_FAILED
    raise error


def describe_unreachable(error: Exception) -> str:
    """A message for a database that cannot be opened; it never contains a password."""
    return (
        f"The database cannot be opened: {_first_line(error)}. Nothing was changed. "
        "Is it running, and is GATEHOUSE_DATABASE_URL right: host, port, name, user and password?"
    )


def describe_failure(error: Exception) -> str:
    """A message for an error of the database or the disk."""
    return (
        f"The database or the disk reported an error: {_first_line(error)}. Nothing was changed. "
        "Run `gatehouse-server doctor` to check the installation."
    )


def _first_line(error: Exception) -> str:
    message = str(getattr(error, "orig", None) or error).strip()
    return message.splitlines()[0].rstrip(".") if message else type(error).__name__
