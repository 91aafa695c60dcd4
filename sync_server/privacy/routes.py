"""/api/people: what is stored about a person, exported and erased."""

from __future__ import annotations

import json

from apiflask import APIBlueprint
from flask import Response

from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, organisation, requires
from sync_server.privacy import erasing, export, schemas

bp = APIBlueprint("privacy", __name__, url_prefix="/api/people", tag="People")


@bp.post("/export")
@requires(Action.MANAGE_RECORDS)
@bp.input(schemas.PersonNamed)
@bp.output(schemas.Exported)
def export_person(json_data: schemas.PersonNamed) -> Response:
    """Export everything that the organisation stores about a person, as one JSON object."""
    with parts().database.writing() as session:
        found = export.export(session, organisation(), json_data.wanted(), parts().sealer, context())
    headers = {"Content-Disposition": 'attachment; filename="person.json"', "Cache-Control": "no-store"}
    return Response(json.dumps(found, ensure_ascii=False), content_type="application/json", headers=headers)


@bp.post("/erase")
@requires(Action.MANAGE_RECORDS)
@bp.input(schemas.PersonToErase)
@bp.output(schemas.Erased)
def erase_person(json_data: schemas.PersonToErase) -> schemas.Erased:
    """Erase a person's names and addresses wherever they stand; tickets, sales and scans stay without them."""
    erased = erasing.erase(
        parts().database,
        organisation(),
        json_data.wanted(),
        parts().sealer,
        context(),
        reason=json_data.reason,
    )
    return schemas.Erased(erased=erased)
