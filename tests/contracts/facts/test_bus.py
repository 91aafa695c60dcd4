"""A bus notifies current subscribers, in one process or in all, and says when something may have been missed."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from itertools import pairwise

import orjson
import psycopg
import pytest
from redis import Redis

from scripts.private_services.postgres import PostgresServer
from scripts.private_services.redis import RedisServer
from sync_server.plumbing.messaging.bus import (
    QUEUE_LIMIT,
    Bus,
    Listener,
    Notification,
    event_topic,
    occupancy_topic,
    organisation_topic,
)
from sync_server.plumbing.messaging.postgres_transport import CHANNEL, NotHeardError, PostgresTransport
from sync_server.plumbing.messaging.sender import WAKE_UPS_S, Sender, messages
from sync_server.plumbing.messaging.shared_bus import SharedBus
from tests.contracts.facts.deaf_pooler import deaf_pooler
from tests.contracts.facts.memory import Process, eventually, nowhere

TOPIC = organisation_topic("marquee")


class Wire:
    """What carries the bus between processes, and how a stranger, an outage and a repair look there."""

    def __init__(self, kind: str, request: pytest.FixtureRequest) -> None:
        self.kind = kind
        self._service: RedisServer | PostgresServer
        if kind == "redis":
            self.url = request.getfixturevalue("redis_url")
            self._service = request.getfixturevalue("redis_server")
        else:
            self.url = request.getfixturevalue("empty_postgres_url")
            self._service = request.getfixturevalue("postgres_server")

    def process(self) -> Process:
        return Process(self.url) if self.kind == "redis" else Process(None, listen_url=self.url)

    def say(self, data: bytes) -> None:
        """Send what no process of this version would."""
        if self.kind == "redis":
            with Redis.from_url(self.url) as stranger:
                stranger.publish("gatehouse:bus", data)
        else:
            with psycopg.connect(self.url, autocommit=True) as stranger:
                stranger.execute("SELECT pg_notify(%s, %s)", (CHANNEL, data.decode()))

    def kill(self) -> None:
        self._service.kill()

    def start(self) -> None:
        self._service.start()


@pytest.fixture(params=["redis", "postgresql"])
def wire(request: pytest.FixtureRequest) -> Wire:
    """Redis and PostgreSQL in turn."""
    return Wire(request.param, request)


@pytest.fixture(params=["in the process", "redis", "redis away", "postgresql", "postgresql away"])
def bus(request: pytest.FixtureRequest) -> Bus:
    """One process's bus of each kind in turn."""
    made = {
        "in the process": lambda: Process(None),
        "redis away": lambda: Process(nowhere()),
        "postgresql away": lambda: Process(None, listen_url=nowhere().replace("redis", "postgresql")),
    }.get(request.param, lambda: Wire(request.param, request).process())
    return made().bus


def received(listener: Listener) -> list[object]:
    return [note.body["n"] for note in listener.wait(0)]


def receives(listener: Listener, wanted: list[object]) -> None:
    """Wait until it has received exactly these, in this order."""
    got: list[object] = []
    eventually(lambda: got.extend(received(listener)) or got == wanted, f"it receives {wanted}")


def test_all_listeners_of_a_topic_receive_it_in_order(bus: Bus) -> None:
    with bus.listen([TOPIC]) as first, bus.listen([TOPIC, event_topic("e1")]) as second, bus.listen(["other"]) as third:
        for n in range(3):
            bus.publish(TOPIC, {"n": n})
        bus.publish(event_topic("e1"), {"n": 9})
        assert received(first) == [0, 1, 2] and received(second) == [0, 1, 2, 9] and received(third) == []


def test_nothing_from_before_or_after_listening_is_received(bus: Bus) -> None:
    bus.publish(TOPIC, {"n": 1})
    listener = bus.listen([TOPIC])
    bus.publish(TOPIC, {"n": 2})
    listener.close()
    bus.publish(TOPIC, {"n": 3})
    assert received(listener) == [2]


