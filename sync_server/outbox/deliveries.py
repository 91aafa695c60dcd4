"""How a batch of facts is delivered, and the possible outcomes of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from sync_server.plumbing.jobs import Announcer, Message, Subscriber
from sync_server.plumbing.logs import LOG


@dataclass(slots=True)
class Outcome:
    """The outcome of a batch, by the facts' order numbers; those in no list were not tried."""

    delivered: list[int] = field(default_factory=list)
    unrouted: list[int] = field(default_factory=list)  # accepted by the broker, but no queue was bound for them
    failed: dict[int, str] = field(default_factory=dict)
    outage: bool = False  # the receiver was unreachable, which does not count as a failed attempt
    announce: Callable[[], None] = lambda: None  # notifies announcers; left to the caller, so that nothing waits for it


class Delivery(Protocol):
    """A receiver of facts."""

    def ready(self) -> bool:
        """Whether the receiver can be reached."""
        ...

    def deliver(self, messages: Sequence[Message]) -> Outcome:
        """Deliver these in order."""
        ...


class AsyncDelivery(Delivery, Protocol):
    """A delivery that can be started and waited for later."""

    def begin(self, messages: Sequence[Message]) -> Callable[[], Outcome]:
        """Start delivering these in order; the returned function waits for the outcome."""
        ...


class LocalDelivery:
    """Delivery within the installation: to subscribers fact by fact, then to announcers by the batch."""

    def __init__(self, subscribers: Sequence[Subscriber], announcers: Sequence[Announcer] = ()) -> None:
        """All are called on the relay's thread."""
        self._subscribers, self._announcers = subscribers, announcers

    def ready(self) -> bool:
        """Always true: it is this process."""
        return True

    def deliver(self, messages: Sequence[Message]) -> Outcome:
        """Hand each fact to every subscriber; one that fails holds back later facts of its stream."""
        outcome, blocked = Outcome(), set[str]()
        for message in messages:
            if message.stream in blocked:
                continue
            try:
                self._handle(message)
            except Exception as problem:  # whatever a subscriber raises, the fact is retried
                kind = type(problem).__name__
                LOG.warning("fact_not_told", fact=message.name, attempts=message.attempts, problem=kind)
                outcome.failed[message.order] = f"{kind}: {problem}"
                blocked.add(message.stream)
            else:
                outcome.delivered.append(message.order)
        delivered = set(outcome.delivered)
        outcome.announce = partial(self._announce, [message for message in messages if message.order in delivered])
        return outcome

    def _announce(self, delivered: Sequence[Message]) -> None:
        for announcer in self._announcers if delivered else ():
            try:
                announcer(delivered)
            except Exception as problem:  # pages also refresh by themselves; facts must not wait for them
                LOG.error("facts_not_announced", exc_info=problem)

    def _handle(self, message: Message) -> None:
        for subscriber in self._subscribers:
            subscriber(message)
