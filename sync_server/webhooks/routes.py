"""/api/webhooks: addresses that get an organisation's facts, and the log of what was delivered to them."""

from __future__ import annotations

from apiflask import APIBlueprint
from sqlalchemy.orm import Session

from sync_server.plumbing.api.edits import check_unchanged, tagged
from sync_server.plumbing.api.idempotency import once, once_in_secret
from sync_server.plumbing.api.pagination import AnId, decode_cursor, paginate
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, organisation, requires
from sync_server.webhooks import queries, schemas, service
from sync_server.webhooks.models import WebhookRow

bp = APIBlueprint("webhooks", __name__, url_prefix="/api/webhooks", tag="Webhooks")


@bp.post("")
@requires(Action.MANAGE_WEBHOOKS)
@bp.input(schemas.NewWebhook)
@bp.output(schemas.WebhookWithSecret, status_code=201)
@once_in_secret
def create(session: Session, json_data: schemas.NewWebhook) -> schemas.WebhookWithSecret:
    """Register an address that gets facts from now on. The secret that signs them is only in this response."""
    fields, http_allowed = json_data.model_dump(), parts().config.webhook_http
    row, secret = service.create(
        session, organisation(), fields, sealer=parts().sealer, http_allowed=http_allowed, context=context()
    )
    return schemas.WebhookWithSecret.of(row, secret=secret, waiting=0)


@bp.get("")
@requires(Action.MANAGE_WEBHOOKS)
@bp.output(schemas.WebhooksView)
def listing() -> schemas.WebhooksView:
    """List the organisation's webhooks and how each does."""
    with parts().database.reading() as session:
        rows = queries.webhooks(session, organisation())
        waiting = queries.waiting_counts(session, organisation())
    items = [schemas.WebhookView.of(row, waiting=waiting.get(row.id, 0)) for row in rows]
    return schemas.WebhooksView(items=items)


@bp.get("/<webhook_id>")
@requires(Action.MANAGE_WEBHOOKS)
@bp.output(schemas.WebhookView)
def show(webhook_id: str) -> schemas.WebhookView:
    """Show a webhook and how it does."""
    with parts().database.reading() as session:
        return tagged(_view(session, queries.webhook(session, organisation(), webhook_id)))


def _view(session: Session, row: WebhookRow) -> schemas.WebhookView:
    waiting = queries.waiting_counts(session, row.organisation_id)
    return schemas.WebhookView.of(row, waiting=waiting.get(row.id, 0))


@bp.patch("/<webhook_id>")
@requires(Action.MANAGE_WEBHOOKS)
@bp.input(schemas.ChangeWebhook)
@bp.output(schemas.WebhookView)
def change(webhook_id: str, json_data: schemas.ChangeWebhook) -> schemas.WebhookView:
    """Change, pause or resume a webhook; what happened during a pause is sent when it is resumed."""
    with parts().database.writing() as session:
        row = queries.webhook(session, organisation(), webhook_id, lock=True)
        check_unchanged(lambda: _view(session, row))
        http_allowed = parts().config.webhook_http
        service.change(session, row, json_data.changes(), http_allowed=http_allowed, context=context())
        return tagged(_view(session, row))


@bp.delete("/<webhook_id>")
@requires(Action.MANAGE_WEBHOOKS)
@bp.doc(summary="Delete a webhook", responses={204: "Deleted"})
def delete(webhook_id: str) -> tuple[str, int]:
    """Delete a webhook with its log; what waits for it is not sent."""
    with parts().database.writing() as session:
        service.remove(session, organisation(), webhook_id, context())
    return "", 204


@bp.post("/<webhook_id>/secret")
@requires(Action.MANAGE_WEBHOOKS)
@bp.input(schemas.RenewSecret)
@bp.output(schemas.WebhookWithSecret, status_code=201)
@once_in_secret
def renew_secret(session: Session, webhook_id: str, json_data: schemas.RenewSecret) -> schemas.WebhookWithSecret:
    """Make another secret; both sign until the overlap is over. The new one is only in this response."""
    row, secret = service.renew_secret(
        session,
        organisation(),
        webhook_id,
        overlap_hours=json_data.overlap_hours,
        sealer=parts().sealer,
        context=context(),
    )
    return schemas.WebhookWithSecret.of(row, secret=secret, waiting=_view(session, row).waiting)


@bp.post("/<webhook_id>/test")
@requires(Action.MANAGE_WEBHOOKS)
@bp.output(schemas.MessageView, status_code=201)
@once
def send_test(session: Session, webhook_id: str) -> schemas.MessageView:
    """Send a test message, `webhook_tested`; its log shows within seconds whether it arrived."""
    return schemas.MessageView.of_message(service.send_test(session, organisation(), webhook_id, context()))


@bp.get("/<webhook_id>/messages")
@requires(Action.MANAGE_WEBHOOKS)
@bp.input(schemas.MessagesQuery, location="query")
@bp.output(schemas.MessagesView)
def messages(webhook_id: str, query_data: schemas.MessagesQuery) -> schemas.MessagesView:
    """List the messages to a webhook, newest first."""
    before = decode_cursor(query_data.after, AnId)
    with parts().database.reading() as session:
        queries.webhook(session, organisation(), webhook_id)
        rows = queries.messages(
            session,
            organisation(),
            webhook_id,
            query_data.state,
            before=before[0] if before else None,
            limit=query_data.limit,
        )
    page = paginate(rows, query_data.limit, lambda row: [row.message_id])
    return schemas.MessagesView(items=[schemas.MessageView.of_message(row) for row in page.items], next=page.next)


@bp.get("/<webhook_id>/messages/<message_id>")
@requires(Action.MANAGE_WEBHOOKS)
@bp.output(schemas.MessageDetail)
def message(webhook_id: str, message_id: str) -> schemas.MessageDetail:
    """Show a message with its body and every attempt to deliver it."""
    with parts().database.reading() as session:
        row = queries.message(session, organisation(), webhook_id, message_id)
        return schemas.MessageDetail.of_attempts(row, list(queries.attempts(session, row)))


@bp.post("/<webhook_id>/messages/<message_id>/replay")
@requires(Action.MANAGE_WEBHOOKS)
@bp.output(schemas.MessageView)
def replay(webhook_id: str, message_id: str) -> schemas.MessageView:
    """Send a message once more, under the same id; receivers that have seen it skip it."""
    with parts().database.writing() as session:
        return schemas.MessageView.of_message(
            service.replay(session, organisation(), webhook_id, message_id, context())
        )


@bp.post("/<webhook_id>/replay")
@requires(Action.MANAGE_WEBHOOKS)
@bp.input(schemas.ReplayFailed)
@bp.output(schemas.Replayed)
def replay_failed(webhook_id: str, json_data: schemas.ReplayFailed) -> schemas.Replayed:
    """Send all messages once more that have failed, of what happened since a time."""
    with parts().database.writing() as session:
        count = service.replay_failed(session, organisation(), webhook_id, json_data.since, context())
        return schemas.Replayed(replayed=count)
