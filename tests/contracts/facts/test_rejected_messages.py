"""Facts that fail for good are given up, listed and replayed on request; order holds whoever delivers."""

from __future__ import annotations

import json
import os
import random
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, text
from typer.testing import CliRunner, Result

from shared.errors import GatehouseError
from sync_server.commands import outbox as commands
from sync_server.outbox import missed_facts, queries, service
from sync_server.outbox.broker.relay import BrokerRelay, Outcome
from sync_server.outbox.cursors import LEASE_MS, LeaseLostError
from sync_server.outbox.models import OutboxRow
from sync_server.outbox.relay import Relay
from sync_server.outbox.rules import DEAD_AFTER, LONGEST_PAUSE_MS, State
from sync_server.outbox.service import Fact, fact_row, record
from sync_server.plumbing.jobs import Message
from tests.app_server import AppServer
from tests.builders import an_id
from tests.subscribers import a_failing_subscriber

ORG = an_id("org")


@pytest.fixture
def app_server(database_url: str, tmp_path: Path) -> Iterator[AppServer]:
    """A server on each database in turn, whose clock is set by hand."""
    made = AppServer(database_url, tmp_path)
    yield made
    made.close()


def record_facts(app_server: AppServer, event: int, *numbers: int, org: str = ORG) -> None:
    with app_server.database.writing() as session:
        for n in numbers:
            record(session, Fact("event_updated", org, app_server.now, {"event_number": event}, {"n": n}))


class FailingSubscriber:
    """A subscriber that fails at certain facts."""

    def __init__(self, *failing: int) -> None:
        self.received: list[tuple[int, int]] = []
        self.failing = set(failing)
        self.subscriber = a_failing_subscriber(self.receive, self.attempt)

    def attempt(self, message: Message) -> None:
        if message.payload["n"] in self.failing:
            raise ValueError(f"{message.payload['n']} cannot be handled")

    def receive(self, message: Message) -> None:
        self.received.append((message.subjects["event_number"], message.payload["n"]))


class Broker:
    """A fake broker that can be away or refuse single messages, which is hard to provoke in a real one."""

    def __init__(self) -> None:
        self.received: list[int] = []
        self.away = self.unreachable = False
        self.refuses: set[int] = set()

    def ready(self) -> bool:
        return not self.away

    def deliver(self, messages: Sequence[Message]) -> Outcome:
        outcome = Outcome(outage=self.unreachable)
        for message in () if self.unreachable else messages:
            if message.payload["n"] in self.refuses:
                outcome.failed[message.message_id] = "The broker refused it."
            else:
                self.received.append(message.payload["n"])
                outcome.delivered.append(message.message_id)
        return outcome


def run_until_idle(app_server: AppServer, relay: Relay) -> int:
    attempts = 0
    while relay.run_once():
        attempts += 1
        app_server.advance(LONGEST_PAUSE_MS)
    return attempts


def advance_until_published(app_server: AppServer, relay: BrokerRelay) -> None:
    """Publish for as long as it takes until a fact is given up."""
    for _ in range(DEAD_AFTER + 2):
        relay.run_once()
        app_server.advance(LONGEST_PAUSE_MS)


def listed(app_server: AppServer, state: State) -> list[Any]:
    with app_server.database.reading() as session:
        return list(queries.list_facts(session, state))


def test_a_fact_that_always_fails_is_given_up_and_its_event_continues(app_server: AppServer) -> None:
    subscriber = FailingSubscriber(1)
    record_facts(app_server, 7, 0, 1, 2)
    assert run_until_idle(app_server, Relay(app_server.parts, [subscriber.subscriber])) == DEAD_AFTER
    assert subscriber.received == [(7, 0), (7, 2)]
    [dead] = listed(app_server, State.DEAD)
    assert dead.attempts == DEAD_AFTER and "1 cannot be handled" in dead.last_error


