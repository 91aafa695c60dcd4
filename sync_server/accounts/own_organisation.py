"""/api/organisation: the name of an organisation, and the language of its mails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from apiflask import APIBlueprint
from pydantic import Field
from sqlalchemy.orm import Session

from shared.errors import InvalidRequest
from sync_server.accounts import queries
from sync_server.accounts.queries import Organisation
from sync_server.accounts.service import lock_organisation
from sync_server.audit.service import AuditLine, record
from sync_server.mail.letters import languages
from sync_server.plumbing.api.edits import EditedView, check_unchanged, tagged
from sync_server.plumbing.api.schemas import Name, PatchBody
from sync_server.plumbing.language.text import as_shown
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action, ActionContext
from sync_server.plumbing.sql import writes
from sync_server.plumbing.web import context, organisation, requires

bp = APIBlueprint("own_organisation", __name__, url_prefix="/api", tag="Organisation")


class ChangeOrganisation(PatchBody):
    """Changes to the organisation. Its slug and currency never change: links and prices hold them."""

    name: Name | None = None
    language: Annotated[str, Field(min_length=2, max_length=8)] | None = None


class OwnOrganisationView(EditedView):
    """The organisation as its members see it."""

    id: str
    slug: str
    name: str
    currency: str
    language: str


@bp.get("/organisation")
@requires(Action.READ)
@bp.output(OwnOrganisationView)
def show() -> OwnOrganisationView:
    """Show the organisation."""
    with parts().database.reading() as session:
        return tagged(OwnOrganisationView.of(queries.organisation(session, organisation())))


@bp.patch("/organisation")
@requires(Action.MANAGE_MEMBERS)
@bp.input(ChangeOrganisation)
@bp.output(OwnOrganisationView)
def change(json_data: ChangeOrganisation) -> OwnOrganisationView:
    """Change the name of the organisation, or the language of its mails."""
    with parts().database.writing() as session:
        check_unchanged(lambda: OwnOrganisationView.of(lock_organisation(session, organisation())))
        row = change_organisation(session, organisation(), json_data.changes(), context())
        return tagged(OwnOrganisationView.of(row))


def change_organisation(
    session: Session, organisation_id: str, changes: Mapping[str, Any], context: ActionContext
) -> Organisation:
    """Change name and language; InvalidRequest for a language that no mail is written in."""
    row = lock_organisation(session, organisation_id)
    values = {**changes, **({"name": as_shown(changes["name"]).strip()} if "name" in changes else {})}
    if not values.get("name", row.name):
        raise InvalidRequest("An organisation needs a name.", field="name")
    if values.get("language", row.language) not in languages():
        raise InvalidRequest(f"Mails can be written in: {', '.join(sorted(languages()))}.", field="language")
    before = writes.change(row, values)
    session.flush()
    subject = "organisation", organisation_id, organisation_id
    record(session, AuditLine(context, "organisation.changed", *subject, before, values))
    return row
