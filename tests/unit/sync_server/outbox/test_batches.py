"""Facts on their way to the broker, and what is known of each."""

from __future__ import annotations

from sync_server.outbox.broker_line import Batch
from sync_server.plumbing.work import Message


def a_fact(order: int) -> Message:
    return Message(f"m{order}", "event_updated", "marquee", 0, {}, {}, 1, order, "event:7")


def test_nobody_waits_for_a_batch_without_facts() -> None:
    """The house may have failed at all of them: that is no reason to give the line up."""
    empty = Batch([])
    assert empty.done.is_set() and not empty.outcome.outage


def test_a_batch_is_done_when_the_last_of_it_is_known() -> None:
    batch = Batch([a_fact(1), a_fact(2)])
    batch.settle(lambda outcome: outcome.delivered.append(1))
    assert not batch.done.is_set()
    batch.settle(lambda outcome: outcome.unrouted.append(2))
    assert batch.done.is_set() and (batch.outcome.delivered, batch.outcome.unrouted) == ([1], [2])


def test_a_line_that_breaks_takes_back_nothing_that_is_known() -> None:
    batch = Batch([a_fact(1), a_fact(2)])
    batch.settle(lambda outcome: outcome.delivered.append(1))
    batch.break_off()
    assert batch.done.is_set() and batch.outcome.outage and batch.outcome.delivered == [1]