def test_a_dead_fact_is_delivered_again_when_replayed(app_server: AppServer) -> None:
    subscriber = FailingSubscriber(1)
    relay = Relay(app_server.parts, [subscriber.subscriber])
    record_facts(app_server, 7, 1)
    run_until_idle(app_server, relay)
    subscriber.failing.clear()
    [dead] = listed(app_server, State.DEAD)
    with app_server.database.writing() as session:
        assert service.replay(session, [dead], app_server.context()) == 1
    run_until_idle(app_server, relay)
    assert subscriber.received == [(7, 1)] and listed(app_server, State.DEAD) == []


def test_a_waiting_fact_cannot_be_replayed(app_server: AppServer) -> None:
    record_facts(app_server, 7, 1)
    [waiting] = listed(app_server, State.WAITING)
    with app_server.database.writing() as session:
        assert service.replay(session, [waiting], app_server.context()) == 0


def test_an_organisation_sees_and_replays_only_its_own(app_server: AppServer) -> None:
    mine, theirs = app_server.organisation("marquee"), app_server.organisation("rivals")
    api, stranger = app_server.api(mine), app_server.api(theirs)
    run_until_idle(app_server, Relay(app_server.parts))  # the facts of creating them
    record_facts(app_server, 7, 1, org=mine)
    run_until_idle(app_server, Relay(app_server.parts, [FailingSubscriber(1).subscriber]))
    [fact] = api.get("/api/facts")["items"]
    assert (fact["state"], fact["attempts"], fact["routing_key"]) == ("dead", DEAD_AFTER, "event.updated")
    path = f"/api/facts/{fact['message_id']}/replay"
    assert stranger.get("/api/facts")["items"] == [] and stranger.refused("POST", path) == (404, "not_found")
    assert api.post(path, status=200)["state"] == "waiting"
    assert api.get("/api/facts")["items"] == [] and len(api.get("/api/facts?state=waiting")["items"]) == 1


def test_a_long_list_comes_in_pages(app_server: AppServer) -> None:
    mine = app_server.organisation("marquee")
    api = app_server.api(mine)
    run_until_idle(app_server, Relay(app_server.parts))
    record_facts(app_server, 7, *range(5), org=mine)
    first = api.get("/api/facts?state=waiting&limit=3")
    rest = api.get(f"/api/facts?state=waiting&limit=3&after={first['next']}")
    assert (len(first["items"]), len(rest["items"]), rest["next"]) == (3, 2, None)


def test_concurrent_relays_keep_order_within_an_event(app_server: AppServer) -> None:
    """Three workers and a subscriber that fails now and then: each event's facts stay in order."""
    chance, lock = random.Random(7), threading.Lock()
    received: dict[int, list[int]] = {event: [] for event in range(6)}

    def stumble(_message: Message) -> None:
        with lock:
            if chance.random() < 0.05:
                raise ConnectionError

    def receive(message: Message) -> None:
        received[message.subjects["event_number"] - 1].append(message.payload["n"])

    for n in range(0, 60, 2):
        for event in received:
            record_facts(app_server, event + 1, n, n + 1)
    stumbling = a_failing_subscriber(receive, stumble)
    relays = [Relay(app_server.parts, [stumbling]) for _ in range(3)]
    for _ in range(200):
        threads = [threading.Thread(target=relay.run_once) for relay in relays]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        app_server.advance(LONGEST_PAUSE_MS)
        if not listed(app_server, State.WAITING):
            break
    assert received == {event: list(range(60)) for event in received}


def test_a_blocked_event_with_a_long_queue_delays_no_other(app_server: AppServer) -> None:
    subscriber = FailingSubscriber(0)
    record_facts(app_server, 1, *range(150))
    record_facts(app_server, 2, 999)
    Relay(app_server.parts, [subscriber.subscriber]).run_once()
    assert subscriber.received == [(2, 999)]


