"""/api/keys: the keys that sign tickets."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from sqlalchemy.orm import Session

from sync_server.plumbing.once import once
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import deed, organisation, requires
from sync_server.tickets import schemas, signing

bp = APIBlueprint("keys", __name__, url_prefix="/keys", tag="Keys")


@bp.get("")
@requires(Action.MANAGE_KEYS)
@bp.output(schemas.KeysView)
def listing() -> schemas.KeysView:
    """List the organisation's signing keys."""
    with parts().database.reading() as session:
        return schemas.KeysView(items=[_view(session, row) for row in signing.keys(session, organisation())])


@bp.post("/rotate")
@requires(Action.MANAGE_KEYS)
@bp.input(schemas.RotateKey)
@bp.output(schemas.KeyView, status_code=201)
def rotate(json_data: schemas.RotateKey) -> Response:
    """Make a new key; it signs at once, or after a day in which gates hear of it."""

    def write(session: Session) -> dict[str, Any]:
        row = signing.rotate(session, organisation(), parts().sealer, deed(), at_once=json_data.at_once)
        return _view(session, row).model_dump(mode="json")

    return once(write)


@bp.post("/<int:key_id>/distrust")
@requires(Action.MANAGE_KEYS)
@bp.input(schemas.TicketWhy)
@bp.output(schemas.KeyView)
def distrust(key_id: int, json_data: schemas.TicketWhy) -> schemas.KeyView:
    """Say that a key may have leaked: only tickets that gates know are good from now on."""
    with parts().database.writing() as session:
        row = signing.distrust(session, organisation(), key_id, deed(), reason=json_data.reason)
        return _view(session, row)


@bp.post("/<int:key_id>/revoke")
@requires(Action.MANAGE_KEYS)
@bp.input(schemas.RevokeKey)
@bp.output(schemas.KeyView)
def revoke(key_id: int, json_data: schemas.RevokeKey) -> schemas.KeyView:
    """Let nothing that this key signed be good; repeat with the number of tickets that kills."""
    with parts().database.writing() as session:
        kills = -1 if json_data.kills is None else json_data.kills
        row = signing.revoke(session, organisation(), key_id, deed(), kills=kills, reason=json_data.reason)
        return _view(session, row)


def _view(session: Session, row: Any) -> schemas.KeyView:
    return schemas.KeyView.of(row, signing.signed_by(session, row.id))
