"""Finds what is listed: by start or by trend, filtered and searched, a page at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from sqlalchemy import BigInteger, ColumnElement, String, cast, func, or_, select, text, tuple_
from sqlalchemy.dialects.postgresql import TSQUERY
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import InvalidRequest
from sync_server.plumbing.database import of
from sync_server.plumbing.prepared import Prepared, place
from sync_server.programme.cursors import BEHIND, Step
from sync_server.programme.models import Generation, Listing, Place
from sync_server.programme.words import for_postgresql, for_sqlite

COMMON: Final = 5_000
"""From as many hits on, SQLite walks the feed and asks of each event whether it is one."""

_L = Listing

_HITS = text("SELECT count(*) FROM (SELECT 1 FROM listing_words WHERE listing_words MATCH :words LIMIT :most)")
_AMONG_HITS: Final = "listings.number IN (SELECT rowid FROM listing_words WHERE listing_words MATCH :words)"
_IS_HIT: Final = (
    "EXISTS (SELECT 1 FROM listing_words WHERE listing_words.rowid = +listings.number AND listing_words MATCH :words)"
)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which events are looked for; all of it must hold."""

    city_norm: str | None = None
    category_norm: str | None = None
    starts_from: Millis | None = None
    starts_before: Millis | None = None
    organisation_id: str | None = None
    words: tuple[str, ...] | None = None  # none at all find nothing


@dataclass(frozen=True, slots=True)
class Found:
    """A stretch of the feed: event numbers in order, and the last step where there is more."""

    numbers: list[int]
    last: Step | None


def latest(session: Session, chosen: Filter, after: Step | None, *, limit: int, now: Millis) -> Found:
    """Events by their start."""
    step = after or Step(now)
    rows = _by_start(session, chosen, step if after else None, limit=limit + 1, now=now)
    return _cut([_stepped(step, row) for row in rows], limit)


def trending(session: Session, chosen: Filter, after: Step | None, *, limit: int, now: Millis) -> Found:
    """Events by their place in one generation, then all others by their start."""
    step = after or Step(now, _newest(session))
    found: list[Step] = []
    if step.place != BEHIND:
        placed = _by_place(session, chosen, step, limit=limit + 1, now=now)
        found = [Step(step.began, step.generation, place, 0, number) for place, number in placed]
    if len(found) <= limit:
        behind = Step(step.began, step.generation, BEHIND, step.starts_at, step.number)
        seek = behind if step.place == BEHIND else None
        wanted = limit + 1 - len(found)
        rows = _by_start(session, chosen, seek, limit=wanted, now=now, without=step.generation)
        found += [_stepped(behind, row) for row in rows]
    _require_kept(session, step.generation)  # at last: what was there after reading was there while reading
    return _cut(found, limit)


def _stepped(step: Step, row: Any) -> Step:
    return Step(step.began, step.generation, step.place, row.starts_at, row.number)


def _cut(steps: list[Step], limit: int) -> Found:
    kept = steps[:limit]
    return Found([step.number for step in kept], kept[-1] if len(steps) > limit else None)


def _newest(session: Session) -> int:
    return session.execute(select(func.max(Generation.number))).scalar() or 0


def _require_kept(session: Session, generation: int) -> None:
    if generation and session.get(Generation, generation) is None:
        raise InvalidRequest(
            "What was trending when you began is not remembered any more. Start anew, without `after`.",
            code="cursor_expired",
        )


def _by_start(
    session: Session, chosen: Filter, after: Step | None, *, limit: int, now: Millis, without: int = 0
) -> list[Any]:
    given = _given(chosen, now) | {"most": limit}
    if after is not None:
        given |= {"began": after.began, "start": after.starts_at, "number": after.number}
    if without:
        given["generation"] = without
    return _found(session, _statement_by_start, given, chosen)


def _by_place(session: Session, chosen: Filter, after: Step, *, limit: int, now: Millis) -> list[Any]:
    given = _given(chosen, now) | {"most": limit, "generation": after.generation, "place": after.place}
    return _found(session, _statement_by_place, given, chosen)


