"""/api/o/{slug}/account/export and …/erasure: customers see and erase what is stored about them."""

from __future__ import annotations

import json

from apiflask import APIBlueprint
from flask import Response, request

from shared.errors import InvalidRequest
from sync_server.customers import browsers, rules
from sync_server.customers.browsers import for_customer
from sync_server.customers.logins import passwords
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Principal
from sync_server.plumbing.web import context
from sync_server.privacy import own, schemas

bp = APIBlueprint("own_data", __name__, url_prefix="/api/o/<slug>/account", tag="Customers")


@bp.after_request
def no_store(response: Response) -> Response:
    """What is said here is about one person: nothing may be cached."""
    response.headers["Cache-Control"] = "no-store"
    return response


@bp.post("/export")
@for_customer
@bp.output(schemas.Exported)
@bp.doc(summary="Export your data", responses={200: "Everything about you"})
def export(by: Principal) -> Response:
    """Everything that the organiser stores about the customer, as one JSON object; nothing about other people."""
    with parts().database.writing() as session:
        found = own.export_own(session, by, parts().sealer, context())
    headers = {"Content-Disposition": 'attachment; filename="my-data.json"'}
    return Response(json.dumps(found, ensure_ascii=False), content_type="application/json", headers=headers)


@bp.get("/erasure")
@for_customer
@bp.output(schemas.ErasurePreview)
@bp.doc(summary="Show what erasing your data means")
def preview(by: Principal) -> schemas.ErasurePreview:
    """What goes and what stays, how many tickets are still to be used, and which orders stand against it."""
    with parts().database.reading() as session:
        found = own.preview(session, by)
    return schemas.ErasurePreview.of(found, kept=schemas.kept_views(own.KEPT))


@bp.post("/erasure")
@for_customer
@bp.input(schemas.EraseOwn)
@bp.output(schemas.OwnErased)
@bp.doc(summary="Erase your data", responses={200: "Erased, and signed out", 409: "An order is not paid yet"})
def erase(by: Principal, json_data: schemas.EraseOwn) -> Response:
    """Erase name and address of the customer, and the login. Tickets stay valid, but nobody can be told of changes.

    Within 15 minutes after signing in by a link, or with the current password.
    """
    passwords.prove(parts().database, by, json_data.current_password, context())
    with parts().database.reading() as session:
        address = own.preview(session, by).email
    if json_data.email.casefold() != address:
        raise InvalidRequest("email: type the address of this login, to confirm.", field="email", code="not_confirmed")
    erased = own.erase_own(parts().database, by, parts().sealer, context())
    view = schemas.OwnErased(erased=erased, kept=schemas.kept_views(own.KEPT))
    response = Response(view.model_dump_json(), content_type="application/json")
    slug = str((request.view_args or {})["slug"])
    browsers.forget(response, rules.customer_cookie_name(slug), rules.cookie_name(slug))
    return response
