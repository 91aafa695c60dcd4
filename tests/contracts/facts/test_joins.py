"""Joins reported by another service count once each, however often and in whatever order they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import orjson
import pika
import pytest

from scripts.private_services.rabbit import RabbitServer
from shared.errors import Unreadable
from sync_server.outbox.broker import joins
from sync_server.outbox.broker.consumer import DEAD_QUEUE, QUEUE, declare
from sync_server.outbox.broker.messages import EXCHANGE
from sync_server.outbox.signals import JoinedElsewhere
from sync_server.runtime import ServerRuntime
from tests.builders import an_id
from tests.contracts.facts.memory import eventually
from tests.contracts.facts.world import Sender, put_up_again


@pytest.fixture
def sender(database_url: str, amqp_url: str, tmp_path: Path) -> Iterator[Sender]:
    """A server on each database in turn, with a broker."""
    made = Sender(tmp_path, database_url, amqp_url)
    yield made
    made.close()


EVENT, OTHER = an_id("event"), an_id("other event")
EVENT_BODY = orjson.dumps({"event_id": EVENT})


class JoinService:
    """The other service: publishes persistently, and again when it is unsure."""

    def __init__(self, amqp_url: str) -> None:
        self._parameters = pika.URLParameters(amqp_url)
        with pika.BlockingConnection(self._parameters) as connection:
            declare(connection.channel())

    def say(self, key: str, message_id: str | None, body: bytes | None = None, event: str = EVENT) -> None:
        body = orjson.dumps({"event_id": event}) if body is None else body
        with pika.BlockingConnection(self._parameters) as connection:
            properties = pika.BasicProperties(message_id=message_id, delivery_mode=2)
            connection.channel().basic_publish(EXCHANGE, key, body, properties)

    def say_at_once(self, names: Iterable[str]) -> None:
        """Publish joins in one transaction: the broker has them all, on its disk, or none."""
        with pika.BlockingConnection(self._parameters) as connection:
            channel = connection.channel()
            channel.tx_select()
            for name in names:
                properties = pika.BasicProperties(message_id=name, delivery_mode=2)
                channel.basic_publish(EXCHANGE, "join.confirmed", EVENT_BODY, properties)
            channel.tx_commit()

    def consumers(self) -> int:
        with pika.BlockingConnection(self._parameters) as connection:
            return int(connection.channel().queue_declare(QUEUE, passive=True).method.consumer_count)

    def lying(self, queue: str) -> int:
        with pika.BlockingConnection(self._parameters) as connection:
            return int(connection.channel().queue_declare(queue, passive=True).method.message_count)


@pytest.fixture
def elsewhere(amqp_url: str) -> JoinService:
    return JoinService(amqp_url)


def test_joins_and_cancellations_are_counted_for_each_event(sender: Sender, elsewhere: JoinService) -> None:
    for n in range(5):
        elsewhere.say("join.confirmed", f"in-{n}")
    elsewhere.say("join.canceled", "out-1")
    elsewhere.say("join.confirmed", "in-b", event=OTHER)
    with sender.working():
        eventually(lambda: (sender.joined(EVENT), sender.joined(OTHER)) == (4, 1), "all are counted")


def test_a_message_that_comes_three_times_counts_once(sender: Sender, elsewhere: JoinService) -> None:
    for message_id in ("a", "a", "b", "a"):
        elsewhere.say("join.confirmed", message_id)
    with sender.working():
        eventually(lambda: sender.joined(EVENT) == 2, "both are counted")
        elsewhere.say("join.confirmed", "c")
        eventually(lambda: sender.joined(EVENT) == 3, "and the next")


def test_a_cancellation_before_its_confirmation_is_counted_correctly(sender: Sender, elsewhere: JoinService) -> None:
    payload: list[JoinedElsewhere] = []
    sender.database.signals.on(JoinedElsewhere, lambda _session, joined: payload.append(joined))
    elsewhere.say("join.canceled", "out")
    elsewhere.say("join.confirmed", "in")
    elsewhere.say("join.confirmed", "another")
    with sender.working():
        eventually(lambda: sender.joined(EVENT) == 1, "one is left")
    assert [one.participants for one in payload] == [0, 0, 1]


UNREADABLE = (
    (None, None),
    ("m", b"{"),
    ("m", b"[]"),
    ("m", b"{}"),
    ("m", b'{"event_id": 7}'),
    ("m", b'{"event_id": "e1"}'),
    ("m" * 65, None),
    ("m", b'{"event_id": "e\\u0000"}'),
    ("m\0", None),
)


def test_an_unreadable_message_is_rejected_and_blocks_nothing(sender: Sender, elsewhere: JoinService) -> None:
    for message_id, body in UNREADABLE:
        elsewhere.say("join.confirmed", message_id, body)
    elsewhere.say("join.confirmed", "good")
    with sender.working():
        eventually(lambda: sender.joined(EVENT) == 1, "the good one is counted")
        eventually(lambda: elsewhere.lying(DEAD_QUEUE) == len(UNREADABLE), "the others lie aside")


def test_an_unknown_routing_key_is_not_guessed_at() -> None:
    with pytest.raises(Unreadable, match=r"join\.maybe"):
        joins.read("join.maybe", "m", EVENT_BODY)


def test_a_message_without_properties_may_carry_its_id_in_the_body() -> None:
    body = orjson.dumps({"event_id": EVENT, "message_id": "m"})
    assert joins.read("join.confirmed", None, body) == joins.Join("m", EVENT, 1)


def test_a_failed_effect_is_retried_and_never_half_done(sender: Sender, elsewhere: JoinService) -> None:
    failures = [OSError("the disk"), OSError("the disk")]

    def fail_at_first(_session: object, _joined: object) -> None:
        if failures:
            raise failures.pop()

    sender.database.signals.on(JoinedElsewhere, fail_at_first)
    elsewhere.say("join.confirmed", "m")
    with sender.working():
        eventually(lambda: sender.joined(EVENT) == 1, "it has its effect")
    assert failures == []


def test_a_message_whose_effect_always_fails_is_rejected_and_blocks_nothing(
    sqlite_url: str, amqp_url: str, tmp_path: Path
) -> None:
    sender, elsewhere = Sender(tmp_path, sqlite_url, amqp_url), JoinService(amqp_url)

    def cannot_bear(_session: object, joined: JoinedElsewhere) -> None:
        if joined.event_id == "unbearable":
            raise ValueError(joined.event_id)

    sender.database.signals.on(JoinedElsewhere, cannot_bear)
    elsewhere.say("join.confirmed", "m", event="unbearable")
    for n in range(20):
        elsewhere.say("join.confirmed", f"good-{n}")
    with sender.working():
        eventually(lambda: sender.joined(EVENT) == 20, "all others are counted")
        eventually(lambda: elsewhere.lying(DEAD_QUEUE) == 1, "it lies aside")
        assert (elsewhere.lying(QUEUE), sender.joined("unbearable")) == (0, 0)
        elsewhere.say("join.confirmed", "the next")
        eventually(lambda: sender.joined(EVENT) == 21, "the worker still listens")
    sender.close()


def taken(runtime: ServerRuntime, outcome: str) -> float:
    return runtime.parts.metrics.registry.get_sample_value("gatehouse_joins_taken_total", {"outcome": outcome}) or 0


def test_the_broker_dies_while_two_workers_consume_joins(
    sender: Sender, elsewhere: JoinService, rabbit_server: RabbitServer
) -> None:
    """What was unacknowledged when the broker died comes again, and everything is published a second time."""
    other = sender.another_process()

    def shares() -> list[float]:
        return [taken(runtime, "counted") for runtime in (sender.runtime, other)]

    try:
        with sender.working(), sender.working(other):
            eventually(lambda: elsewhere.consumers() == 2, "both listen")
            elsewhere.say_at_once(map(str, range(300)))
            eventually(lambda: min(shares()) > 0, "each has counted some")
            rabbit_server.kill()
            rabbit_server.start()
            elsewhere.say_at_once(map(str, range(300)))
            eventually(lambda: sender.joined(EVENT) == 300, "all are counted")
            eventually(lambda: elsewhere.lying(QUEUE) == 0, "and done with")
        assert sender.joined(EVENT) == 300 and elsewhere.lying(DEAD_QUEUE) == 0
    finally:
        put_up_again(rabbit_server)
        other.close()
    assert sum(shares()) == 300
