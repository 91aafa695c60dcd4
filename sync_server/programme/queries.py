"""Finds what is listed: by start or by trend, filtered and searched, a page at a time."""

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
from sync_server.plumbing.database import of
from sync_server.plumbing.prepared import Prepared, place
from sync_server.programme import searching
from sync_server.programme.cursors import BEHIND, Step
from sync_server.programme.models import Generation, Listing, Place
from sync_server.programme.searching import Search

_L = Listing


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
) -> Sequence[Any]:
    given = _given(chosen, now) | {"most": limit}
    if after is not None:
        given |= {"began": after.began, "start": after.starts_at, "number": after.number}
    if without:
        given["generation"] = without
    if chosen.words is None:
        return _ask(session, _statement_by_start, given)
    return _searched(session, given, searching.search(chosen.words)) if chosen.words else []


def _searched(session: Session, given: dict[str, Any], wanted: Search) -> Sequence[Any]:
    """From the index by words that are rare; along the feed as long as common words are met with there."""
    ask = partial(_ask, session, _statement_by_start)
    if wanted.is_long:
        return ask(given | searching.found_by_index(session, wanted))
    compared = searching.compared(session, wanted)
    rare = wanted.rare(session, given["now"])
    if rare is None:
        stretch = _stretch(session, given)
        found = ask(given | compared | stretch)
        if not stretch or len(found) == given["most"]:
            return found
    return ask(given | compared | searching.found_by_index(session, rare or wanted))


def _stretch(session: Session, given: dict[str, Any]) -> dict[str, int]:
    """Where the part of the feed ends that is looked at first; nothing where all of it is that part."""
    places = {name: value for name, value in given.items() if name not in {"now", "began", "generation"}}
    ends = _ask(session, _statement_of_end, places | {"most": 1, "beyond": given["most"] * searching.STRETCH})
    return {"end_start": ends[0].starts_at, "end_number": ends[0].number} if ends else {}


def _by_place(session: Session, chosen: Filter, after: Step, *, limit: int, now: Millis) -> Sequence[Any]:
    given = _given(chosen, now) | {"most": limit, "generation": after.generation, "place": after.place}
    if chosen.words is not None:
        if not chosen.words:
            return []
        wanted = searching.search(chosen.words)
        # So few have a place that each is looked at.
        given |= (searching.found_by_index if wanted.is_long else searching.compared)(session, wanted)
    return _ask(session, _statement_by_place, given)


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


def _ask(session: Session, statement: Callable[..., Prepared], given: dict[str, Any]) -> Sequence[Any]:
    """One statement for each set of places, whatever their values."""
    return statement(frozenset(given), embedded=of(session).embedded).rows(session, **given)


@cache
def _statement_by_start(places: frozenset[str], *, embedded: bool) -> Prepared:
    wanted = select(_L.number, _L.starts_at).where(*_conditions(places, embedded=embedded))
    if "start" in places:
        # Moved since the reader began, from a place he has passed: he may have seen it there.
        unmoved = or_(_L.moved_at <= place("began"), tuple_(_L.moved_from, _L.number) > _point("start", "number"))
        wanted = wanted.where(unmoved)
    if "generation" in places:
        placed = select(Place.number).where(Place.generation == place("generation"), Place.number == _L.number)
        wanted = wanted.where(~placed.exists())
    return _in_order(wanted, places)


@cache
def _statement_of_end(places: frozenset[str], *, embedded: bool) -> Prepared:
    """Asks only what indexes know themselves: each row that is passed over would cost as much as it saves."""
    wanted = select(_L.number, _L.starts_at).where(*_conditions(places, embedded=embedded))
    return _in_order(wanted.offset(place("beyond", BigInteger())), places)


def _in_order(wanted: Select[*tuple[Any, ...]], places: frozenset[str]) -> Prepared:
    ordered = wanted.order_by(_L.starts_at, _L.number).limit(place("most", BigInteger()))
    return Prepared(ordered, planned_anew="hits" in places)


@cache
def _statement_by_place(places: frozenset[str], *, embedded: bool) -> Prepared:
    here = Place.generation == place("generation"), Place.place > place("place")
    wanted = select(Place.place, _L.number).join(_L, _L.number == Place.number).where(*here)
    wanted = wanted.where(*_conditions(places, embedded=embedded))
    return Prepared(wanted.order_by(Place.place).limit(place("most", BigInteger())))


def _conditions(places: frozenset[str], *, embedded: bool) -> list[Any]:
    # Those whom the search index names are few, and one house's fewer than a city's. SQLite does not know.
    column = _past_indexes if embedded and "hits" in places else _as_it_is
    shared = _past_indexes if embedded and {"hits", "owner"} & places else _as_it_is
    here = tuple_(column(_L.starts_at), column(_L.number))
    wished = {
        "now": column(_L.listed_until) > place("now", BigInteger()),
        "city": shared(_L.city_norm) == place("city", Text()),
        "category": shared(_L.category_norm) == place("category", Text()),
        "owner": column(_L.organisation_id) == place("owner", Text()),
        "starts_from": column(_L.starts_at) >= place("starts_from", BigInteger()),
        "starts_before": column(_L.starts_at) < place("starts_before", BigInteger()),
        "start": here > _point("start", "number"),
        "end_start": here < _point("end_start", "end_number"),
    }
    kept = [condition for name, condition in wished.items() if name in places]
    return [*kept, *searching.conditions(places, embedded=embedded)]


def _as_it_is(column: Any) -> Any:
    return column


def _past_indexes(column: Any) -> Any:
    return UnaryExpression(column, operator=custom_op("+"))


def _point(start: str, number: str) -> Any:
    return tuple_(place(start, BigInteger()), place(number, BigInteger()))


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
        .where(Listing.listed_until > now, *_begins(beginning))
        .group_by(Listing.city_norm, Listing.city)
    )
    spellings: dict[str, list[tuple[int, str]]] = {}
    for norm, name, events in session.execute(wanted):
        spellings.setdefault(norm, []).append((-events, name))
    found = [City(min(names)[1], norm, -sum(count for count, _ in names)) for norm, names in spellings.items()]
    return sorted(found, key=lambda city: (-city.events, city.norm))[:limit]


def _begins(beginning: str) -> tuple[ColumnElement[bool], ...]:
    if not beginning:
        return (Listing.city_norm > "",)
    # Nothing else beside it: SQLite would take whichever lower bound comes first.
    return Listing.city_norm >= beginning, Listing.city_norm < beginning + "\U0010ffff"
