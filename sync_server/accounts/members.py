"""Who belongs to an organisation, and in which role."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared.errors import Conflict, Forbidden, InvalidRequest, NotFound
from sync_server.accounts import queries, rules, service, tokens
from sync_server.accounts.models import MembershipRow
from sync_server.audit.service import AuditLine, record
from sync_server.plumbing.requests.principals import ActionContext, Principal


def give_role(
    session: Session,
    organisation_id: str,
    user_id: str,
    role: str,
    context: ActionContext,
    *,
    giver: Principal | None = None,
) -> None:
    """Set a user's role in an organisation; `giver` is None for the operator's command line."""
    if role not in rules.ROLES:
        raise InvalidRequest(f"The role must be one of {', '.join(rules.ROLES)}.", field="role")
    service.lock_organisation(session, organisation_id)
    current = queries.role_in(session, organisation_id, user_id)
    _allow_role(session, organisation_id, role, current, giver)
    session.merge(MembershipRow(organisation_id=organisation_id, user_id=user_id, role=role))
    session.flush()
    subject = "user", user_id, organisation_id
    record(session, AuditLine(context, "member.role_changed", *subject, {"role": current}, {"role": role}))


def join(session: Session, organisation_id: str, user_id: str, role: str, context: ActionContext) -> None:
    """Make a user a member who has accepted an invitation; Conflict for one who already is."""
    service.lock_organisation(session, organisation_id)
    if queries.role_in(session, organisation_id, user_id) is not None:
        raise Conflict("You are already a member of this organisation.", code="already_member")
    give_role(session, organisation_id, user_id, role, context)


def remove_member(
    session: Session, organisation_id: str, user_id: str, giver: Principal | None, context: ActionContext
) -> None:
    """Remove a user from an organisation, with the API tokens that he made there; the login itself stays."""
    service.lock_organisation(session, organisation_id)
    row = session.get(MembershipRow, (organisation_id, user_id))
    if row is None:
        raise NotFound
    _allow_role(session, organisation_id, "", row.role, giver)
    session.delete(row)
    tokens.revoke_all_of(session, organisation_id, user_id, context)
    record(session, AuditLine(context, "member.removed", "user", user_id, organisation_id, {"role": row.role}))


def _allow_role(
    session: Session, organisation_id: str, role: str, current: str | None, giver: Principal | None
) -> None:
    if giver is not None and not rules.may_give_role(giver, role, current):
        raise Forbidden("Only an owner can add or remove owners.")
    if current == "owner" and role != "owner" and queries.owners(session, organisation_id) == 1:
        raise Conflict(
            "An organisation needs at least one owner. Make somebody else an owner first.", code="last_owner"
        )
