"""Facts are delivered after the commit, at least once, whatever happens to worker and subscriber."""

from __future__ import annotations

from sqlalchemy import text

from sync_server.outbox.queries import pending_count
from sync_server.outbox.relay import LEASE_MS, Relay
from sync_server.outbox.service import Fact, record
from sync_server.plumbing.jobs import Message
from tests.app_server import AppServer
from tests.builders import DAY, MINUTE


class Listener:
    """A subscriber that fails as often as it is told to."""

    def __init__(self, failures: int = 0) -> None:
        self.received: list[Message] = []
        self.failures = failures

    def __call__(self, message: Message) -> None:
        if self.failures:
            self.failures -= 1
            raise ConnectionError("the connection is lost")
        self.received.append(message)

    @property
    def names(self) -> list[str]:
        return [message.name for message in self.received]


def tell(app_server: AppServer, *names: str, event: str = "e") -> None:
    with app_server.database.writing() as session:
        for name in names:
            record(session, Fact(name, "org", app_server.now, {"event": event}, {"n": 1}))


def left(app_server: AppServer) -> int:
    with app_server.database.reading() as session:
        return pending_count(session)


def test_facts_arrive_in_order_and_once(app_server: AppServer) -> None:
    listener = Listener()
    tell(app_server, "first", "second")
    relay = Relay(app_server.parts, [listener])
    assert relay.run_once() == 2 and relay.run_once() == 0
    assert listener.names == ["first", "second"] and left(app_server) == 0
    assert listener.received[0].subjects == {"event": "e"}


def test_a_fact_of_a_failed_transaction_is_never_delivered(app_server: AppServer) -> None:
    try:
        with app_server.database.writing() as session:
            record(session, Fact("never", "org", app_server.now))
            raise RuntimeError
    except RuntimeError:
        pass
    assert left(app_server) == 0 and not app_server.database.work_pending.is_set()


def test_a_failed_delivery_is_retried_with_the_same_id(app_server: AppServer) -> None:
    listener = Listener(failures=2)
    tell(app_server, "first")
    relay = Relay(app_server.parts, [listener])
    attempts = 0
    while not listener.received and attempts < 20:
        attempts += relay.run_once()
        app_server.advance(MINUTE)
    assert attempts == 3 and listener.received[0].attempts == 3
    with app_server.database.reading() as session:
        stored = session.execute(text("SELECT message_id, last_error FROM outbox")).one()
    assert stored.message_id == listener.received[0].message_id and "the connection is lost" in stored.last_error


def test_one_fact_that_fails_holds_back_those_of_its_event_and_no_other(app_server: AppServer) -> None:
    listener = Listener(failures=1)
    tell(app_server, "stuck", "behind it")
    tell(app_server, "free", event="another")
    relay = Relay(app_server.parts, [listener])
    relay.run_once()
    assert listener.names == ["free"] and left(app_server) == 2
    tell(app_server, "later")
    assert relay.run_once() == 0
    app_server.advance(MINUTE)
    relay.run_once()
    assert listener.names == ["free", "stuck", "behind it", "later"] and left(app_server) == 0


def test_facts_leased_by_a_dead_worker_are_taken_over(app_server: AppServer) -> None:
    tell(app_server, "first")
    dead = Relay(app_server.parts, [])
    assert len(dead._lease().messages) == 1  # it dies here
    listener = Listener()
    other = Relay(app_server.parts, [listener])
    assert other.run_once() == 0
    app_server.advance(LEASE_MS)
    assert other.run_once() == 1 and listener.names == ["first"]


def test_delivered_facts_are_dropped_after_a_week_and_waiting_ones_never(app_server: AppServer) -> None:
    tell(app_server, "old")
    app_server.run_worker()
    tell(app_server, "waiting")
    with app_server.database.writing() as session:
        session.execute(text("UPDATE outbox SET due_at = due_at + 99999999999 WHERE name = 'waiting'"))
    app_server.advance(8 * DAY)
    app_server.run_worker()
    with app_server.database.reading() as session:
        assert session.execute(text("SELECT name FROM outbox")).scalars().all() == ["waiting"]