def test_a_callback_is_called_until_its_subscription_is_closed(bus: Bus) -> None:
    got: list[Notification | None] = []
    subscription = bus.subscribe([TOPIC], got.append)
    bus.publish(TOPIC, {"n": 1})
    bus.publish("other", {"n": 2})
    subscription.close()
    subscription.close()
    bus.publish(TOPIC, {"n": 3})
    assert got == [Notification(TOPIC, {"n": 1})]


def test_a_callback_that_fails_spares_the_publisher_and_the_others(bus: Bus) -> None:
    def fail(_notification: Notification | None) -> None:
        raise RuntimeError("the page is gone")

    with bus.subscribe([TOPIC], fail), bus.listen([TOPIC]) as listener, bus.subscribe([TOPIC], fail):
        bus.publish(TOPIC, {"n": 1})
        assert received(listener) == [1]


def test_a_slow_listener_learns_that_it_missed_something(bus: Bus) -> None:
    with bus.listen([TOPIC]) as listener:
        for n in range(QUEUE_LIMIT + 5):
            bus.publish(TOPIC, {"n": n})
        assert listener.missed() and not listener.missed()
        assert received(listener) == list(range(5, QUEUE_LIMIT + 5))


def test_topics_separate_organisations() -> None:
    assert organisation_topic("a") != organisation_topic("b")
    assert occupancy_topic("a", 7) == "occupancy:a:7" and event_topic("e") == "events:event:e"


def joined(process: Process) -> None:
    assert isinstance(process.bus, SharedBus)
    eventually(process.bus.joined.is_set, "the process hears the others")


def test_processes_receive_each_other_and_nobody_receives_their_own_twice(wire: Wire) -> None:
    here, there = wire.process(), wire.process()
    with here.running(), there.running(), here.bus.listen([TOPIC]) as near, there.bus.listen([TOPIC]) as far:
        joined(here)
        joined(there)
        here.bus.publish(TOPIC, {"n": 1})
        receives(far, [1])
        there.bus.publish(TOPIC, {"n": 2})
        receives(near, [1, 2])
        receives(far, [2])


def test_whoever_listened_before_its_process_was_connected_looks_once(wire: Wire) -> None:
    process = wire.process()
    asked: list[Notification | None] = []
    with process.bus.listen([TOPIC]) as listener, process.bus.subscribe([TOPIC], asked.append):
        assert not listener.missed()
        with process.running():
            joined(process)
            assert listener.missed() and asked == [None]


def test_a_process_that_only_publishes_is_heard_before_it_ends(wire: Wire) -> None:
    there, command = wire.process(), wire.process()
    with there.running(), there.bus.listen([TOPIC]) as far:
        joined(there)
        command.bus.publish(TOPIC, {"n": 1})
        command.backends.close()
        receives(far, [1])


def test_a_notification_that_fits_into_no_message_makes_its_subscribers_look(wire: Wire) -> None:
    here, there = wire.process(), wire.process()
    huge = "x" * 1_000_001
    with there.running(), there.bus.listen([TOPIC]) as far, there.bus.listen(["other"]) as other:
        joined(there)
        for listener in (far, other):
            eventually(listener.missed, "whoever listens looks once, for what was published before")
        here.bus.publish_all([Notification(TOPIC, {"n": huge}), Notification(TOPIC, {"n": 2})])
        receives(far, [2])
        assert far.missed() and not other.missed()


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"from": "a stranger"}', b'{"from": "a", "notes": [7]}'])
def test_unreadable_messages_do_not_stop_the_listener(wire: Wire, data: bytes) -> None:
    """Another version of the product may share the channel while one is exchanged for the other."""
    here, there = wire.process(), wire.process()
    with there.bus.listen([TOPIC]) as far, there.running():
        joined(there)
        eventually(far.missed, "whoever listens looks once, for what was published before")
        wire.say(data)
        eventually(far.missed, "something was said, so whoever listens looks")
        here.bus.publish(TOPIC, {"n": 1})
        receives(far, [1])


