"""One message to a webhook: what was sent, what the receiver answered, and sending it once more."""

from __future__ import annotations

import json

from flask import redirect, url_for
from werkzeug.wrappers import Response as WerkzeugResponse

from sync_server.admin.page import bp, current_organisation, page
from sync_server.admin.settings.frame import render_settings
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context
from sync_server.webhooks import queries, rules, schemas, service


@bp.get("/settings/webhooks/<webhook_id>/messages/<message_id>")
@page(Action.MANAGE_WEBHOOKS)
def webhook_message(webhook_id: str, message_id: str) -> str:
    """A message with its body, and every attempt to deliver it."""
    with parts().database.reading() as session:
        row = queries.webhook(session, current_organisation(), webhook_id)
        found = queries.message(session, current_organisation(), webhook_id, message_id)
        detail = schemas.MessageDetail.of_attempts(found, list(queries.attempts(session, found)))
    body = json.dumps(detail.body, indent=2, ensure_ascii=False)
    return render_settings("webhook_message.html", "webhooks", row=row, detail=detail, body=body, sent=found)


@bp.post("/settings/webhooks/<webhook_id>/messages/<message_id>/replay")
@page(Action.MANAGE_WEBHOOKS)
def replay_message(webhook_id: str, message_id: str) -> WerkzeugResponse:
    """Send a message once more, under the same id."""
    with parts().database.writing() as session:
        service.replay(session, current_organisation(), webhook_id, message_id, context())
    address = url_for("admin.webhook_message", webhook_id=webhook_id, message_id=message_id, done="replayed")
    return redirect(address)


@bp.post("/settings/webhooks/<webhook_id>/replay-failed")
@page(Action.MANAGE_WEBHOOKS)
def replay_failed(webhook_id: str) -> WerkzeugResponse:
    """Send everything once more that has failed and is still kept."""
    acting = context()
    with parts().database.writing() as session:
        service.replay_failed(session, current_organisation(), webhook_id, acting.now - rules.KEEP_MS, acting)
    return redirect(url_for("admin.webhook", webhook_id=webhook_id, done="replayed"))
