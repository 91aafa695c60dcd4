"""Reads of webhooks: which there are, what waits for them, and what became of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from shared.ids import UNKNOWN_ID
from sync_server.webhooks import rules
from sync_server.webhooks.models import WebhookAttemptRow, WebhookMessageRow, WebhookRow
from sync_server.webhooks.rules import State

Wanting = tuple[str, list[str]]
"""The id of a webhook, and the facts that it wants."""

_PAUSED_BY_ITSELF = WebhookRow.paused_because.in_([rules.PausedBecause.GONE, rules.PausedBecause.FAILING])


def webhook(session: Session, organisation_id: str, webhook_id: str, *, lock: bool = False) -> WebhookRow:
    """A webhook of an organisation, or NotFound."""
    key = organisation_id, webhook_id
    row = session.get(WebhookRow, key, with_for_update=lock or None, populate_existing=lock)
    if row is None:
        raise NotFound("There is no such webhook.", code="webhook_not_found")
    return row


def webhooks(session: Session, organisation_id: str) -> Sequence[WebhookRow]:
    """The webhooks of an organisation, oldest first."""
    return session.scalars(
        select(WebhookRow).where(WebhookRow.organisation_id == organisation_id).order_by(WebhookRow.id)
    ).all()


def of_organisations(session: Session, organisation_ids: Collection[str]) -> Mapping[str, Sequence[Wanting]]:
    """By organisation, each webhook and the facts that it wants."""
    found: dict[str, list[Wanting]] = defaultdict(list)
    query = select(WebhookRow.organisation_id, WebhookRow.id, WebhookRow.facts)
    for owner, id, facts in session.execute(query.where(WebhookRow.organisation_id.in_(organisation_ids))):
        found[owner].append((id, facts))
    return found


def due(now: Millis, *, slow: bool) -> tuple[ColumnElement[bool], ...]:
    """The condition of webhooks that something is to be posted to now: of the slow ones, or of the others."""
    row = WebhookRow
    return row.due_at <= now, row.active.is_(True), row.leased_until <= now, row.slow.is_(slow)


def waiting_counts(session: Session, organisation_id: str) -> dict[str, int]:
    """How many messages wait for each webhook of an organisation."""
    row = WebhookMessageRow
    counted = select(row.webhook_id, func.count()).where(
        row.organisation_id == organisation_id, row.state == State.WAITING
    )
    return {found[0]: found[1] for found in session.execute(counted.group_by(row.webhook_id))}


def _of(organisation_id: str, webhook_id: str) -> tuple[ColumnElement[bool], ...]:
    return WebhookMessageRow.organisation_id == organisation_id, WebhookMessageRow.webhook_id == webhook_id


def next_messages(session: Session, hook: WebhookRow, now: Millis, limit: int) -> Sequence[WebhookMessageRow]:
    """The next messages that are due, in order, without those that wait for an earlier one about the same event."""
    row = WebhookMessageRow
    here = *_of(hook.organisation_id, hook.id), row.state == State.WAITING
    query = select(row).where(*here, row.due_at <= now, row.stream.not_in(held_streams(session, hook, now)))
    return session.scalars(query.order_by(row.position, row.message_id).limit(limit)).all()


def held_streams(session: Session, hook: WebhookRow, now: Millis) -> Sequence[str]:
    """The streams whose first message has just failed and is not due again: later ones do not overtake it yet."""
    row = WebhookMessageRow
    here = *_of(hook.organisation_id, hook.id), row.state == State.WAITING
    failing = row.failures > 0, row.failures < rules.OVERTAKEN_AFTER, row.due_at > now
    return session.scalars(select(row.stream).where(*here, *failing).distinct()).all()


def next_due(session: Session, hook: WebhookRow, now: Millis) -> Millis | None:
    """When something is due next; None where nothing waits."""
    if next_messages(session, hook, now, 1):
        return now
    here = *_of(hook.organisation_id, hook.id), WebhookMessageRow.state == State.WAITING
    later = *here, WebhookMessageRow.failures > 0, WebhookMessageRow.due_at > now
    return session.execute(select(func.min(WebhookMessageRow.due_at)).where(*later)).scalar_one()


def messages(
    session: Session, organisation_id: str, webhook_id: str, state: State | None, *, before: str | None, limit: int
) -> Sequence[WebhookMessageRow]:
    """Messages to a webhook, newest first, and one more than asked for."""
    row = WebhookMessageRow
    query = select(row).where(*_of(organisation_id, webhook_id), row.message_id < (before or UNKNOWN_ID))
    if state is not None:
        query = query.where(row.state == state)
    return session.scalars(query.order_by(row.message_id.desc()).limit(limit + 1)).all()


def message(session: Session, organisation_id: str, webhook_id: str, message_id: str) -> WebhookMessageRow:
    """A message to a webhook, or NotFound."""
    row = session.get(WebhookMessageRow, (organisation_id, webhook_id, message_id))
    if row is None:
        raise NotFound(
            f"There is no such message; they are kept for {rules.KEEP_MS // rules.DAY} days.", code="message_not_found"
        )
    return row


def attempts(session: Session, message: WebhookMessageRow) -> Sequence[WebhookAttemptRow]:
    """The attempts to deliver a message, in order."""
    row = WebhookAttemptRow
    here = row.organisation_id == message.organisation_id, row.webhook_id == message.webhook_id
    query = select(row).where(*here, row.message_id == message.message_id)
    return session.scalars(query.order_by(row.number)).all()


def paused_by_themselves(session: Session, organisation_id: str | None = None) -> Sequence[tuple[str, int, Millis]]:
    """Organisations with webhooks that the server has paused: how many, and since when."""
    row = WebhookRow
    query = select(row.organisation_id, func.count(), func.min(row.paused_at)).where(_PAUSED_BY_ITSELF)
    if organisation_id is not None:
        query = query.where(row.organisation_id == organisation_id)
    return [(owner, count, since or 0) for owner, count, since in session.execute(query.group_by(row.organisation_id))]


def count_waiting(session: Session) -> int:
    """How many messages of all organisations wait for a webhook that is not paused."""
    hook, row = WebhookRow, WebhookMessageRow
    same = row.organisation_id == hook.organisation_id, row.webhook_id == hook.id
    query = select(func.count()).select_from(hook).join(row, same[0] & same[1])
    return session.execute(query.where(hook.active.is_(True), row.state == State.WAITING)).scalar_one()
