"""The broker is down for a minute under load and workers are killed: what is lost, duplicated or out of order.

Two server processes commit changes of real events over HTTP, and this process commits bursts; PostgreSQL is durable and
two workers relay. RabbitMQ is killed with SIGKILL; one worker is killed while it is down, and both are killed while the
backlog is being sent. A partner reads its queue to the end and skips message ids that it has seen.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from sqlalchemy import text

from scripts.benchmarking.clients.organiser_load import OrganiserLoad
from scripts.benchmarking.clients.partner import Partner, ReceivedFact
from scripts.benchmarking.result import Figure, Goal, Result, at_least, at_most
from scripts.benchmarking.servers.facts_stack import OTHER_ORGANISATION, FactsStack
from scripts.benchmarking.statistics import Spread
from scripts.processes.child import Child
from shared.clock import wall_clock
from sync_server.outbox import cursors, queries
from sync_server.outbox.broker.relay import BATCH
from sync_server.outbox.cursors import BROKER, LEASE_MS

EVENTS = 24
PROCESSES = 2
RECOVERED_WITHIN_S = 300.0


@dataclass(frozen=True, slots=True)
class Phases:
    """How long each phase lasts, in seconds."""

    calm: float
    broker_down: float
    after: float


FULL = Phases(calm=15, broker_down=60, after=25)
QUICK = Phases(calm=4, broker_down=10, after=6)


@dataclass(frozen=True, slots=True)
class OutboxFact:
    """A fact in the outbox."""

    message_id: str
    organisation_id: str
    at: int
    relayed_at: int


@dataclass(frozen=True, slots=True)
class Incidents:
    """When each incident happened, in milliseconds since 1970."""

    broker_killed: int
    first_kill: int
    broker_back: int
    second_kill: int
    recovered: int


def measure(*, quick: bool) -> Iterator[Result]:
    """Run the phases once and judge the outcome."""
    with ExitStack() as cleanup:
        stack = FactsStack(cleanup)
        stack.serve(PROCESSES)
        workers = [stack.new_worker() for _ in range(2)]
        load, partner = OrganiserLoad(stack, EVENTS), Partner(stack.rabbit.url)
        _wait_until(lambda: stack.workers_up() == len(workers), "the workers are up")
        partner.start()
        load.start()
        incidents = _cause_incidents(stack, workers, QUICK if quick else FULL)
        load.stop()
        _wait_until(lambda: stack.waiting() == 0, "everything is sent")
        partner.read_to_the_end()
        facts = _outbox_facts(stack)
    yield from _verdicts(facts, partner, load)
    yield from _delays(facts, load, incidents)


def _cause_incidents(stack: FactsStack, workers: list[Child], phases: Phases) -> Incidents:
    time.sleep(phases.calm)
    stack.rabbit.kill()
    broker_killed = wall_clock()
    time.sleep(phases.broker_down / 2)
    first = _replace(stack, workers, 1)
    time.sleep(max(0.0, phases.broker_down - (wall_clock() - broker_killed) / 1000))
    stack.rabbit.start()
    broker_back, newest, sent = wall_clock(), _newest(stack), _sent(stack)
    _wait_until(lambda: _sent_since(stack, sent), "the first facts of the backlog are sent")
    second = _replace(stack, workers, len(workers))
    _wait_until(lambda: not _waits(stack, newest), "the backlog is sent")
    recovered = wall_clock()
    time.sleep(phases.after)
    return Incidents(broker_killed, first, broker_back, second, recovered)


def _replace(stack: FactsStack, workers: list[Child], count: int) -> int:
    """Kill so many workers and start others; return the time of the kill."""
    at = wall_clock()
    for _ in range(count):
        workers.pop(0).kill()
    workers += [stack.new_worker() for _ in range(count)]
    return at


def _newest(stack: FactsStack) -> dict[str, int]:
    """The newest position of each organisation."""
    with stack.runtime.parts.database.reading() as session:
        return {each: progress.given for each, progress in cursors.progress(session).items()}


def _waits(stack: FactsStack, up_to: Mapping[str, int]) -> bool:
    with stack.runtime.parts.database.reading() as session:
        sent = cursors.progress(session)
    return any(sent[each].delivered < position for each, position in up_to.items())


def _sent_since(stack: FactsStack, before: Mapping[str, int]) -> bool:
    with stack.runtime.parts.database.reading() as session:
        return any(cursors.position(session, each, BROKER) > position for each, position in before.items())


def _sent(stack: FactsStack) -> dict[str, int]:
    """How far the broker has come with each organisation."""
    with stack.runtime.parts.database.reading() as session:
        return {each: cursors.position(session, each, BROKER) for each in cursors.progress(session)}


def _outbox_facts(stack: FactsStack) -> list[OutboxFact]:
    statement = text("SELECT message_id, organisation_id, created_at, relayed_at, position, unrouted FROM outbox")
    with stack.runtime.parts.database.reading() as session:
        rows = session.execute(statement).all()
        given_up, waiting = queries.dead_count(session), queries.pending_count(session)
    if given_up or waiting or any(row.unrouted for row in rows):
        raise RuntimeError("some facts were not sent to the partner")
    return [OutboxFact(row.message_id, row.organisation_id, row.created_at, row.relayed_at) for row in rows]


def _verdicts(facts: Sequence[OutboxFact], partner: Partner, load: OrganiserLoad) -> Iterator[Result]:
    received = partner.received
    committed, arrived = {fact.message_id for fact in facts}, {fact.message_id for fact in received}
    yield _count("facts committed", len(facts), at_least(1_000))
    yield _count("lost", len(committed - arrived) + _missing_changes(load, received), at_most(0))
    yield _count("never committed", len(arrived - committed), at_most(0))
    yield _count("effects twice", len(received) - len(arrived), at_most(0))
    yield _count("out of order", _out_of_order(received) + _broken_changes(received), at_most(0))
    # Each kill can leave one batch of each worker confirmed by the broker but not marked as sent.
    yield _count("read again", partner.message_count - len(received), at_most(6 * BATCH))


def _count(case: str, value: int, goal: Goal) -> Result:
    return Result("broker", case, Figure(value=value, unit="facts"), goal)


def _missing_changes(load: OrganiserLoad, received: Sequence[ReceivedFact]) -> int:
    """Count the changes that the server confirmed and the partner did not receive."""
    changes = {_after(fact) for fact in received}
    return sum(description not in changes for description in load.confirmed)


def _after(fact: ReceivedFact) -> object:
    return ((fact.body["payload"] or {}).get("after") or {}).get("description")


def _streams(received: Sequence[ReceivedFact]) -> Mapping[str, list[ReceivedFact]]:
    streams: dict[str, list[ReceivedFact]] = defaultdict(list)
    for fact in received:
        streams[fact.stream].append(fact)
    return streams


def _out_of_order(received: Sequence[ReceivedFact]) -> int:
    """Count the facts received after a later one of their event."""
    wrong = 0
    for facts in _streams(received).values():
        highest = 0
        for fact in facts:
            wrong += fact.order < highest
            highest = max(highest, fact.order)
    return wrong


def _broken_changes(received: Sequence[ReceivedFact]) -> int:
    """Count the changes of real events that do not start from the result of the change before."""
    wrong = 0
    for facts in _streams([fact for fact in received if "change" in str(_after(fact))]).values():
        befores = [fact.body["payload"]["before"]["description"] for fact in facts]
        wrong += sum(before != _after(fact) for before, fact in zip(befores[1:], facts, strict=False))
    return wrong


def _delays(facts: Sequence[OutboxFact], load: OrganiserLoad, incidents: Incidents) -> Iterator[Result]:
    """How long pages waited meanwhile, and how soon the backlog was sent."""
    # Only single facts: those of a burst wait in their own transaction for a while.
    single = [
        fact for fact in facts if incidents.broker_killed < fact.at and fact.organisation_id != OTHER_ORGANISATION
    ]
    waits = [fact.relayed_at - fact.at for fact in single if fact.at < incidents.first_kill]
    late = max(fact.relayed_at - fact.at for fact in single)
    latencies = [ms for at, ms in load.latencies if incidents.broker_killed < at < incidents.first_kill]
    # The time starts with the request, so it includes the organiser's wait for the response.
    request_spread = Spread.of(latencies)
    yield Result(
        "broker",
        "request to house while the broker is away",
        Figure.of_spread(Spread.of(waits), "ms", request_spread.p50),
        at_most(1_000 + request_spread.p95, "p95"),
    )
    yield Result(
        "broker",
        "request to house when workers die",
        Figure(value=late / 1_000, unit="s"),
        at_most(LEASE_MS / 1_000 + 10),
    )
    recovery = Figure(value=(incidents.recovered - incidents.broker_back) / 1_000, unit="s")
    yield Result("broker", "kept facts sent after the return", recovery, at_most(LEASE_MS / 1_000 + 60))


def _wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait until the condition is true; RuntimeError after RECOVERED_WITHIN_S."""
    deadline = time.monotonic() + RECOVERED_WITHIN_S
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"never happened: {what}")
        threading.Event().wait(0.1)
