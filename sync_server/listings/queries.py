"""Queries of the feed: by start or by trend, filtered and searched, a page at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Select, Text, UnaryExpression, func, or_, select, tuple_
from sqlalchemy.orm import Session
from sqlalchemy.sql.operators import custom_op

from shared.clock import Millis
from shared.errors import InvalidRequest
from sync_server.listings import search_strategy
from sync_server.listings.cursors import UNRANKED, Position
from sync_server.listings.models import Generation, Listing, Place
from sync_server.listings.search_strategy import Search
from sync_server.plumbing.database import database_of
from sync_server.plumbing.sql.prepared import Prepared, placeholder
from sync_server.plumbing.sql.tables import UUID_TYPE

_L = Listing


@dataclass(frozen=True, slots=True)
class Filter:
    """Which events are wanted; all conditions must hold."""

    city_norm: str | None = None
    category_norm: str | None = None
    starts_from: Millis | None = None
    starts_before: Millis | None = None
    organisation_id: str | None = None
    words: tuple[str, ...] | None = None  # an empty tuple finds nothing


@dataclass(frozen=True, slots=True)
class FeedPage:
    """A page of the feed: event numbers in order, and the last position if there is more."""

    numbers: list[int]
    last: Position | None


def latest(session: Session, wanted: Filter, after: Position | None, *, limit: int, now: Millis) -> FeedPage:
    """Events by their start."""
    position = after or Position(now)
    rows = _by_start(session, wanted, position if after else None, limit=limit + 1, now=now)
    return _page([_position(position, row) for row in rows], limit)


def trending(session: Session, wanted: Filter, after: Position | None, *, limit: int, now: Millis) -> FeedPage:
    """Events by their place in one generation, then all others by their start."""
    start = after or Position(now, _newest_generation(session))
    found: list[Position] = []
    if start.place != UNRANKED:
        ranked = _by_place(session, wanted, start, limit=limit + 1, now=now)
        found = [Position(start.began, start.generation, place, 0, number) for place, number in ranked]
    if len(found) <= limit:
        unranked = Position(start.began, start.generation, UNRANKED, start.starts_at, start.number)
        seek = unranked if start.place == UNRANKED else None
        missing = limit + 1 - len(found)
        rows = _by_start(session, wanted, seek, limit=missing, now=now, without=start.generation)
        found += [_position(unranked, row) for row in rows]
    _require_generation(session, start.generation)  # last: what still exists now existed while it was read
    return _page(found, limit)


def _position(last: Position, row: Any) -> Position:
    return Position(last.began, last.generation, last.place, row.starts_at, row.number)


def _page(positions: list[Position], limit: int) -> FeedPage:
    page = positions[:limit]
    return FeedPage([position.number for position in page], page[-1] if len(positions) > limit else None)


def _newest_generation(session: Session) -> int:
    return session.execute(select(func.max(Generation.number))).scalar() or 0


def _require_generation(session: Session, generation: int) -> None:
    if generation and session.get(Generation, generation) is None:
        raise InvalidRequest(
            "This ranking has expired. Start again without `after`.",
            code="cursor_expired",
        )


def _by_start(
    session: Session, wanted: Filter, after: Position | None, *, limit: int, now: Millis, without: int = 0
) -> Sequence[Any]:
    values = _filter_values(wanted, now) | {"most": limit}
    if after is not None:
        values |= {"began": after.began, "start": after.starts_at, "number": after.number}
    if without:
        values["generation"] = without
    if wanted.words is None:
        return _run(session, _statement_by_start, values)
    return _search(session, values, search_strategy.search(wanted.words)) if wanted.words else []


def _search(session: Session, values: dict[str, Any], search: Search) -> Sequence[Any]:
    """Through the index if the search has rare words; otherwise along the feed, as long as common words turn up."""
    run = partial(_run, session, _statement_by_start)
    if search.is_long:
        return run(values | search_strategy.index_values(session, search))
    compared = search_strategy.comparison_values(session, search)
    rare = search.rare(session, values["now"])
    if rare is None:
        end = _scan_end(session, values)
        found = run(values | compared | end)
        if not end or len(found) == values["most"]:
            return found
    return run(values | compared | search_strategy.index_values(session, rare or search))


def _scan_end(session: Session, values: dict[str, Any]) -> dict[str, int]:
    """Where the part of the feed that is scanned first ends; empty if that is the whole feed."""
    filters = {name: value for name, value in values.items() if name not in {"now", "began", "generation"}}
    beyond = values["most"] * search_strategy.SCAN_FACTOR
    ends = _run(session, _statement_of_end, filters | {"most": 1, "beyond": beyond})
    return {"end_start": ends[0].starts_at, "end_number": ends[0].number} if ends else {}


def _by_place(session: Session, wanted: Filter, after: Position, *, limit: int, now: Millis) -> Sequence[Any]:
    values = _filter_values(wanted, now) | {"most": limit, "generation": after.generation, "place": after.place}
    if wanted.words is not None:
        if not wanted.words:
            return []
        search = search_strategy.search(wanted.words)
        # The ranking is so short that each of its events can be compared.
        to_values = search_strategy.index_values if search.is_long else search_strategy.comparison_values
        values |= to_values(session, search)
    return _run(session, _statement_by_place, values)


def _filter_values(wanted: Filter, now: Millis) -> dict[str, Any]:
    """The values of the filters that are set, by the names of their placeholders."""
    filters = {
        "city": wanted.city_norm,
        "category": wanted.category_norm,
        "owner": wanted.organisation_id,
        "starts_from": wanted.starts_from,
        "starts_before": wanted.starts_before,
    }
    return {"now": now} | {name: value for name, value in filters.items() if value is not None}


def _run(session: Session, statement: Callable[..., Prepared], values: dict[str, Any]) -> Sequence[Any]:
    """One statement for each set of placeholders, whatever their values."""
    return statement(frozenset(values), embedded=database_of(session).embedded).rows(session, **values)


@cache
def _statement_by_start(names: frozenset[str], *, embedded: bool) -> Prepared:
    query = select(_L.number, _L.starts_at).where(*_conditions(names, embedded=embedded))
    if "start" in names:
        # Moved since the reader began, from a place they have passed: they may have seen it there.
        unmoved = or_(_L.moved_at <= placeholder("began"), tuple_(_L.moved_from, _L.number) > _point("start", "number"))
        query = query.where(unmoved)
    if "generation" in names:
        ranked = select(Place.number).where(Place.generation == placeholder("generation"), Place.number == _L.number)
        query = query.where(~ranked.exists())
    return _in_order(query, names)


@cache
def _statement_of_end(names: frozenset[str], *, embedded: bool) -> Prepared:
    """Uses indexes only: reading the rows that are skipped would cost as much as it saves."""
    query = select(_L.number, _L.starts_at).where(*_conditions(names, embedded=embedded))
    return _in_order(query.offset(placeholder("beyond", BigInteger())), names)


def _in_order(query: Select[*tuple[Any, ...]], names: frozenset[str]) -> Prepared:
    ordered = query.order_by(_L.starts_at, _L.number).limit(placeholder("most", BigInteger()))
    return Prepared(ordered, replan="hits" in names)


@cache
def _statement_by_place(names: frozenset[str], *, embedded: bool) -> Prepared:
    here = Place.generation == placeholder("generation"), Place.place > placeholder("place")
    query = select(Place.place, _L.number).join(_L, _L.number == Place.number).where(*here)
    query = query.where(*_conditions(names, embedded=embedded))
    return Prepared(query.order_by(Place.place).limit(placeholder("most", BigInteger())))


def _conditions(names: frozenset[str], *, embedded: bool) -> list[Any]:
    # Hits of the search index are few, and one organiser's events fewer than a city's: SQLite does not know that.
    column = _without_index if embedded and "hits" in names else _plain
    shared = _without_index if embedded and {"hits", "owner"} & names else _plain
    here = tuple_(column(_L.starts_at), column(_L.number))
    conditions = {
        "now": column(_L.listed_until) > placeholder("now", BigInteger()),
        "city": shared(_L.city_norm) == placeholder("city", Text()),
        "category": shared(_L.category_norm) == placeholder("category", Text()),
        "owner": column(_L.organisation_id) == placeholder("owner", UUID_TYPE),
        "starts_from": column(_L.starts_at) >= placeholder("starts_from", BigInteger()),
        "starts_before": column(_L.starts_at) < placeholder("starts_before", BigInteger()),
        "start": here > _point("start", "number"),
        "end_start": here < _point("end_start", "end_number"),
    }
    chosen = [condition for name, condition in conditions.items() if name in names]
    return [*chosen, *search_strategy.conditions(names, embedded=embedded)]


def _plain(column: Any) -> Any:
    return column


def _without_index(column: Any) -> Any:
    return UnaryExpression(column, operator=custom_op("+"))


def _point(start: str, number: str) -> Any:
    return tuple_(placeholder(start, BigInteger()), placeholder(number, BigInteger()))


@dataclass(frozen=True, slots=True)
class City:
    """A city, in the spelling of most of its events."""

    name: str
    norm: str
    events: int


def cities(session: Session, prefix: str, *, limit: int, now: Millis) -> list[City]:
    """The cities whose folded names start with the prefix, those with most events first."""
    wanted = (
        select(Listing.city_norm, Listing.city, func.count().label("events"))
        .where(Listing.listed_until > now, *_starts_with(prefix))
        .group_by(Listing.city_norm, Listing.city)
    )
    spellings: dict[str, list[tuple[int, str]]] = {}
    for norm, name, events in session.execute(wanted):
        spellings.setdefault(norm, []).append((-events, name))
    found = [City(min(names)[1], norm, -sum(count for count, _ in names)) for norm, names in spellings.items()]
    return sorted(found, key=lambda city: (-city.events, city.norm))[:limit]


def cities_of(session: Session, organisation_id: str, now: Millis) -> Sequence[str]:
    """The cities where an organisation has listed events, by name."""
    here = Listing.organisation_id == organisation_id, Listing.listed_until > now, Listing.city_norm > ""
    return (
        session.execute(
            select(func.min(Listing.city)).where(*here).group_by(Listing.city_norm).order_by(Listing.city_norm)
        )
        .scalars()
        .all()
    )


def _starts_with(prefix: str) -> tuple[ColumnElement[bool], ...]:
    if not prefix:
        return (Listing.city_norm > "",)
    # No other lower bound: SQLite would use whichever comes first.
    return Listing.city_norm >= prefix, Listing.city_norm < prefix + "\U0010ffff"