def _given(chosen: Filter, now: Millis) -> dict[str, Any]:
    """The values of the filters that are set, by the names of their places."""
    wished = {
        "city": chosen.city_norm,
        "category": chosen.category_norm,
        "owner": chosen.organisation_id,
        "starts_from": chosen.starts_from,
        "starts_before": chosen.starts_before,
    }
    return {"now": now} | {name: value for name, value in wished.items() if value is not None}


def _found(
    session: Session, statement: Callable[[frozenset[str], str], Prepared], given: dict[str, Any], chosen: Filter
) -> list[Any]:
    """One statement for each set of filters, whatever their values."""
    if chosen.words == ():
        return []
    way = ""
    if chosen.words:
        given["words"], way = _search(session, [*chosen.words])
    return list(statement(frozenset(given), way).rows(session, **given))


def _search(session: Session, words: list[str]) -> tuple[str, str]:
    """The words as the database wants them, and the way in which it looks for them."""
    if not of(session).embedded:
        return for_postgresql(words), "tsquery"
    match = for_sqlite(words)
    common = session.execute(_HITS, {"words": match, "most": COMMON}).scalar_one() >= COMMON
    return match, "along the feed" if common else "from the index"


@cache
def _statement_by_start(places: frozenset[str], way: str) -> Prepared:
    wanted = select(_L.number, _L.starts_at).where(*_conditions(places, way))
    if "start" in places:
        here = tuple_(place("start", BigInteger()), place("number", BigInteger()))
        # Moved since the reader began, from a place he has passed: he may have seen it there.
        unmoved = or_(_L.moved_at <= place("began"), tuple_(_L.moved_from, _L.number) > here)
        wanted = wanted.where(tuple_(_L.starts_at, _L.number) > here, unmoved)
    if "generation" in places:
        placed = select(Place.number).where(Place.generation == place("generation"), Place.number == _L.number)
        wanted = wanted.where(~placed.exists())
    return Prepared(wanted.order_by(_L.starts_at, _L.number).limit(place("most", BigInteger())))


@cache
def _statement_by_place(places: frozenset[str], way: str) -> Prepared:
    here = Place.generation == place("generation"), Place.place > place("place")
    wanted = select(Place.place, _L.number).join(_L, _L.number == Place.number).where(*here, *_conditions(places, way))
    return Prepared(wanted.order_by(Place.place).limit(place("most", BigInteger())))


def _conditions(places: frozenset[str], way: str) -> list[Any]:
    wished = {
        "city": _L.city_norm == place("city"),
        "category": _L.category_norm == place("category"),
        "owner": _L.organisation_id == place("owner"),
        "starts_from": _L.starts_at >= place("starts_from"),
        "starts_before": _L.starts_at < place("starts_before"),
    }
    found: list[Any] = [_L.listed_until > place("now"), *(wished[name] for name in wished if name in places)]
    if way == "tsquery":
        found.append(_L.words.bool_op("@@")(cast(place("words", String()), TSQUERY)))
    elif way:
        found.append(text(_IS_HIT if way == "along the feed" else _AMONG_HITS))
    return found


@dataclass(frozen=True, slots=True)
class City:
    """A city, as most of its events write it."""

    name: str
    norm: str
    events: int


def cities(session: Session, beginning: str, *, limit: int, now: Millis) -> list[City]:
    """The cities whose folded names begin so, those with most events first."""
    wanted = (
        select(Listing.city_norm, Listing.city, func.count().label("events"))
        .where(Listing.listed_until > now, Listing.city_norm > "", *_begins(beginning))
        .group_by(Listing.city_norm, Listing.city)
    )
    spellings: dict[str, list[tuple[int, str]]] = {}
    for norm, name, events in session.execute(wanted):
        spellings.setdefault(norm, []).append((-events, name))
    found = [City(min(names)[1], norm, -sum(count for count, _ in names)) for norm, names in spellings.items()]
    return sorted(found, key=lambda city: (-city.events, city.norm))[:limit]


def _begins(beginning: str) -> tuple[ColumnElement[bool], ...]:
    if not beginning:
        return ()
    return Listing.city_norm >= beginning, Listing.city_norm < beginning + "\U0010ffff"
