"""/api/keys: the keys that sign tickets."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from sqlalchemy.orm import Session

from sync_server.plumbing.api.idempotency import once
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, organisation, requires
from sync_server.tickets import ticket_counts
from sync_server.tickets.endpoints import key_schemas
from sync_server.tickets.keys import signing_keys
from sync_server.tickets.schemas import TicketReason

bp = APIBlueprint("keys", __name__, url_prefix="/keys", tag="Keys")


@bp.get("")
@requires(Action.MANAGE_KEYS)
@bp.output(key_schemas.KeysView)
def listing() -> key_schemas.KeysView:
    """List the organisation's signing keys."""
    with parts().database.reading() as session:
        tickets = ticket_counts.signed_by_keys(session, organisation())
        keys = signing_keys.keys(session, organisation())
    return key_schemas.KeysView(items=[key_schemas.KeyView.of(row, tickets=tickets.get(row.id, 0)) for row in keys])


@bp.post("/rotate")
@requires(Action.MANAGE_KEYS)
@bp.input(key_schemas.RotateKey)
@bp.output(key_schemas.KeyView, status_code=201)
@once
def rotate(session: Session, json_data: key_schemas.RotateKey) -> key_schemas.KeyView:
    """Create a new key; it signs at once, or after a day in which gates fetch it."""
    row = signing_keys.rotate(session, organisation(), parts().sealer, context(), at_once=json_data.at_once)
    return _view(session, row)


@bp.post("/<int:key_id>/distrust")
@requires(Action.MANAGE_KEYS)
@bp.input(TicketReason)
@bp.output(key_schemas.KeyView)
def distrust(key_id: int, json_data: TicketReason) -> key_schemas.KeyView:
    """Mark a key as possibly leaked: gates then admit only tickets in their snapshots."""
    with parts().database.writing() as session:
        row = signing_keys.distrust(session, organisation(), key_id, context(), reason=json_data.reason)
        return _view(session, row)


@bp.post("/<int:key_id>/revoke")
@requires(Action.MANAGE_KEYS)
@bp.input(key_schemas.RevokeKey)
@bp.output(key_schemas.KeyView)
def revoke(key_id: int, json_data: key_schemas.RevokeKey) -> key_schemas.KeyView:
    """Invalidate every ticket that a key signed; `kills` confirms their number."""
    with parts().database.writing() as session:
        kills = -1 if json_data.kills is None else json_data.kills
        row = signing_keys.revoke(session, organisation(), key_id, context(), kills=kills, reason=json_data.reason)
        return _view(session, row)


def _view(session: Session, row: Any) -> key_schemas.KeyView:
    return key_schemas.KeyView.of(row, tickets=ticket_counts.signed_by(session, row.organisation_id, row.id))
