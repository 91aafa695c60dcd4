"""Facts are delivered after the commit, in order, whatever happens to worker and subscriber."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from sync_server.outbox import queries
from sync_server.outbox.cursors import LEASE_MS, RELAY
from sync_server.outbox.relay import Relay
from sync_server.outbox.rules import State
from sync_server.outbox.service import Fact, record
from sync_server.plumbing.jobs import Message, Subscriber
from sync_server.plumbing.messaging.bus import Notification, event_topic
from tests.app_server import AppServer
from tests.builders import DAY, MINUTE, an_id
from tests.subscribers import a_failing_subscriber

MARQUEE, RIVALS, ORG = an_id("marquee"), an_id("rivals"), an_id("org")


class Listener:
    """A subscriber that fails as often as it is told to."""

    def __init__(self, failures: int = 0, name: str = "listener") -> None:
        self.received: list[Message] = []
        self.failures = failures
        self.subscriber: Subscriber = a_failing_subscriber(self.received.append, self.attempt, name=name)

    def attempt(self, _fact: Message) -> None:
        if self.failures:
            self.failures -= 1
            raise ConnectionError("the connection is lost")

    @property
    def names(self) -> list[str]:
        return [message.name for message in self.received]


def tell(app_server: AppServer, *names: str, event: str = "e", org: str = ORG) -> None:
    with app_server.database.writing() as session:
        for name in names:
            record(session, Fact(name, org, app_server.now, {"event": event}, {"n": 1}))


def left(app_server: AppServer) -> int:
    with app_server.database.reading() as session:
        return queries.pending_count(session)


def test_facts_arrive_in_order_and_once(app_server: AppServer) -> None:
    listener = Listener()
    tell(app_server, "first", "second")
    relay = Relay(app_server.parts, [listener.subscriber])
    assert left(app_server) == 2 and relay.run_once() == 2 and relay.run_once() == 0
    assert listener.names == ["first", "second"] and left(app_server) == 0
    assert listener.received[0].subjects == {"event": "e"}


def test_each_organisation_counts_its_own_facts(app_server: AppServer) -> None:
    listener = Listener()
    relay = Relay(app_server.parts, [listener.subscriber])
    tell(app_server, "first", "second", org=MARQUEE)
    tell(app_server, "other", org=RIVALS)
    relay.run_once()
    tell(app_server, "third", org=MARQUEE)
    relay.run_once()
    orders = {(fact.organisation_id, fact.name): fact.order for fact in listener.received}
    mine = [orders[MARQUEE, name] for name in ("first", "second", "third")]
    assert mine == [1, 2, 3] and orders[RIVALS, "other"] == 1


def test_a_fact_of_a_failed_transaction_is_never_delivered(app_server: AppServer) -> None:
    with pytest.raises(RuntimeError), app_server.database.writing() as session:
        record(session, Fact("never", ORG, app_server.now))
        raise RuntimeError
    assert left(app_server) == 0 and not app_server.database.work_pending.is_set()


def test_a_failed_delivery_is_retried_with_the_same_id(app_server: AppServer) -> None:
    listener = Listener(failures=3)  # in the transaction of all, then twice in its own
    tell(app_server, "first")
    relay = Relay(app_server.parts, [listener.subscriber])
    relay.run_once()
    with app_server.database.reading() as session:
        [waiting] = queries.list_facts(session, State.WAITING)
    assert waiting.attempts == 1 and "the connection is lost" in waiting.last_error
    for _ in range(2):
        app_server.advance(MINUTE)
        assert relay.run_once() == 1
    assert listener.received[0].message_id == waiting.row.message_id and listener.received[0].attempts == 3
    assert left(app_server) == 0


def test_one_fact_that_fails_holds_back_those_of_its_event_and_no_other(app_server: AppServer) -> None:
    listener = Listener(failures=3)  # in the transaction of all, the batch in its own, and then the fact alone
    tell(app_server, "stuck")
    tell(app_server, "free", event="another")
    tell(app_server, "behind it")
    relay = Relay(app_server.parts, [listener.subscriber])
    relay.run_once()
    assert listener.names == ["free"] and left(app_server) == 2
    tell(app_server, "later")
    relay.run_once()
    assert listener.names == ["free"]
    app_server.advance(MINUTE)
    relay.run_once()
    assert listener.names == ["free", "stuck", "behind it", "later"] and left(app_server) == 0


def test_a_subscriber_that_fails_holds_back_no_other(app_server: AppServer) -> None:
    stuck, well = Listener(failures=99, name="stuck"), Listener(name="well")
    relay = Relay(app_server.parts, [stuck.subscriber, well.subscriber])
    with app_server.parts.bus.listen([event_topic("e")]) as page:
        tell(app_server, "event_updated", "event_published")
        relay.run_once()
        assert [note.body["fact"] for note in page.wait(0)] == well.names == ["event_updated", "event_published"]
    assert stuck.received == [] and left(app_server) == 2


def test_what_a_subscriber_writes_is_committed_with_its_cursor_or_not_at_all(app_server: AppServer) -> None:
    """It fails after it has written: once it succeeds, each fact has counted once."""
    failures = [True, True, True]

    def handle(session, facts):  # type: ignore[no-untyped-def]
        for fact in facts:
            session.execute(text("INSERT INTO processed_messages VALUES (:id, 0)"), {"id": fact.message_id})
        if failures:
            raise OSError(failures.pop())
        return [Notification("counted", {"n": len(facts)})]

    tell(app_server, "first", "second")
    relay = Relay(app_server.parts, [Subscriber("counter", lambda _fact: True, handle)])
    with app_server.parts.bus.listen(["counted"]) as page:
        for _ in range(5):
            relay.run_once()
            app_server.advance(MINUTE)
        assert sum(note.body["n"] for note in page.wait(0)) == 2
    with app_server.database.reading() as session:
        assert session.execute(text("SELECT count(*) FROM processed_messages")).scalar_one() == 2


def test_subscribers_share_a_transaction_as_long_as_none_fails(app_server: AppServer) -> None:
    """A transaction for each would cost most of what relaying a fact costs."""
    sessions: list[object] = []

    def handle(session, _facts):  # type: ignore[no-untyped-def]
        sessions.append(session)
        return ()

    relay = Relay(app_server.parts, [Subscriber(name, lambda _fact: True, handle) for name in ("one", "other")])
    tell(app_server, "first", "second")
    relay.run_once()
    assert len(sessions) == 2 and len(set(sessions)) == 1 and left(app_server) == 0


def test_a_batch_that_one_subscriber_fails_at_is_told_to_the_others_once(app_server: AppServer) -> None:
    """They share a transaction first: what the others wrote there is undone, and written again in their own."""
    well, stuck = Listener(name="well"), Listener(failures=2, name="stuck")
    tell(app_server, "first", event="a")
    tell(app_server, "second", event="b")
    relay = Relay(app_server.parts, [well.subscriber, stuck.subscriber])
    relay.run_once()
    assert (well.names, stuck.names) == (["first", "second"], ["first", "second"])
    with app_server.database.reading() as session:
        assert queries.list_facts(session, State.WAITING) == []


def test_facts_leased_by_a_dead_worker_are_taken_over(app_server: AppServer) -> None:
    tell(app_server, "first")
    listener = Listener()
    dead, other = (Relay(app_server.parts, [listener.subscriber]) for _ in range(2))
    batch, _ = dead._take([ORG], app_server.now, together=False)
    assert len(batch.facts[ORG]) == 1  # it dies here
    tell(app_server, "second")
    assert other.run_once() == 0
    app_server.advance(LEASE_MS)
    assert other.run_once() == 2 and listener.names == ["first", "second"]


def test_a_worker_that_comes_back_too_late_changes_nothing(app_server: AppServer) -> None:
    listener = Listener()
    slow, other = (Relay(app_server.parts, [listener.subscriber]) for _ in range(2))
    tell(app_server, "first")
    batch, _ = slow._take([ORG], app_server.now, together=False)
    app_server.advance(LEASE_MS)
    other.run_once()
    tell(app_server, "second")
    third, _ = other._take([ORG], app_server.now, together=False)
    assert slow._deliver_apart(batch) == 0 and listener.names == ["first"]
    with app_server.database.reading() as session:
        query = text("SELECT leased_until FROM outbox_cursors WHERE reader = :reader")
        assert session.execute(query, {"reader": RELAY}).scalar_one() == third.until


def test_a_new_subscriber_begins_with_what_happens_next(app_server: AppServer) -> None:
    tell(app_server, "before it came")
    Relay(app_server.parts, []).run_once()
    listener = Listener()
    tell(app_server, "after it came")
    Relay(app_server.parts, [listener.subscriber]).run_once()
    assert listener.names == ["after it came"]


def test_delivered_facts_are_dropped_after_a_week_and_waiting_ones_never(app_server: AppServer) -> None:
    tell(app_server, "old")
    app_server.run_worker()
    stuck = Listener(failures=10**6)
    app_server.parts.subscribers.append(stuck.subscriber)
    tell(app_server, "waiting")
    app_server.run_worker()
    app_server.advance(8 * DAY)
    app_server.run_worker()
    with app_server.database.reading() as session:
        assert session.execute(text("SELECT name FROM outbox")).scalars().all() == ["waiting"]
