"""The mail to an organisation's owners when the server has paused one of their webhooks."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from sqlalchemy.orm import Session

from sync_server.accounts import queries as accounts
from sync_server.mail import service as mail
from sync_server.mail.letters import Letter
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.webhooks import rules
from sync_server.webhooks.models import WebhookRow
from sync_server.webhooks.rules import PausedBecause

_ENDS_MS: Final = 3 * rules.DAY


def tell_owners(
    parts: Parts, session: Session, row: WebhookRow, because: PausedBecause, context: ActionContext
) -> None:
    """Write to each owner, if a mail server is set up. The address' path stays out: it may be a secret."""
    if parts.config.mail_url is None:
        return
    organisation = accounts.organisation(session, row.organisation_id)
    values = {
        "organisation": organisation.name,
        "host": urlsplit(row.url).hostname,
        "description": row.description,
        "webhook": row.id,
        "because": because.value,
        "days": rules.PAUSED_AFTER_MS // rules.DAY,
        "kept": rules.KEEP_MS // rules.DAY,
    }
    ends_at = context.now + _ENDS_MS
    for member in accounts.members(session, row.organisation_id):
        if member.role == "owner" and member.active:
            letter = Letter("webhook_paused", member.email, values, organisation.language)
            mail.post(session, letter, parts.sealer, context, ends_at=ends_at, organisation_id=row.organisation_id)
