"""Batches of facts sent to the broker, and the outcome of each fact."""

from __future__ import annotations

from sync_server.outbox.broker.connection import Batch
from sync_server.plumbing.jobs import Message


def a_fact(order: int) -> Message:
    return Message(f"m{order}", "event_updated", "marquee", 0, {}, {}, 1, order, "event:7")


def test_an_empty_batch_is_done_at_once() -> None:
    """Local delivery may have failed for all of them: that is no reason to close the connection."""
    empty = Batch([])
    assert empty.done.is_set() and not empty.outcome.outage


def test_a_batch_is_done_when_all_outcomes_are_known() -> None:
    batch = Batch([a_fact(1), a_fact(2)])
    batch.settle(lambda outcome: outcome.delivered.append("m1"))
    assert not batch.done.is_set()
    batch.settle(lambda outcome: outcome.unrouted.append("m2"))
    assert batch.done.is_set() and (batch.outcome.delivered, batch.outcome.unrouted) == (["m1"], ["m2"])


def test_a_broken_connection_keeps_known_outcomes() -> None:
    batch = Batch([a_fact(1), a_fact(2)])
    batch.settle(lambda outcome: outcome.delivered.append("m1"))
    batch.break_off()
    assert batch.done.is_set() and batch.outcome.outage and batch.outcome.delivered == ["m1"]
