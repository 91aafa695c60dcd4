"""Registers, changes and pauses webhooks, renews their secrets, and replays messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict
from shared.ids import uuid7
from sync_server.accounts.service import lock_organisation
from sync_server.audit import service as audit
from sync_server.audit.service import AuditLine
from sync_server.plumbing.due import organisations_due
from sync_server.plumbing.jobs import MORE, Message
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.waking import wake
from sync_server.webhooks import queries, rules, signing
from sync_server.webhooks.enqueuing import SEND, message_row, note_due
from sync_server.webhooks.models import WebhookMessageRow, WebhookRow
from sync_server.webhooks.rules import PausedBecause, State

TEST_FACT = "webhook_tested"
"""What a test message is called: it tells of nothing that has happened."""
_BATCH = 2_000


def create(
    session: Session,
    organisation_id: str,
    fields: Mapping[str, Any],
    *,
    sealer: Sealer,
    http_allowed: bool,
    context: ActionContext,
) -> tuple[WebhookRow, str]:
    """A new webhook and its secret, which is shown once. It gets what happens from now on."""
    lock_organisation(session, organisation_id)
    if len(queries.webhooks(session, organisation_id)) >= rules.MAX_WEBHOOKS:
        raise Conflict(
            f"An organisation can have at most {rules.MAX_WEBHOOKS} webhooks. Delete one, or add facts to another.",
            code="too_many_webhooks",
        )
    id, secret = uuid7(context.now, context.entropy), signing.new_secret(context.entropy)
    row = WebhookRow(
        organisation_id=organisation_id,
        id=id,
        **_checked(fields, http_allowed=http_allowed),
        sealed_secret=sealer.seal(secret.encode(), purpose(organisation_id, id)),
        created_at=context.now,
    )
    session.add(row)
    session.flush()
    _record(session, row, "webhook.created", context, after=_shown(fields))
    return row, secret


def change(
    session: Session,
    row: WebhookRow,
    changes: Mapping[str, Any],
    *,
    http_allowed: bool,
    context: ActionContext,
) -> WebhookRow:
    """Change, pause or resume a webhook that is locked; what waited during a pause, or for another address, is due."""
    before = {name: getattr(row, name) for name in changes}
    for name, value in _checked(changes, http_allowed=http_allowed).items():
        setattr(row, name, value)
    if not row.active and before.get("active"):
        row.paused_because, row.paused_at = PausedBecause.OWNER, context.now
    if row.active and (before.get("active") is False or "url" in changes):
        _resume(session, row, context.now)
    session.flush()
    _record(session, row, "webhook.changed", context, before=_shown(before), after=_shown(changes))
    return row


def _checked(fields: Mapping[str, Any], *, http_allowed: bool) -> dict[str, Any]:
    checked = dict(fields)
    if "url" in fields:
        checked["url"] = rules.check_url(fields["url"], http_allowed=http_allowed)
    if "facts" in fields:
        rules.check_facts(fields["facts"])
        checked["facts"] = sorted(set(fields["facts"]))
    return checked


def _shown(fields: Mapping[str, Any]) -> dict[str, Any]:
    """As the audit log shows it: the path of an address may be a secret of its receiver."""
    return {name: urlsplit(value).hostname if name == "url" else value for name, value in fields.items()}


def _resume(session: Session, row: WebhookRow, now: Millis) -> None:
    row.paused_because, row.paused_at, row.failures, row.failing_since, row.slow = "", None, 0, None, False
    hurry(session, row, now)
    row.due_at = queries.next_due(session, row, now)
    wake(session, SEND)


def hurry(session: Session, row: WebhookRow, now: Millis, *, but: frozenset[str] = frozenset()) -> None:
    """Let messages that wait after failures be due now: what hindered them is over."""
    message = WebhookMessageRow
    here = message.organisation_id == row.organisation_id, message.webhook_id == row.id
    late = message.state == State.WAITING, message.failures > 0, message.due_at > now, message.message_id.not_in(but)
    session.execute(
        update(message).where(*here, *late).values(due_at=now), execution_options={"synchronize_session": False}
    )


def pause(session: Session, row: WebhookRow, because: PausedBecause, context: ActionContext) -> None:
    """Pause a webhook by itself; what happens meanwhile waits for it."""
    row.active, row.paused_because, row.paused_at = False, because, context.now
    _record(
        session, row, "webhook.paused", context, before={"active": True}, after={"active": False, "because": because}
    )


def remove(session: Session, organisation_id: str, webhook_id: str, context: ActionContext) -> None:
    """Delete a webhook with its messages."""
    row = queries.webhook(session, organisation_id, webhook_id, lock=True)
    session.delete(row)
    session.flush()
    _record(session, row, "webhook.deleted", context, before=_shown({"url": row.url, "facts": row.facts}))


def renew_secret(
    session: Session,
    organisation_id: str,
    webhook_id: str,
    *,
    overlap_hours: int,
    sealer: Sealer,
    context: ActionContext,
) -> tuple[WebhookRow, str]:
    """Another secret, shown once; the one until now signs too for these hours."""
    row = queries.webhook(session, organisation_id, webhook_id, lock=True)
    secret = signing.new_secret(context.entropy)
    row.sealed_old_secret = row.sealed_secret if overlap_hours else None
    row.old_secret_until = context.now + overlap_hours * rules.HOUR if overlap_hours else None
    row.sealed_secret = sealer.seal(secret.encode(), purpose(organisation_id, webhook_id))
    session.flush()
    _record(session, row, "webhook.secret_renewed", context, after={"overlap_hours": overlap_hours})
    return row, secret


def secrets(row: WebhookRow, sealer: Sealer, now: Millis) -> list[str]:
    """The secrets that sign now, the newest first; StorageError with another master key."""
    sealed = [row.sealed_secret]
    if row.sealed_old_secret is not None and now < (row.old_secret_until or 0):
        sealed.append(row.sealed_old_secret)
    return [sealer.open(one, purpose(row.organisation_id, row.id)).decode() for one in sealed]


def purpose(organisation_id: str, webhook_id: str) -> str:
    """What a secret is sealed for."""
    return f"webhook {organisation_id} {webhook_id}"


def send_test(session: Session, organisation_id: str, webhook_id: str, context: ActionContext) -> WebhookMessageRow:
    """Queue a message that tells of nothing, to see whether it arrives."""
    row = _sending(session, organisation_id, webhook_id)
    id = uuid7(context.now, context.entropy)
    test = Message(id, TEST_FACT, organisation_id, context.now, {"webhook": webhook_id}, {}, 1, stream=f"test:{id}")
    message = WebhookMessageRow(**message_row(test, webhook_id, context.now))
    session.add(message)
    session.flush()
    _due_now(session, row, context.now)
    return message


def replay(
    session: Session, organisation_id: str, webhook_id: str, message_id: str, context: ActionContext
) -> WebhookMessageRow:
    """Send a message once more, whatever became of it: under the same id, with the same bytes."""
    row = _sending(session, organisation_id, webhook_id)
    message = queries.message(session, organisation_id, webhook_id, message_id)
    message.state, message.failures, message.due_at, message.done_at = State.WAITING, 0, context.now, None
    session.flush()
    _due_now(session, row, context.now)
    _record(session, row, "webhook.replayed", context, after={"messages": 1})
    return message


def replay_failed(
    session: Session, organisation_id: str, webhook_id: str, since: Millis, context: ActionContext
) -> int:
    """Send all messages once more that have failed, of what happened since then; returns how many."""
    row = _sending(session, organisation_id, webhook_id)
    message = WebhookMessageRow
    here = message.organisation_id == organisation_id, message.webhook_id == webhook_id
    failed = message.state == State.FAILED, message.created_at >= since
    values = {"state": State.WAITING, "failures": 0, "due_at": context.now, "done_at": None}
    again = update(message).where(*here, *failed).values(values).returning(message.message_id)
    count = len(session.execute(again, execution_options={"synchronize_session": False}).all())
    if count:
        _due_now(session, row, context.now)
        _record(session, row, "webhook.replayed", context, after={"messages": count})
    return count


def _sending(session: Session, organisation_id: str, webhook_id: str) -> WebhookRow:
    row = queries.webhook(session, organisation_id, webhook_id, lock=True)
    if not row.active:
        raise Conflict(
            "This webhook is paused: nothing is sent to it. Resume it first, with `active`: true.",
            code="webhook_paused",
        )
    return row


def _due_now(session: Session, row: WebhookRow, now: Millis) -> None:
    """Somebody waits for it: a pause after failures is over."""
    row.due_at = now
    session.flush()
    note_due(session, row.organisation_id, [row.id], now)


def delete_old(session: Session, context: ActionContext) -> object:
    """Job: delete an organisation's messages after two weeks; MORE while there may be others."""
    row = WebhookMessageRow
    old = row.created_at < context.now - rules.KEEP_MS
    for organisation_id in organisations_due(session, row.organisation_id, old):
        some = select(row.webhook_id, row.message_id).where(row.organisation_id == organisation_id, old).limit(_BATCH)
        ids = [message_id for _, message_id in session.execute(some)]
        session.execute(
            delete(row).where(row.organisation_id == organisation_id, row.message_id.in_(ids), old),
            execution_options={"synchronize_session": False},
        )
        return MORE
    return None


def _record(
    session: Session,
    row: WebhookRow,
    action: str,
    context: ActionContext,
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    audit.record(session, AuditLine(context, action, "webhook", row.id, row.organisation_id, before, after))
