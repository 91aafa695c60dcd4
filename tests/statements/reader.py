"""Reads one SQL statement, and says which tables it touches without naming the organisation whose rows it means."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import sqlglot
from sqlglot import exp

from sync_server.migrations.tables import metadata

COLUMN: Final = "organisation_id"
TABLES: Final = frozenset(table.name for table in metadata().tables.values() if COLUMN in table.c)
_DIALECTS: Final = {"sqlite": "sqlite", "postgresql": "postgres"}
_NUMBERED: Final = re.compile(r"\$(\d+)")  # two of them would be read as the quotes of a text
_CONSTANTS: Final = (exp.Placeholder, exp.Parameter, exp.Literal, exp.Null)
_STATEMENTS: Final = (exp.Select, exp.Insert, exp.Update, exp.Delete)


@lru_cache(maxsize=20_000)
def unnamed(statement: str, backend: str) -> tuple[str, ...]:
    """The tables that this statement touches without naming the organisation, in alphabetical order."""
    if not _reads_or_writes(statement):
        return ()
    tree = sqlglot.parse_one(_NUMBERED.sub(r":number_\1", statement), dialect=_DIALECTS[backend])
    scopes = [_Scope(node) for node in tree.find_all(*_STATEMENTS)]
    return tuple(sorted({table for scope in scopes for table in scope.unnamed()}))


def _reads_or_writes(statement: str) -> bool:
    return statement.lstrip(" \n(").upper().startswith(("SELECT", "INSERT", "UPDATE", "DELETE", "WITH"))


@dataclass(frozen=True, slots=True)
class _Equality:
    """`source.organisation_id = value`, in a place where it restricts that source."""

    source: str
    value: exp.Expr


@dataclass
class _Scope:
    """One SELECT, INSERT, UPDATE or DELETE, without what stands in its subqueries."""

    node: exp.Expr
    sources: dict[str, exp.Expr] = field(default_factory=dict)  # by the name they have in this scope
    named: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        if not isinstance(self.node, exp.Insert):
            self.sources = {source.alias_or_name: source for source in self._sources()}
            self._find_named()

    def unnamed(self) -> Iterator[str]:
        """Its tables whose organisation is not named."""
        if isinstance(self.node, exp.Insert):
            yield from self._unnamed_insert()
        for name, source in self.sources.items():
            table = source.name
            if isinstance(source, exp.Table) and table in TABLES and name not in self.named and not self._query(table):
                yield table

    def _unnamed_insert(self) -> Iterator[str]:
        target = self.node.this
        columns = [column.name for column in target.expressions] if isinstance(target, exp.Schema) else []
        if (table := target.find(exp.Table).name) in TABLES and COLUMN not in columns:
            yield table

    def _sources(self) -> Iterator[exp.Expr]:
        """What it reads or writes: tables, queries, functions that return rows."""
        if isinstance(self.node, exp.Update | exp.Delete):
            yield self.node.this
            yield from self.node.args.get("using") or ()
        for clause in self._froms():
            yield clause.this
            yield from (join.this for join in clause.this.args.get("joins") or ())
        yield from (join.this for join in self._joins())

    def _froms(self) -> Iterator[exp.Expr]:
        if (clause := self.node.args.get("from_")) is not None:
            yield clause

    def _joins(self) -> Iterator[exp.Join]:
        for holder in (self.node, self.node.this, *(clause.this for clause in self._froms())):
            if isinstance(holder, exp.Expr):
                yield from holder.args.get("joins") or ()

    def _find_named(self) -> None:
        """Follow equalities from constants and outer queries to each source, until nothing is added."""
        waiting = list(self._equalities())
        while found := [each for each in waiting if self._is_named(each.value)]:
            self.named.update(each.source for each in found)
            waiting = [each for each in waiting if each.source not in self.named]

    def _equalities(self) -> Iterator[_Equality]:
        if (where := self.node.args.get("where")) is not None:
            yield from self._restrictions(where.this, self.sources)
        for join in self._joins():
            outer = join.side in {"LEFT", "FULL", "RIGHT"}
            if (condition := join.args.get("on")) is not None:
                yield from self._restrictions(condition, [join.this.alias_or_name] if outer else self.sources)

    def _restrictions(self, condition: exp.Expr, sources: Collection[str]) -> Iterator[_Equality]:
        for part in condition.unnest().flatten() if isinstance(condition.unnest(), exp.And) else [condition.unnest()]:
            for column, value in _sides(part):
                if (source := self._source_of(column)) in sources:
                    yield _Equality(str(source), value)

    def _source_of(self, column: exp.Expr) -> str | None:
        """The source in this scope of an `organisation_id`; None for another column, and for one of an outer scope."""
        if not isinstance(column, exp.Column) or not self._is_organisation(column):
            return None
        if column.table:
            return column.table if column.table in self.sources else None
        candidates = [name for name, source in self.sources.items() if self._has_column(source)]
        return candidates[0] if len(candidates) == 1 else None

    def _is_organisation(self, column: exp.Column) -> bool:
        source = self.sources.get(column.table)
        is_key = source is not None and source.name == "organisations" and column.name == "id"
        return column.name == COLUMN or is_key

    def _has_column(self, source: exp.Expr) -> bool:
        query = self._query_of(source)
        return source.name in TABLES if query is None else COLUMN in query.named_selects

    def _is_named(self, value: exp.Expr) -> bool:
        """Whether a value is a constant, or the organisation of something that is named itself."""
        value = _without_cast(value)
        if isinstance(value, _CONSTANTS):
            return True
        if isinstance(value, exp.Select):
            return _Scope(value)._returns_named()
        if not isinstance(value, exp.Column):
            return False
        source = self._source_of(value)
        if source is not None:
            return source in self.named or self._is_named_inside(self.sources[source])
        outer = self._outer()
        return outer is not None and outer._is_named(value)

    def _outer(self) -> _Scope | None:
        parent = self.node.find_ancestor(*_STATEMENTS)
        return None if parent is None else _Scope(parent)

    def _is_named_inside(self, source: exp.Expr) -> bool:
        """Whether a query in FROM returns the organisation that it names itself."""
        query = self._query_of(source)
        selects = [] if query is None else list(query.find_all(exp.Select))[:1]
        return any(_Scope(each)._returns_named() for each in selects)

    def _returns_named(self) -> bool:
        chosen = [each for each in self.node.expressions if each.alias_or_name == COLUMN]
        return len(chosen) == 1 and self._is_named(chosen[0].unalias())

    def _query_of(self, source: exp.Expr) -> exp.Query | None:
        if isinstance(source, exp.Subquery):
            query = source.unnest()
            return query if isinstance(query, exp.Query) else None
        return self._query(source.name) if isinstance(source, exp.Table) else None

    def _query(self, name: str) -> exp.Query | None:
        """The query that WITH gives this name."""
        for each in self.node.root().find_all(exp.CTE):
            if each.alias == name:
                return each.this if isinstance(each.this, exp.Query) else exp.Select()
        return None


def _sides(part: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    """What is equal to what: in both directions, also for rows (a, b) = (c, d), and for each value of a list."""
    if isinstance(part, exp.Is | exp.NullSafeEQ):
        yield part.this, part.expression
    if isinstance(part, exp.In) and _is_list(part):
        yield from ((column, exp.Null()) for column in _values(part.this.unnest()))
    elif isinstance(part, exp.In) and part.args.get("query"):
        yield part.this, part.args["query"]
    if not isinstance(part, exp.EQ):
        return
    for one, other in _pairs(part.this.unnest(), part.expression.unnest()):
        yield one, other
        yield other, one


def _is_list(part: exp.In) -> bool:
    """Whether these are constants: in brackets, or the query without tables that stands for none at all."""
    query = part.args.get("query")
    values = (_without_cast(value) for row in part.expressions for value in _values(row))
    return all(isinstance(value, _CONSTANTS) for value in values) and (query is None or not query.find(exp.Table))


def _values(row: exp.Expr) -> list[exp.Expr]:
    if isinstance(row, exp.Values):
        return [value for each in row.expressions for value in _values(each)]
    return list(row.expressions) if isinstance(row, exp.Tuple) else [row]


def _pairs(left: exp.Expr, right: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    if type(left) is type(right):
        yield from zip(_values(left), _values(right), strict=True)
    else:
        yield left, right


def _without_cast(value: exp.Expr) -> exp.Expr:
    value = value.unnest()
    return _without_cast(value.this) if isinstance(value, exp.Cast | exp.Any) else value