def operator(app_server: AppServer, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Result:
    """What an operator types after `gatehouse-server outbox`."""
    monkeypatch.setenv("GATEHOUSE_DATABASE_URL", app_server.url)
    monkeypatch.setenv("GATEHOUSE_MASTER_KEY_FILE", str(app_server.folder / "master.key"))
    monkeypatch.setenv("GATEHOUSE_LOG_LEVEL", "error")
    return CliRunner().invoke(commands.app, list(arguments))


def test_an_operator_lists_and_replays_dead_facts(app_server: AppServer, monkeypatch: pytest.MonkeyPatch) -> None:
    record_facts(app_server, 7, 1)
    app_server.advance(1)
    record_facts(app_server, 8, 1)
    relay = Relay(app_server.parts, [FailingSubscriber(1).subscriber])
    run_until_idle(app_server, relay)
    lines = [json.loads(line) for line in operator(app_server, monkeypatch, "list").stdout.splitlines()]
    assert [line["subjects"]["event_number"] for line in lines] == [7, 8]
    assert "payload" not in lines[0]
    assert (
        "1 fact will be delivered again" in operator(app_server, monkeypatch, "replay", lines[0]["message_id"]).stderr
    )
    assert len(listed(app_server, State.DEAD)) == 1
    assert "1 fact will be delivered again" in operator(app_server, monkeypatch, "replay", "--every", "dead").stderr
    assert len(listed(app_server, State.WAITING)) == 2
    with app_server.database.reading() as session:
        audited = session.execute(text("SELECT count(*) FROM audit_lines WHERE action = 'fact_replayed'")).scalar_one()
    assert audited == 2


@pytest.mark.parametrize("arguments", [[], ["--every", "sent"], ["--every", "dead", "an-id"]])
def test_bad_arguments_of_replay_are_explained(
    app_server: AppServer, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    answer = operator(app_server, monkeypatch, "replay", *arguments)
    assert answer.exit_code == 2 and "dead" in answer.stderr


def test_replaying_a_fact_that_is_not_there_is_refused(app_server: AppServer, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = operator(app_server, monkeypatch, "replay", "00000000-0000-7000-8000-000000000000")
    assert isinstance(answer.exception, GatehouseError) and len(answer.exception.message) > 20


def with_broker(app_server: AppServer) -> tuple[Relay, BrokerRelay, Broker, FailingSubscriber]:
    object.__setattr__(
        app_server.parts, "config", app_server.parts.config.model_copy(update={"amqp_url": "amqp://broker"})
    )
    subscriber, broker = FailingSubscriber(), Broker()
    relay = Relay(app_server.parts, [subscriber.subscriber])
    return relay, BrokerRelay(app_server.parts, broker), broker, subscriber


def test_facts_are_published_once_they_have_their_positions(app_server: AppServer) -> None:
    relay, publisher, broker, subscriber = with_broker(app_server)
    record_facts(app_server, 7, 1, 2)
    assert publisher.run_once() == 0 and relay.run_once() == 2 and publisher.run_once() == 2
    assert broker.received == [1, 2] and subscriber.received == [(7, 1), (7, 2)]
    assert publisher.run_once() == 0


def test_nothing_overtakes_facts_that_waited_during_an_outage(app_server: AppServer) -> None:
    relay, publisher, broker, subscriber = with_broker(app_server)
    broker.away = True
    record_facts(app_server, 7, 1)
    relay.run_once()
    publisher.run_once()
    broker.away = False
    record_facts(app_server, 7, 2)
    relay.run_once()
    assert broker.received == [] and [n for _, n in subscriber.received] == [1, 2]
    publisher.run_once()
    assert broker.received == [1, 2]


def test_an_outage_uses_up_no_attempts(app_server: AppServer) -> None:
    relay, publisher, broker, _subscriber = with_broker(app_server)
    broker.unreachable = True
    record_facts(app_server, 7, 1)
    relay.run_once()
    for _ in range(3 * DEAD_AFTER):
        publisher.run_once()
        app_server.advance(LONGEST_PAUSE_MS)
    broker.unreachable = False
    publisher.run_once()
    assert broker.received == [1] and listed(app_server, State.DEAD) == []


def test_a_message_that_the_broker_refuses_is_retried_and_given_up_in_the_end(app_server: AppServer) -> None:
    relay, publisher, broker, subscriber = with_broker(app_server)
    broker.refuses = {1}
    record_facts(app_server, 7, 1)
    record_facts(app_server, 8, 5)
    relay.run_once()
    publisher.run_once()
    record_facts(app_server, 7, 2)
    record_facts(app_server, 8, 6)
    relay.run_once()
    publisher.run_once()
    app_server.advance(LONGEST_PAUSE_MS)
    publisher.run_once()
    assert broker.received == [5, 6]  # later facts of the same event wait, at the retry too
    advance_until_published(app_server, publisher)
    [dead] = listed(app_server, State.DEAD)
    assert dead.row.payload == {"n": 1} and broker.received == [5, 6, 2] and len(subscriber.received) == 4
    broker.refuses.clear()
    with app_server.database.writing() as session:
        service.replay(session, [dead], app_server.context())
    assert relay.run_once() == 0 and publisher.run_once() == 1  # only the broker had given it up
    assert broker.received == [5, 6, 2, 1] and len(subscriber.received) == 4


def test_a_delivered_fact_is_published_again_on_request_and_handled_here_once(app_server: AppServer) -> None:
    relay, publisher, broker, subscriber = with_broker(app_server)
    record_facts(app_server, 7, 1)
    relay.run_once()
    publisher.run_once()
    with app_server.database.writing() as session:
        assert service.replay(session, queries.list_facts(session, State.SENT), app_server.context()) == 1
    relay.run_once()
    publisher.run_once()
    assert broker.received == [1, 1] and subscriber.received == [(7, 1)] and len(listed(app_server, State.SENT)) == 1


def test_a_worker_that_dies_between_broker_and_cursor_sends_twice_under_one_id(app_server: AppServer) -> None:
    relay, publisher, broker, _subscriber = with_broker(app_server)
    record_facts(app_server, 7, 1)
    relay.run_once()
    dead = BrokerRelay(app_server.parts, broker)
    with app_server.database.writing() as session:
        lease = dead._take(session, [ORG], app_server.now)
    broker.deliver(lease.new)  # it dies here
    assert publisher.run_once() == 0
    app_server.advance(LEASE_MS)
    publisher.run_once()
    assert broker.received == [1, 1] and listed(app_server, State.WAITING) == []
    with app_server.database.writing() as session, pytest.raises(LeaseLostError):
        dead._settle(session, lease, Outcome([lease.new[0].message_id]))


def test_a_fact_written_after_a_commit_comes_after_what_was_committed(postgres_url: str, tmp_path: Path) -> None:
    """Two real connections: by their transactions' begin and their clocks, the order would be the other way round."""
    app_server = AppServer(postgres_url, tmp_path)
    recorded, go_on = threading.Event(), threading.Event()

    def slowly() -> None:
        with app_server.database.writing() as session:
            record(session, Fact("event_updated", ORG, app_server.now - 1_000, {"event_number": 7}, {"n": 2}))
            session.flush()
            recorded.set()
            assert go_on.wait(30)

    slow = threading.Thread(target=slowly)
    slow.start()
    assert recorded.wait(30)
    record_facts(app_server, 7, 1)
    go_on.set()
    slow.join(30)
    subscriber = FailingSubscriber()
    Relay(app_server.parts, [subscriber.subscriber]).run_once()
    assert subscriber.received == [(7, 1), (7, 2)]
    app_server.close()


def test_a_fact_that_becomes_visible_late_gets_a_later_position(postgres_url: str, tmp_path: Path) -> None:
    """Its row is older than one that was delivered already: no reader of positions misses it."""
    app_server = AppServer(postgres_url, tmp_path)
    relay, subscriber = Relay(app_server.parts, []), FailingSubscriber()
    with app_server.database.writing() as late:
        late.execute(
            insert(OutboxRow), fact_row(Fact("event_updated", ORG, 0, {"event_number": 7}, {"n": 1}), os.urandom)
        )
        record_facts(app_server, 7, 2)
        relay.run_once()
        with app_server.database.reading() as session:
            seen = missed_facts.newest(session, ORG)
    Relay(app_server.parts, [subscriber.subscriber]).run_once()
    with app_server.database.reading() as session:
        missed = missed_facts.since(session, ORG, seen, event_number=7)
    assert missed is not None and [fact.payload["n"] for fact in missed] == [1] == [n for _, n in subscriber.received]
    app_server.close()
