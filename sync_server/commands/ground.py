"""What commands stand on: the settings of the environment, the wired parts, and plain words for people.

Whoever only asks how a command is used must not wait for the whole server to be imported.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from shared.errors import GatehouseError, SettingsError
from sync_server.plumbing.principals import Actor, Deed

if TYPE_CHECKING:
    from sync_server.app import Ground
    from sync_server.config import Config

OPERATOR = Actor("operator")

REFUSED: Final = 1
"""It was tried, and could not be done."""
MISTAKEN: Final = 2
"""The words or the settings cannot work: nothing was tried, and the same again will not help."""
_MISTAKES: Final = {SettingsError.code, "wrong_master_key"}


@contextmanager
def ground(config: Config | None = None, *, prepared: bool = True) -> Iterator[Ground]:
    """The server's parts by these settings or the environment's, with a schema that fits, closed at the end."""
    from sync_server import config as settings
    from sync_server.app import build, prepare

    made = build(config or settings.from_environment())
    try:
        if prepared:
            prepare(made)
        yield made
    finally:
        made.close()


def deed(here: Ground, actor: Actor = OPERATOR) -> Deed:
    """By the operator of the machine, now."""
    return Deed(actor, here.parts.clock(), here.parts.entropy)


def say(words: str) -> None:
    """For people."""
    print(words, file=sys.stderr)


def tell(fact: Any) -> None:
    """For machines: one JSON object a line."""
    print(json.dumps(fact, ensure_ascii=False))


def explain(problem: Exception) -> int:
    """Say what happened, for people, and what status a script sees; what nobody foresaw is raised again."""
    if isinstance(problem, GatehouseError):
        say(problem.message)
        return MISTAKEN if problem.error_code in _MISTAKES else REFUSED
    from sqlalchemy.exc import OperationalError, SQLAlchemyError

    if isinstance(problem, OperationalError) and problem.statement is None:
        say(unreachable(problem))
        return MISTAKEN
    if isinstance(problem, (SQLAlchemyError, OSError)):
        say(unexplained(problem))
        return REFUSED
    raise problem


def unreachable(problem: Exception) -> str:
    """The database let nobody in; neither its words nor ours hold a password."""
    return (
        f"The database cannot be opened: {_said(problem)}. Nothing was changed. "
        "Is it up, and is GATEHOUSE_DATABASE_URL right: host, port, name, user and password?"
    )


def unexplained(problem: Exception) -> str:
    """What a database or disk said, in one line, and what to do."""
    return (
        f"The database or the disk refused: {_said(problem)}. Nothing was changed. "
        "`gatehouse-server doctor` looks at what may be wrong."
    )


def _said(problem: Exception) -> str:
    words = str(getattr(problem, "orig", None) or problem).strip()
    return words.splitlines()[0].rstrip(".") if words else type(problem).__name__