def test_installations_that_share_a_redis_do_not_receive_each_other(redis_url: str) -> None:
    ours, theirs = Process(redis_url), Process(redis_url, prefix="another-house")
    with ours.running(), theirs.running(), theirs.bus.listen([TOPIC]) as listener:
        joined(ours)
        joined(theirs)
        ours.bus.publish(TOPIC, {"n": 1})
        theirs.bus.publish(TOPIC, {"n": 2})
        assert received(listener) == [2]


def test_the_wire_breaks_and_is_repaired_while_processes_talk(wire: Wire) -> None:
    here, there = wire.process(), wire.process()
    with here.running(), there.running(), here.bus.listen([TOPIC]) as near, there.bus.listen([TOPIC]) as far:
        joined(here)
        joined(there)
        near.missed()
        far.missed()
        wire.kill()
        here.bus.publish(TOPIC, {"n": 1})
        assert received(near) == [1]  # nothing is lost within the process
        eventually(far.missed, "whoever rests is told to look, since nobody may wake it now")
        wire.start()
        eventually(far.missed, "the other process is told to look anew")
        here.advance(2)
        joined(there)
        here.bus.publish(TOPIC, {"n": 2})
        got: list[object] = []
        eventually(lambda: got.extend(received(far)) or got[-1:] == [2], "they receive each other again")


def test_a_lost_message_is_followed_by_one_that_makes_everybody_look() -> None:
    answers, sent, delivered = [False, False], list[bytes](), threading.Event()

    def send(batch: Sequence[bytes]) -> bool:
        if answers:
            return answers.pop()
        sent.extend(batch)
        delivered.set()
        return True

    sender = Sender(send, 200, "me")
    sender.put([Notification(TOPIC, {"n": 1})])
    assert delivered.wait(30)
    sender.close()
    assert [orjson.loads(message)["missed"] for message in sent] == [True]


def test_in_a_rush_what_happens_meanwhile_shares_the_next_message() -> None:
    sent: list[float] = []
    sender = Sender(lambda _: not sent.append(time.monotonic()), 200, "me")
    for _ in range(40):
        sender.put([Notification("committed", {})])
        time.sleep(0.002)
    paced = list(sent)
    sender.close()
    assert paced and all(later - earlier >= WAKE_UPS_S for earlier, later in pairwise(paced))


def test_what_says_something_does_not_wait_with_what_only_wakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sync_server.plumbing.messaging.sender.WAKE_UPS_S", 3_600)
    sent: list[bytes] = []
    told = threading.Event()

    def send(batch: Sequence[bytes]) -> bool:
        sent.extend(batch)
        told.set()
        return True

    sender = Sender(send, 200, "me")
    sender.put([Notification("committed", {})])
    assert told.wait(30)
    told.clear()
    sender.put([Notification("committed", {})])
    sender.put([Notification(TOPIC, {"n": 1})])
    assert told.wait(30)
    sender.close()
    first, second = (orjson.loads(message)["notes"] for message in sent)
    assert (first, second) == ([["committed", {}]], [["committed", {}], [TOPIC, {"n": 1}]])


def test_messages_are_few_fit_the_wire_and_repeat_no_wake_up() -> None:
    wake_ups = [Notification("committed", {})] * 50
    numbered = [Notification(TOPIC, {"n": n}) for n in range(9)]
    sent = list(messages("me", [*wake_ups, *numbered], 200, lost=False))
    notes = [note for message in sent for note in orjson.loads(message)["notes"]]
    assert notes == [["committed", {}], *([TOPIC, {"n": n}] for n in range(9))]
    assert all(len(message) <= 200 for message in sent) and len(sent) < 4
    assert not any(orjson.loads(message)["missed"] for message in sent)


def test_more_than_can_wait_makes_everybody_look() -> None:
    (only,) = messages("me", [], 200, lost=True)
    assert orjson.loads(only) == {"from": "me", "missed": True, "notes": []}


def test_behind_a_pooler_that_keeps_notifications_nobody_believes_to_be_connected(empty_postgres_url: str) -> None:
    with deaf_pooler(empty_postgres_url) as url:
        with pytest.raises(NotHeardError), PostgresTransport(url).connect():
            pass
        with PostgresTransport(empty_postgres_url).connect():
            assert PostgresTransport(url).send([b"notifying works all the same"])
