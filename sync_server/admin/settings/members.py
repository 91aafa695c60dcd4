"""Who belongs to the organisation: members and their roles, and invitations that wait."""

from __future__ import annotations

from flask import redirect, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import GatehouseError
from sync_server.accounts import invitations, members, rules, staff_access
from sync_server.accounts import queries as accounts
from sync_server.accounts.sign_in import mails
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page
from sync_server.admin.settings.frame import Page, render_settings
from sync_server.mail.queries import deliveries
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, current_principal

_MANAGE = Action.MANAGE_MEMBERS


@bp.get("/settings/members")
@page(_MANAGE)
def members_page() -> str:
    """The members with what an owner should know of their logins, and the invitations that wait."""
    return _list_page()


def _list_page(**shown: object) -> str:
    with parts().database.reading() as session:
        people = staff_access.members_with_access(session, current_organisation())
        waiting = invitations.open_invitations(session, current_organisation(), parts().clock())
        sent = deliveries(session, current_organisation(), [row.mail_id for row in waiting if row.mail_id])
    without = sum(not (one.second_factor or one.passkeys) for one in people)
    listed = {"people": people, "waiting": waiting, "sent": sent, "without": without, "roles": _roles()}
    return render_settings("members.html", "members", **listed, **shown)


def _roles() -> list[str]:
    """The roles that this person may give."""
    return [role for role in rules.ROLES if rules.may_give_role(current_principal(), role, None)]


@bp.post("/settings/members/invite")
@page(_MANAGE)
def invite() -> Page:
    """Invite somebody by mail; without mail the operator hands over the link."""
    email, role = forms.text("email", 254), request.form.get("role", "")
    try:
        with parts().database.writing() as session:
            by_operator = _invite(session, email, role)
    except GatehouseError as error:
        return _list_page(problems=forms.problems_of(error), email=email, role=role), error.status
    if by_operator:
        return _list_page(by_operator=by_operator)
    return redirect(url_for("admin.members_page", done="invited"))


def _invite(session: Session, email: str, role: str) -> dict[str, str]:
    """Mail the link; without mail, what its operator must be asked for.

    Whoever invites never sees the link: with it they could make a login under an address that is not theirs.
    """
    by = current_principal()
    row, code = invitations.invite(session, current_organisation(), email=email, role=role, by=by, context=context())
    if parts().config.mail_url is None:
        slug = accounts.organisation(session, current_organisation()).slug
        return {"email": row.email, "role": row.role, "slug": slug}
    mails.send_invitation(parts(), session, row, code, context())
    return {}


@bp.post("/settings/invitations/<invitation_id>/withdraw")
@page(_MANAGE)
def withdraw_invitation(invitation_id: str) -> WerkzeugResponse:
    """The link of an invitation works no longer."""
    with parts().database.writing() as session:
        invitations.withdraw(session, current_organisation(), invitation_id, context())
    return redirect(url_for("admin.members_page", done="withdrawn"))


@bp.get("/settings/members/<user_id>")
@page(_MANAGE)
def member(user_id: str) -> str:
    """One member: the role, and the way out."""
    return _member_page(user_id)


def _member_page(user_id: str, problem: str = "") -> str:
    with parts().database.reading() as session:
        found = accounts.member(session, current_organisation(), user_id)
        ends = staff_access.ends_with(session, current_organisation(), user_id, parts().clock())
        policy = rules.staff_policy(accounts.organisation(session, current_organisation()).staff_policy)
    roles = [role for role in rules.ROLES if rules.may_give_role(current_principal(), role, found.role)]
    shown = {"ends": ends, "roles": roles, "problem": problem, "policy": policy}
    return render_settings("member.html", "members", one=found, **shown)


@bp.post("/settings/members/<user_id>/role")
@page(_MANAGE)
def give_role(user_id: str) -> Page:
    """Change the role of a member."""
    role, by = request.form.get("role", ""), current_principal()
    try:
        with parts().database.writing() as session:
            accounts.member(session, current_organisation(), user_id)
            members.give_role(session, current_organisation(), user_id, role, context(), giver=by)
    except GatehouseError as error:
        if error.status in {403, 404}:
            raise
        return _member_page(user_id, error.message), error.status
    return redirect(url_for("admin.members_page", done="role"))


@bp.get("/settings/members/<user_id>/remove")
@page(_MANAGE)
def ask_to_remove(user_id: str) -> str:
    """What ends when somebody is removed."""
    with parts().database.reading() as session:
        found = accounts.member(session, current_organisation(), user_id)
        ends = staff_access.ends_with(session, current_organisation(), user_id, parts().clock())
        others = len(accounts.organisations_of(session, user_id)) - 1
    return render_settings("member_remove.html", "members", one=found, ends=ends, others=others)


@bp.post("/settings/members/<user_id>/remove")
@page(_MANAGE)
def remove(user_id: str) -> WerkzeugResponse:
    """Remove a member, with the tokens that they made."""
    with parts().database.writing() as session:
        members.remove_member(session, current_organisation(), user_id, current_principal(), context())
    return redirect(url_for("admin.members_page", done="removed"))
