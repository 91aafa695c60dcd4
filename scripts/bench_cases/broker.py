"""The broker dies for a minute under load, and workers die too: what is lost, done twice or out of order.

Two server processes commit changes of real events over HTTP, this one commits bursts; PostgreSQL keeps its promises to
the disk. Two workers relay. RabbitMQ is killed like a pulled plug; one worker is killed while it is away, and both are
while what was kept flows out. A partner reads its queue to the end and skips message ids that it has seen.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from sqlalchemy import text

from scripts.measuring.box_offices import BoxOffices
from scripts.measuring.facts_house import ELSEWHERE, FactsHouse
from scripts.measuring.partner import Learned, Partner
from scripts.measuring.result import Figure, Goal, Result, at_least, at_most
from scripts.measuring.statistics import Spread
from scripts.processes.child import Child
from shared.clock import wall_clock
from sync_server.outbox.leases import LEASE_MS
from sync_server.outbox.relay import BURST

EVENTS = 24
PROCESSES = 2
RECOVERED_WITHIN_S = 300.0


@dataclass(frozen=True, slots=True)
class Evening:
    """How long each part of it lasts, in seconds."""

    calm: float
    away: float
    after: float


FULL = Evening(calm=15, away=60, after=25)
QUICK = Evening(calm=4, away=10, after=6)


@dataclass(frozen=True, slots=True)
class Kept:
    """A fact as the database has it."""

    message_id: str
    organisation_id: str
    at: int
    told_at: int


@dataclass(frozen=True, slots=True)
class Moments:
    """When what happened, in milliseconds since 1970."""

    gone: int
    first_death: int
    back: int
    second_death: int
    recovered: int


def measure(*, quick: bool) -> Iterator[Result]:
    """One evening."""
    with ExitStack() as ends:
        house = FactsHouse(ends)
        house.serve(PROCESSES)
        workers = [house.new_worker() for _ in range(2)]
        offices, partner = BoxOffices(house, EVENTS), Partner(house.rabbit.url)
        _until(lambda: house.workers_up() == len(workers), "the workers work")
        partner.start()
        offices.open()
        moments = _trouble(house, workers, QUICK if quick else FULL)
        offices.close()
        _until(lambda: house.waiting() == 0, "everything is sent")
        partner.read_to_the_end()
        kept = _kept(house)
    yield from _judged(kept, partner, offices)
    yield from _told(kept, offices, moments)


def _trouble(house: FactsHouse, workers: list[Child], evening: Evening) -> Moments:
    time.sleep(evening.calm)
    house.rabbit.kill()
    gone = wall_clock()
    time.sleep(evening.away / 2)
    first = _replace(house, workers, 1)
    time.sleep(max(0.0, evening.away - (wall_clock() - gone) / 1000))
    house.rabbit.start()
    back, newest = wall_clock(), _newest(house)
    _until(lambda: _sent_since(house, back), "what was kept begins to flow")
    second = _replace(house, workers, len(workers))
    _until(lambda: not _waits(house, newest), "what was kept is sent")
    recovered = wall_clock()
    time.sleep(evening.after)
    return Moments(gone, first, back, second, recovered)


def _replace(house: FactsHouse, workers: list[Child], count: int) -> int:
    """A power cut for so many workers; others start. The moment of the cut."""
    at = wall_clock()
    for _ in range(count):
        workers.pop(0).kill()
    workers += [house.new_worker() for _ in range(count)]
    return at


def _newest(house: FactsHouse) -> int:
    with house.ground.parts.database.reading() as session:
        return int(session.execute(text("SELECT max(id) FROM outbox")).scalar_one())


def _waits(house: FactsHouse, up_to: int) -> bool:
    with house.ground.parts.database.reading() as session:
        words = text("SELECT 1 FROM outbox WHERE sent_at IS NULL AND id <= :up_to LIMIT 1")
        return session.execute(words, {"up_to": up_to}).first() is not None


def _sent_since(house: FactsHouse, moment: int) -> bool:
    with house.ground.parts.database.reading() as session:
        words = text("SELECT 1 FROM outbox WHERE sent_at > :moment LIMIT 1")
        return session.execute(words, {"moment": moment}).first() is not None


def _kept(house: FactsHouse) -> list[Kept]:
    words = text("SELECT message_id, organisation_id, created_at, told_at, sent_at, unrouted, dead_at FROM outbox")
    with house.ground.parts.database.reading() as session:
        rows = session.execute(words).all()
    if strange := [row for row in rows if row.sent_at is None or row.unrouted or row.dead_at is not None]:
        raise RuntimeError(f"{len(strange)} facts were not sent to the partner")
    return [Kept(row.message_id, row.organisation_id, row.created_at, row.told_at) for row in rows]


def _judged(kept: Sequence[Kept], partner: Partner, offices: BoxOffices) -> Iterator[Result]:
    learned = partner.learned
    committed, arrived = {fact.message_id for fact in kept}, {fact.message_id for fact in learned}
    yield _count("facts committed", len(kept), at_least(1_000))
    yield _count("lost", len(committed - arrived) + _unheard(offices, learned), at_most(0))
    yield _count("never committed", len(arrived - committed), at_most(0))
    yield _count("effects twice", len(learned) - len(arrived), at_most(0))
    yield _count("out of order", _out_of_order(learned) + _torn(learned), at_most(0))
    # Each cut can leave one batch of each worker between the broker's confirm and the worker's note.
    yield _count("read again", partner.letters - len(learned), at_most(6 * BURST))


def _count(case: str, value: int, goal: Goal) -> Result:
    return Result("broker", case, Figure(value=value, unit="facts"), goal)


def _unheard(offices: BoxOffices, learned: Sequence[Learned]) -> int:
    """Changes that the server has confirmed and the partner has not heard of."""
    heard = {_after(fact) for fact in learned}
    return sum(words not in heard for words in offices.answered)


def _after(fact: Learned) -> object:
    return ((fact.told["payload"] or {}).get("after") or {}).get("description")


def _streams(learned: Sequence[Learned]) -> Mapping[str, list[Learned]]:
    streams: dict[str, list[Learned]] = defaultdict(list)
    for fact in learned:
        streams[fact.stream].append(fact)
    return streams


def _out_of_order(learned: Sequence[Learned]) -> int:
    """Facts that were learned after a later one of their event."""
    wrong = 0
    for facts in _streams(learned).values():
        highest = 0
        for fact in facts:
            wrong += fact.order < highest
            highest = max(highest, fact.order)
    return wrong


def _torn(learned: Sequence[Learned]) -> int:
    """Changes of real events that do not begin where the one learned before them has ended."""
    wrong = 0
    for facts in _streams([fact for fact in learned if "change" in str(_after(fact))]).values():
        befores = [fact.told["payload"]["before"]["description"] for fact in facts]
        wrong += sum(before != _after(fact) for before, fact in zip(befores[1:], facts, strict=False))
    return wrong


def _told(kept: Sequence[Kept], offices: BoxOffices, moments: Moments) -> Iterator[Result]:
    """What became of pages meanwhile, and how soon all was well again."""
    # Of facts that came one by one: a burst lies a while in its own transaction.
    single = [fact for fact in kept if moments.gone < fact.at and fact.organisation_id != ELSEWHERE]
    away = [fact.told_at - fact.at for fact in single if fact.at < moments.first_death]
    late = max(fact.told_at - fact.at for fact in single)
    waited = [ms for at, ms in offices.waited if moments.gone < at < moments.first_death]
    # The time begins with the request: what organisers wait for its answer is in it.
    asked = Spread.of(waited)
    yield Result(
        "broker",
        "request to house while the broker is away",
        Figure.of_spread(Spread.of(away), "ms", asked.p50),
        at_most(1_000 + asked.p95, "p95"),
    )
    yield Result(
        "broker",
        "request to house when workers die",
        Figure(value=late / 1_000, unit="s"),
        at_most(LEASE_MS / 1_000 + 10),
    )
    flown = Figure(value=(moments.recovered - moments.back) / 1_000, unit="s")
    yield Result("broker", "kept facts sent after the return", flown, at_most(LEASE_MS / 1_000 + 60))


def _until(true: Callable[[], bool], what: str) -> None:
    """Wait for it."""
    deadline = time.monotonic() + RECOVERED_WITHIN_S
    while not true():
        if time.monotonic() > deadline:
            raise RuntimeError(f"never happened: {what}")
        threading.Event().wait(0.1)
