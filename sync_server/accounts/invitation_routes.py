"""/api/invitations: inviting, withdrawing, accepting."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from sqlalchemy.orm import Session

from sync_server.accounts import invitations, schemas
from sync_server.accounts.models import InvitationRow
from sync_server.accounts.sign_in import mails
from sync_server.accounts.sign_in.cookies import session_response, sign_in_settings
from sync_server.mail.queries import Delivery, deliveries
from sync_server.plumbing.api.idempotency import once_in_secret
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, current_principal, maybe_principal, organisation, requires

bp = APIBlueprint("invitations", __name__, url_prefix="/api/invitations", tag="Invitations")


@bp.get("")
@requires(Action.MANAGE_MEMBERS)
@bp.output(schemas.InvitationsView)
def listing() -> schemas.InvitationsView:
    """The invitations that can still be accepted."""
    with parts().database.reading() as session:
        found = invitations.open_invitations(session, organisation(), parts().clock())
        sent = deliveries(session, organisation(), [row.mail_id for row in found if row.mail_id])
    return schemas.InvitationsView.of_all(_with_mail(row, sent.get(row.mail_id or "")) for row in found)


def _with_mail(row: InvitationRow, mail: Delivery | None) -> schemas.InvitationView:
    said = "" if mail is None else f"{mail.state} {mail.problem}".strip()
    return schemas.InvitationView.of(row, mail=said)


@bp.post("")
@requires(Action.MANAGE_MEMBERS)
@bp.input(schemas.NewInvitation)
@bp.output(schemas.InvitationMade, status_code=201)
@once_in_secret
def invite(session: Session, json_data: schemas.NewInvitation) -> schemas.InvitationMade:
    """Invite somebody by e-mail address, and replace an open invitation. They become a member when they accept."""
    wanted = json_data.model_dump()
    row, code = invitations.invite(session, organisation(), **wanted, by=current_principal(), context=context())
    if parts().config.mail_url is None:
        return schemas.InvitationMade.of(row, mail="", message=NO_MAIL.format(row=row))
    mails.send_invitation(parts(), session, row, code, context())
    return schemas.InvitationMade.of(row, mail="waiting", message=MAILED)


MAILED = "The invitation is on its way by mail. GET /api/invitations shows its state."
NO_MAIL = (
    "No mail is set up on this server. Its operator can hand over a link, which replaces this invitation: "
    "gatehouse-server invite {row.email} --role {row.role} --org SLUG"
)


@bp.delete("/<invitation_id>")
@requires(Action.MANAGE_MEMBERS)
@bp.doc(summary="Withdraw an invitation", responses={204: "Withdrawn"})
def withdraw(invitation_id: str) -> tuple[str, int]:
    """Withdraw an invitation: its link no longer works."""
    with parts().database.writing() as session:
        invitations.withdraw(session, organisation(), invitation_id, context())
    return "", 204


@bp.post("/preview")
@bp.input(schemas.InvitationCode)
@bp.output(schemas.InvitationPreview)
@bp.doc(summary="Look at an invitation")
def preview(json_data: schemas.InvitationCode) -> schemas.InvitationPreview:
    """What an invitation offers, to whoever holds its link."""
    with parts().database.reading() as session:
        return schemas.InvitationPreview.of(invitations.preview(session, json_data.code, parts().clock()))


@bp.post("/accept")
@bp.input(schemas.AcceptInvitation)
@bp.output(schemas.AcceptedView)
@bp.doc(summary="Accept an invitation", responses={200: "A member, and signed in"})
def accept(json_data: schemas.AcceptInvitation) -> Any:
    """Become a member, and sign in: sets the session cookie and returns the CSRF token."""
    wanted = json_data.model_dump()
    by, settings = maybe_principal(), sign_in_settings()
    signed_in = invitations.accept(parts().database, **wanted, by=by, settings=settings, context=context())
    return ({}, 200) if signed_in is None else session_response(signed_in)
