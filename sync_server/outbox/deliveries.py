"""How a batch of facts is delivered, and what can become of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from sync_server.plumbing.logs import LOG
from sync_server.plumbing.work import Announcer, Message, Subscriber


@dataclass(slots=True)
class Outcome:
    """What became of the facts of a batch, by their order numbers; those in no list were not tried."""

    delivered: list[int] = field(default_factory=list)
    unrouted: list[int] = field(default_factory=list)  # delivered as far as it goes: no queue wanted them
    failed: dict[int, str] = field(default_factory=dict)
    outage: bool = False  # nobody was there to deliver to: no fact's fault
    announce: Callable[[], None] = lambda: None  # still to be done, and nobody needs to wait for it


class Delivery(Protocol):
    """Somebody who takes facts on."""

    def ready(self) -> bool:
        """Whether it makes sense to bring any."""
        ...

    def deliver(self, messages: Sequence[Message]) -> Outcome:
        """Deliver them in their order."""
        ...


class Onward(Delivery, Protocol):
    """Somebody who needs a while for it, in which other things can be done."""

    def begin(self, messages: Sequence[Message]) -> Callable[[], Outcome]:
        """Set off with them in their order; what is answered waits for what becomes of them."""
        ...


class House:
    """The house itself: its subscribers hear one fact after the other, its announcers all that went well."""

    def __init__(self, subscribers: Sequence[Subscriber], announcers: Sequence[Announcer] = ()) -> None:
        """They are called on the relay's thread."""
        self._subscribers, self._announcers = subscribers, announcers

    def ready(self) -> bool:
        """Always at home."""
        return True

    def deliver(self, messages: Sequence[Message]) -> Outcome:
        """Tell each fact to all; one that fails holds back the later ones of its stream."""
        outcome, stuck = Outcome(), set[str]()
        for message in messages:
            if message.stream in stuck:
                continue
            try:
                self._tell(message)
            except Exception as problem:  # whatever a subscriber raises, the fact is told again
                kind = type(problem).__name__
                LOG.warning("fact_not_told", fact=message.name, attempts=message.attempts, problem=kind)
                outcome.failed[message.order] = f"{kind}: {problem}"
                stuck.add(message.stream)
            else:
                outcome.delivered.append(message.order)
        told = set(outcome.delivered)
        outcome.announce = partial(self._announce, [message for message in messages if message.order in told])
        return outcome

    def _announce(self, told: Sequence[Message]) -> None:
        for announcer in self._announcers if told else ():
            try:
                announcer(told)
            except Exception as problem:  # pages look anew by themselves; facts must not wait for them
                LOG.error("facts_not_announced", exc_info=problem)

    def _tell(self, message: Message) -> None:
        for subscriber in self._subscribers:
            subscriber(message)
