"""/api/password: choosing the password of one's own login."""

from __future__ import annotations

from apiflask import APIBlueprint

from sync_server.accounts import mails, password_links, schemas
from sync_server.plumbing.parts import parts
from sync_server.plumbing.web import context

bp = APIBlueprint("logins", __name__, url_prefix="/api", tag="Passwords")


@bp.post("/password/link")
@bp.input(schemas.AskForPasswordLink)
@bp.output(schemas.Said, status_code=202)
@bp.doc(summary="Ask for a link to choose a new password")
def ask_for_link(json_data: schemas.AskForPasswordLink) -> schemas.Said:
    """Mail a link to this address, if it has a login; the response does not tell."""
    return schemas.Said(message=mails.ask_for_password_link(parts(), json_data.email, context()))


@bp.post("/password/by-link")
@bp.input(schemas.PasswordByLink)
@bp.doc(summary="Choose a password by a link", responses={204: "Chosen"})
def choose_by_link(json_data: schemas.PasswordByLink) -> tuple[str, int]:
    """Choose a password with the code of a link: signs out everywhere."""
    with parts().database.writing() as session:
        password_links.use(session, json_data.code, json_data.password, context())
    return "", 204
