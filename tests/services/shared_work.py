"""Work that every app server of a test run would repeat, done once in each process; no test is about it."""

from __future__ import annotations

import gc
from functools import partial
from typing import Any, Final

from argon2 import PasswordHasher
from sqlalchemy import Engine
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache
from werkzeug.routing import Rule

from shared.garbage import COLLECT_AFTER, keep_for_good
from sync_server.accounts.sign_in import passwords

__all__ = ["keep_for_good", "seldom_collect_garbage", "share_work"]

REAL_HASHER: Final = passwords._HASHER
"""What the product hashes passwords with, for the test of its cost."""
_COMPILED: Final = ("_parts", "_trace", "_converters", "arguments", "_build", "_build_unknown")
"""What werkzeug derives from the text of a rule."""


def share_work() -> None:
    """Hash at the lowest cost, and compile each route and each statement once, not anew for every app server."""
    passwords._HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    _compile_routes_once()
    _compile_statements_once()


def seldom_collect_garbage() -> None:
    """As the programs do: searching all that tests import again and again took a quarter of the processor time."""
    gc.set_threshold(COLLECT_AFTER)


def _compile_routes_once() -> None:
    compile_rule, compiled = Rule.compile, dict[Any, dict[str, Any]]()

    def compile_once(rule: Rule) -> None:
        converters = tuple(rule.map.converters.items()) if rule.map else ()
        key = (rule.rule, rule.subdomain, rule.host, rule.merge_slashes, rule.strict_slashes, converters)
        if rule.defaults or key not in compiled:
            compile_rule(rule)
            compiled[key] = {name: vars(rule)[name] for name in _COMPILED}
        else:
            vars(rule).update(compiled[key])

    setattr(Rule, "compile", compile_once)  # noqa: B010 - mypy would have it take `self` twice


def _compile_statements_once() -> None:
    """Engines share what they compiled: a statement is the same for every database of one kind and version."""
    for dialect in (SQLiteDialect_pysqlite, PGDialect_psycopg):
        compiled = LRUCache[Any, Any](5_000)
        setattr(dialect, "engine_created", partial(_share, compiled))  # noqa: B010 - a class method of SQLAlchemy's
        setattr(dialect, "__eq__", _is_same_dialect)  # noqa: B010
        setattr(dialect, "__hash__", lambda self: hash(type(self)))  # noqa: B010


def _share(compiled: LRUCache[Any, Any], engine: Engine) -> None:
    engine._compiled_cache = compiled


def _is_same_dialect(one: Any, other: Any) -> bool:
    """Dialects are part of the key under which a compiled statement is kept."""
    return type(one) is type(other) and one.server_version_info == other.server_version_info
