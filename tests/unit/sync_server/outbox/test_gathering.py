"""The first fact after quiet is delivered at once; those of a rush are gathered, for longer the more there are."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import cast

import pytest

from sync_server.outbox.fact_worker import GATHER_S, RUSH, RUSH_S, RelayLoop
from sync_server.outbox.relay import Relay


@dataclass
class Evening:
    """A relay with these batches, and an event that is never set until they are delivered: it notes what happens."""

    batches: list[int]
    full: int = 500
    done: list[str | float] = field(default_factory=list)
    more: bool = False

    def run_once(self) -> int:
        count = self.batches.pop(0)
        self.more = count == self.full
        self.done.append(f"{count} delivered")
        return count

    def retry_in_s(self) -> float:
        return float("inf")

    def is_set(self) -> bool:
        return not self.batches

    def wait(self, seconds: float) -> bool:
        self.done.append(seconds)
        return self.is_set()


class Commits(threading.Event):
    """Somebody has always committed."""

    def wait(self, timeout: float | None = None) -> bool:
        return True


def happened(*batches: int, gathers: bool = True) -> list[str | float]:
    evening = Evening([*batches])
    loop = RelayLoop(cast(Relay, evening), Commits(), lambda: None, gathers)
    loop.run(cast(threading.Event, evening))
    return evening.done


def test_the_first_fact_after_quiet_is_delivered_before_anybody_waits() -> None:
    assert happened(0, 1)[:2] == ["0 delivered", "1 delivered"]


@pytest.mark.parametrize(("before", "gathered"), [(1, GATHER_S), (RUSH - 1, GATHER_S), (RUSH, RUSH_S)])
def test_facts_after_others_are_gathered(before: int, gathered: float) -> None:
    assert happened(before, 3)[:3] == [f"{before} delivered", gathered, "3 delivered"]


def test_what_is_left_of_a_full_batch_is_not_waited_for() -> None:
    assert happened(500, 500, 7)[:3] == ["500 delivered", "500 delivered", "7 delivered"]


def test_facts_that_were_gathered_once_go_to_the_broker_at_once() -> None:
    assert happened(RUSH, RUSH, 3, gathers=False)[:3] == [f"{RUSH} delivered", f"{RUSH} delivered", "3 delivered"]
