"""Subscribers to facts that tests look into: they remember what they got once it is committed, as tables would."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from sqlalchemy.orm import Session

from sync_server.plumbing.database import after_commit
from sync_server.plumbing.jobs import Message, Subscriber
from sync_server.plumbing.messaging.bus import Notification


def a_subscriber(received: Callable[[Message], object], *, name: str = "listener") -> Subscriber:
    """Passes on every fact whose transaction is committed."""
    return a_failing_subscriber(received, lambda _fact: None, name=name)


def a_failing_subscriber(
    received: Callable[[Message], object], attempt: Callable[[Message], None], *, name: str = "listener"
) -> Subscriber:
    """Passes on every fact whose transaction is committed; `attempt` raises where it fails."""

    def pass_on(fact: Message) -> None:
        received(fact)

    def handle(session: Session, facts: Sequence[Message]) -> Sequence[Notification]:
        for fact in facts:
            attempt(fact)
            after_commit(session, partial(pass_on, fact))
        return ()

    return Subscriber(name, lambda _fact: True, handle)
