"""Facts are delivered after the commit, at least once, whatever happens to worker and subscriber."""

from __future__ import annotations

from sqlalchemy import text

from sync_server.outbox.queries import waiting
from sync_server.outbox.relay import LEASE_MS, Relay
from sync_server.outbox.service import Fact, record
from sync_server.plumbing.work import Message
from tests.builders import DAY, MINUTE
from tests.office import Office


class Listener:
    """Hears facts; fails as often as it is told to."""

    def __init__(self, failures: int = 0) -> None:
        self.heard: list[Message] = []
        self.failures = failures

    def __call__(self, message: Message) -> None:
        if self.failures:
            self.failures -= 1
            raise ConnectionError("the line is dead")
        self.heard.append(message)

    @property
    def names(self) -> list[str]:
        return [message.name for message in self.heard]


def tell(office: Office, *names: str, event: str = "e") -> None:
    with office.database.writing() as session:
        for name in names:
            record(session, Fact(name, "org", office.now, {"event": event}, {"n": 1}))


def left(office: Office) -> int:
    with office.database.reading() as session:
        return waiting(session)


def test_facts_arrive_in_order_and_once(office: Office) -> None:
    listener = Listener()
    tell(office, "first", "second")
    relay = Relay(office.parts, [listener])
    assert relay.run_once() == 2 and relay.run_once() == 0
    assert listener.names == ["first", "second"] and left(office) == 0
    assert listener.heard[0].subjects == {"event": "e"}


def test_a_fact_of_a_transaction_that_failed_was_never_told(office: Office) -> None:
    try:
        with office.database.writing() as session:
            record(session, Fact("never", "org", office.now))
            raise RuntimeError
    except RuntimeError:
        pass
    assert left(office) == 0 and not office.database.stirred.is_set()


def test_a_failing_subscriber_is_told_again_later_with_the_same_id(office: Office) -> None:
    listener = Listener(failures=2)
    tell(office, "first")
    relay = Relay(office.parts, [listener])
    attempts = 0
    while not listener.heard and attempts < 20:
        attempts += relay.run_once()
        office.advance(MINUTE)
    assert attempts == 3 and listener.heard[0].attempts == 3
    with office.database.reading() as session:
        kept = session.execute(text("SELECT message_id, last_error FROM outbox")).one()
    assert kept.message_id == listener.heard[0].message_id and "the line is dead" in kept.last_error


def test_one_fact_that_fails_holds_back_those_of_its_event_and_no_other(office: Office) -> None:
    listener = Listener(failures=1)
    tell(office, "stuck", "behind it")
    tell(office, "free", event="another")
    relay = Relay(office.parts, [listener])
    relay.run_once()
    assert listener.names == ["free"] and left(office) == 2
    tell(office, "later")
    assert relay.run_once() == 0
    office.advance(MINUTE)
    relay.run_once()
    assert listener.names == ["free", "stuck", "behind it", "later"] and left(office) == 0


def test_what_a_dead_worker_took_is_taken_over_after_half_a_minute(office: Office) -> None:
    tell(office, "first")
    dead = Relay(office.parts, [])
    assert len(dead._lease().messages) == 1  # it dies here
    listener = Listener()
    other = Relay(office.parts, [listener])
    assert other.run_once() == 0
    office.advance(LEASE_MS)
    assert other.run_once() == 1 and listener.names == ["first"]


def test_delivered_facts_are_dropped_after_a_week_and_waiting_ones_never(office: Office) -> None:
    tell(office, "old")
    office.work()
    tell(office, "waiting")
    with office.database.writing() as session:
        session.execute(text("UPDATE outbox SET due_at = due_at + 99999999999 WHERE name = 'waiting'"))
    office.advance(8 * DAY)
    office.work()
    with office.database.reading() as session:
        assert session.execute(text("SELECT name FROM outbox")).scalars().all() == ["waiting"]
