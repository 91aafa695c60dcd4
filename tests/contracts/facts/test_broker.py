"""Facts reach a real RabbitMQ: named, enveloped, in order, and whatever happens to the broker in between."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.throwaway.rabbit import RabbitServer
from sync_server.outbox import service
from sync_server.outbox.queries import State, listed
from tests.contracts.facts.memory import eventually
from tests.contracts.facts.world import Consumer, Sender, put_up_again


@pytest.fixture
def sender(database_url: str, amqp_url: str, tmp_path: Path) -> Iterator[Sender]:
    """A server on each database in turn, with a broker."""
    made = Sender(tmp_path, database_url, amqp_url)
    yield made
    made.close()


@pytest.fixture
def partner(amqp_url: str) -> Consumer:
    """Somebody who wants to hear everything."""
    return Consumer(amqp_url)


def read_all(sender: Sender, partner: Consumer) -> None:
    eventually(lambda: sender.left() == 0, "everything is sent")
    partner.read()


def test_partners_hear_the_names_they_know(sender: Sender, partner: Consumer) -> None:
    with sender.working():
        for name in ("event_published", "event_cancelled", "event_updated", "event_went_live", "tickets_issued"):
            sender.tell(7, 1, name=name)
        read_all(sender, partner)
    keys = [key for key, _, _ in partner.letters]
    assert keys == ["event.published", "event.canceled", "event.updated", "event.went_live", "tickets.issued"]


def test_a_letter_can_be_sorted_skipped_and_survives_the_brokers_restart(sender: Sender, partner: Consumer) -> None:
    sender.tell(7, 1, name="event_published")
    with sender.working():
        read_all(sender, partner)
    [(_, properties, told)] = partner.letters
    [message_id] = sender.kept("message_id")
    assert properties.message_id == told["message_id"] == message_id
    assert (properties.delivery_mode, properties.content_type) == (2, "application/json")
    assert properties.type == told["fact"] == "event_published" and told["version"] == 1
    assert told["subjects"] == {"event": "e7", "event_number": 7} and told["payload"] == {"n": 1}
    assert (told["organisation_id"], told["order"]) == ("marquee", sender.kept("id")[0])


def test_a_fact_that_no_queue_wants_holds_nothing_up_and_can_be_sent_again(sender: Sender, amqp_url: str) -> None:
    sender.tell(7, 1)
    with sender.working():
        eventually(lambda: sender.left() == 0, "it is given to the broker")
        with sender.database.writing() as session:
            [row] = listed(session, State.UNROUTED)
            latecomer = Consumer(amqp_url)
            assert service.replay(session, [row.id], sender.deed()) == 1
        read_all(sender, latecomer)
    assert latecomer.numbers(7) == [1] and sender.kept("unrouted") == [False]


def test_the_house_hears_facts_while_the_broker_is_away(
    sender: Sender, partner: Consumer, rabbit_server: RabbitServer
) -> None:
    told: list[str] = []
    sender.parts.subscribers.append(lambda message: told.append(message.name))
    rabbit_server.kill()
    try:
        with sender.working():
            sender.tell(7, 1, 2)
            eventually(lambda: len(told) == 2, "the house is told")
            eventually(lambda: None not in sender.kept("told_at"), "and that is written down")
            assert sender.left() == 2 and sender.kept("attempts") == [0, 0]
            rabbit_server.start()
            read_all(sender, partner)
    finally:
        put_up_again(rabbit_server)
    assert partner.numbers(7) == [1, 2] and len(told) == 2


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
            eventually(lambda: partner.read() or len(partner.seen) > 100, "the load is on")
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
