"""What commands stand on: the settings of the environment, the wired parts, and plain words for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from shared.errors import GatehouseError
from sync_server import config as settings
from sync_server.app import Ground, build, prepare
from sync_server.plumbing.principals import Actor, Deed

OPERATOR = Actor("operator")


@contextmanager
def ground(*, prepared: bool = True) -> Iterator[Ground]:
    """The server's parts, with a schema that fits, closed at the end."""
    config = settings.from_environment()
    made = build(config)
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


def unexplained(problem: Exception) -> str:
    """What a database or disk said, in one line, and what to do."""
    said = str(getattr(problem, "orig", None) or problem).strip()
    return f"The database or the disk refused: {said.splitlines()[0] if said else type(problem).__name__}. " + (
        "Nothing was changed. `gatehouse-server doctor` looks at what may be wrong."
    )


def explain(error: GatehouseError) -> None:
    """What happened, for people."""
    say(error.message)
