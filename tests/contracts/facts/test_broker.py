"""Facts reach a real RabbitMQ, in order, whatever happens to the broker in between."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.private_services.rabbit import RabbitServer
from sync_server.outbox import fact_worker, service
from sync_server.outbox.queries import list_facts
from sync_server.outbox.rules import State
from tests.builders import an_id
from tests.contracts.facts.memory import eventually
from tests.contracts.facts.world import MARQUEE, Consumer, Sender, put_up_again
from tests.subscribers import a_subscriber


@pytest.fixture
def sender(database_url: str, amqp_url: str, tmp_path: Path) -> Iterator[Sender]:
    """A server on each database in turn, with a broker."""
    made = Sender(tmp_path, database_url, amqp_url)
    yield made
    made.close()


@pytest.fixture
def partner(amqp_url: str) -> Consumer:
    """A consumer of all facts."""
    return Consumer(amqp_url)


def read_all(sender: Sender, partner: Consumer) -> None:
    eventually(lambda: sender.left() == 0, "everything is sent")
    eventually(partner.read, "the queue is read, also where the broker is only just back")


def test_partners_receive_the_routing_keys_they_know(sender: Sender, partner: Consumer) -> None:
    with sender.working():
        for name in ("event_published", "event_cancelled", "event_updated", "event_went_live", "tickets_issued"):
            sender.tell(7, 1, name=name)
        read_all(sender, partner)
    keys = [key for key, _, _ in partner.messages]
    assert keys == ["event.published", "event.canceled", "event.updated", "event.went_live", "tickets.issued"]


def test_a_message_can_be_ordered_skipped_and_survives_a_broker_restart(sender: Sender, partner: Consumer) -> None:
    sender.tell(7, 1, name="event_published")
    with sender.working():
        read_all(sender, partner)
    [(_, properties, payload)] = partner.messages
    [message_id] = sender.column_values("message_id")
    assert properties.message_id == payload["message_id"] == message_id
    assert (properties.delivery_mode, properties.content_type) == (2, "application/json")
    assert properties.type == payload["fact"] == "event_published" and payload["version"] == 1
    assert payload["subjects"] == {"event": an_id("e7"), "event_number": 7} and payload["payload"] == {"n": 1}
    assert (payload["organisation_id"], payload["order"]) == (MARQUEE, sender.column_values("position")[0])


def test_an_unrouted_fact_blocks_nothing_and_can_be_replayed(
    sender: Sender, amqp_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fact_worker, "LOOK_EVERY_S", 3_600.0)  # the replay itself wakes who publishes
    sender.tell(7, 1)
    with sender.working():
        eventually(lambda: sender.left() == 0, "it is given to the broker")
        with sender.database.writing() as session:
            unrouted = list_facts(session, State.UNROUTED)
            latecomer = Consumer(amqp_url)
            assert service.replay(session, unrouted, sender.context()) == 1
        read_all(sender, latecomer)
    assert latecomer.numbers(7) == [1] and sender.column_values("unrouted") == [False]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)  # the broker takes seconds to come back
def test_facts_are_delivered_locally_while_the_broker_is_away(
    sender: Sender, partner: Consumer, rabbit_server: RabbitServer
) -> None:
    payload: list[str] = []
    sender.parts.subscribers.append(a_subscriber(lambda message: payload.append(message.name)))
    rabbit_server.kill()
    try:
        with sender.working():
            sender.tell(7, 1, 2)
            eventually(lambda: len(payload) == 2, "the house is told")
            assert sender.left() == 2
            rabbit_server.start()
            read_all(sender, partner)
    finally:
        put_up_again(rabbit_server)
    assert partner.numbers(7) == [1, 2] and len(payload) == 2


def test_the_broker_is_killed_and_restarted_under_load(
    sender: Sender, partner: Consumer, rabbit_server: RabbitServer
) -> None:
    """Two workers, four events, one power cut: nothing lost, nothing twice in effect, each event's facts in order."""
    events, rounds = range(4), 120
    other, stop = sender.another_process(), threading.Event()

    def write() -> None:
        for n in range(rounds):
            for event in events:
                sender.tell(event, 2 * n, 2 * n + 1)
            stop.wait(0.005)

    writer = threading.Thread(target=write)
    try:
        with sender.working(), sender.working(other):
            writer.start()
            eventually(lambda: partner.read() and len(partner.seen) > 100, "the load is on")
            rabbit_server.kill()
            stop.wait(0.3)
            rabbit_server.start()
            writer.join(120)
            read_all(sender, partner)
    finally:
        put_up_again(rabbit_server)
        other.close()
    for event in events:
        assert partner.numbers(event) == list(range(2 * rounds))
    assert len(partner.seen) == 2 * rounds * len(events)
