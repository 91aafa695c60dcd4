"""A turn: a worker leases a webhook, posts what is due in order, and notes each attempt as soon as it is over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import case, select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import StorageError
from sync_server.plumbing.due import next_due, organisations_due
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from sync_server.webhooks import mails, queries, rules, service
from sync_server.webhooks.models import WebhookAttemptRow, WebhookMessageRow, WebhookRow
from sync_server.webhooks.rules import Attempt, PausedBecause, State

BATCH: Final = 50
_FAILURES_OF_A_TURN: Final = 2


@dataclass(slots=True)
class Turn:
    """A leased webhook, and what became of what was posted to it."""

    webhook: WebhookRow
    secrets: Sequence[str]
    began_at: Millis
    until: Millis
    delivered: int = 0
    failed: list[str] = field(default_factory=list)
    failed_streams: set[str] = field(default_factory=set)
    slowest_ms: int = 0
    wait_s: int = 0
    gone: bool = False
    lost: bool = False  # another worker has gone on

    @property
    def probing(self) -> bool:
        """Whether nobody knows yet that the receiver works again: then only its oldest message is tried."""
        return self.webhook.failures > 0 and not self.delivered

    def goes_on(self, now: Millis) -> bool:
        """Whether to post another message in this turn."""
        hopeless = len(self.failed) >= _FAILURES_OF_A_TURN and not self.delivered
        return not (self.gone or self.lost or hopeless or self.wait_s) and now < self.began_at + rules.TURN_MS

    def note(self, message: WebhookMessageRow, attempt: Attempt) -> None:
        """Count an attempt."""
        self.slowest_ms = max(self.slowest_ms, attempt.ms)
        self.gone |= attempt.status == rules.GONE
        if attempt.delivered:
            self.delivered += 1
            return
        self.wait_s = max(self.wait_s, attempt.retry_after_s or 0)
        self.failed.append(message.message_id)
        if message.failures + 1 < rules.OVERTAKEN_AFTER:
            self.failed_streams.add(message.stream)


class Turns:
    """The database's part of sending."""

    def __init__(self, parts: Parts) -> None:
        self._parts, self._database = parts, parts.database

    def next_at(self) -> Millis | None:
        """When something is due next, for any webhook."""
        row = WebhookRow
        free_and_due = case((row.leased_until > row.due_at, row.leased_until), else_=row.due_at)
        with self._database.autocommit_reading() as session:
            return next_due(session, free_and_due, row.active.is_(True), row.due_at.is_not(None))

    def lease(self, limit: int, *, slow: bool) -> list[Turn]:
        """Lease webhooks that something is due for, but those that another worker has."""
        now, turns = self._parts.clock(), list[Turn]()
        if limit <= 0:
            return turns
        due = queries.due(now, slow=slow)
        with self._database.autocommit_reading() as session:
            owners = organisations_due(session, WebhookRow.organisation_id, *due)
        for owner in owners:
            with self._database.writing() as session:
                wanted = select(WebhookRow).where(WebhookRow.organisation_id == owner, *due)
                some = wanted.order_by(WebhookRow.due_at).limit(limit - len(turns)).with_for_update(skip_locked=True)
                for row in session.scalars(some).all():
                    row.leased_until = now + rules.lease_ms(self._parts.config.webhook_seconds)
                    turns.append(Turn(row, self._secrets(row, now), now, row.leased_until))
            if len(turns) >= limit:
                break
        return turns

    def _secrets(self, row: WebhookRow, now: Millis) -> Sequence[str]:
        try:
            return service.secrets(row, self._parts.sealer, now)
        except StorageError:  # the master key is another one: an attempt says so
            return ()

    def next(self, turn: Turn) -> Sequence[WebhookMessageRow]:
        """The messages to post next."""
        now = self._parts.clock()
        if not turn.goes_on(now) or (turn.probing and turn.failed):
            return ()
        with self._database.reading() as session:
            found = queries.next_messages(session, turn.webhook, now, 2 if turn.probing else BATCH)
        # It may be the message that the receiver does not understand: then the next one shows it.
        alone = turn.probing and found and found[0].failures < rules.OVERTAKEN_AFTER
        return found[:1] if alone else found

    def note(self, turn: Turn, message: WebhookMessageRow, attempt: Attempt) -> None:
        """Note an attempt, unless another worker has tried the message meanwhile."""
        turn.note(message, attempt)
        row, number = WebhookMessageRow, message.attempts + 1
        here = row.organisation_id == message.organisation_id, row.webhook_id == message.webhook_id
        unchanged = row.message_id == message.message_id, row.attempts == message.attempts
        values = self._outcome(message, attempt) | {
            "attempts": number,
            "last_status": attempt.status,
            "last_problem": attempt.problem or "",
        }
        with self._database.writing() as session:
            noted = update(row).where(*here, *unchanged).values(values).returning(row.message_id)
            if session.execute(noted, execution_options={"synchronize_session": False}).first() is None:
                turn.lost = True
            else:
                session.add(
                    WebhookAttemptRow(
                        organisation_id=message.organisation_id,
                        webhook_id=message.webhook_id,
                        message_id=message.message_id,
                        number=number,
                        at=attempt.at,
                        ms=attempt.ms,
                        status=attempt.status,
                        problem=attempt.problem or "",
                        answer=attempt.answer,
                    )
                )

    def _outcome(self, message: WebhookMessageRow, attempt: Attempt) -> dict[str, object]:
        now, failures = self._parts.clock(), message.failures + 1
        if attempt.delivered:
            return {"state": State.DELIVERED, "failures": 0, "done_at": now}
        if failures >= rules.MAX_ATTEMPTS:
            return {"state": State.FAILED, "failures": failures, "done_at": now}
        return {"failures": failures, "due_at": now + rules.pause(failures, self._jitter())}

    def _jitter(self) -> float:
        return int.from_bytes(self._parts.entropy(2), "big") / 65536

    def end(self, turn: Turn) -> None:
        """Give the lease back, and note how the webhook does, unless the lease was lost."""
        now = self._parts.clock()
        context = ActionContext(SYSTEM, now, self._parts.entropy)
        with self._database.writing() as session:
            row = session.get(
                WebhookRow,
                (turn.webhook.organisation_id, turn.webhook.id),
                with_for_update=True,
                populate_existing=True,
            )
            if row is None or row.leased_until != turn.until:
                return
            row.leased_until = 0
            if turn.delivered or turn.failed:
                self._judge(session, row, turn, context)
            row.slow = row.failures > 0 or turn.slowest_ms > rules.SLOW_MS
            row.due_at = self._due(session, row, turn, now)

    def _judge(self, session: Session, row: WebhookRow, turn: Turn, context: ActionContext) -> None:
        if turn.delivered:
            if row.failures:
                service.hurry(session, row, context.now, but=frozenset(turn.failed))
            row.failures, row.failing_since = 0, None
        else:
            row.failures += 1
            row.failing_since = row.failing_since or turn.began_at
        long = row.failing_since is not None and context.now - row.failing_since >= rules.PAUSED_AFTER_MS
        because = PausedBecause.GONE if turn.gone else PausedBecause.FAILING if long else None
        if because is not None and row.active:
            service.pause(session, row, because, context)
            mails.tell_owners(self._parts, session, row, because, context)

    def _due(self, session: Session, row: WebhookRow, turn: Turn, now: Millis) -> Millis | None:
        session.flush()
        due_at = queries.next_due(session, row, now)
        if due_at is None:
            return None
        if row.failures:
            due_at = max(due_at, now + rules.pause(row.failures, self._jitter()))
        return max(due_at, now + min(turn.wait_s * 1000, rules.LONGEST_WISH_MS))
