"""Invitations: a link for one address and one use; who opens it decides whether to become a member."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from msgspec import structs
from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, Forbidden, InvalidRequest, NotFound, TooMany
from shared.ids import uuid7
from sync_server.accounts import members, queries, rules, tokens
from sync_server.accounts.models import InvitationRow, UserRow
from sync_server.accounts.service import lock_organisation
from sync_server.accounts.sign_in import logins, signing_in
from sync_server.accounts.sign_in.passwords import new_token, token_hash
from sync_server.accounts.sign_in.signing_in import SignedIn, SignInSettings
from sync_server.audit.service import AuditLine, record
from sync_server.plumbing.database import Database
from sync_server.plumbing.due import organisations_due
from sync_server.plumbing.requests.principals import Action, ActionContext, Principal


@dataclass(frozen=True, slots=True)
class Invitation:
    """What the invited person sees before accepting."""

    organisation: str
    role: str
    email: str
    has_login: bool


def invite(
    session: Session, organisation_id: str, *, email: str, role: str, by: Principal | None, context: ActionContext
) -> tuple[InvitationRow, str]:
    """Invite an address, and return the code for its link; `by` is None for the operator's command line.

    Does the same whether or not the address has a login, and replaces an open invitation of the same address.
    """
    address = logins.checked_address(email)
    if role not in rules.ROLES:
        raise InvalidRequest(f"The role must be one of {', '.join(rules.ROLES)}.", field="role")
    lock_organisation(session, organisation_id)
    if by is not None and not rules.may_give_role(by, role, None):
        raise Forbidden("Only an owner can add or remove owners.")
    if any(member.email == address for member in queries.members(session, organisation_id)):
        raise Conflict("This person is already a member of the organisation.", code="already_member")
    _limit(session, organisation_id, context.now)
    _withdraw(session, organisation_id, _open(context.now), InvitationRow.email == address, now=context.now)
    code = new_token(context.entropy)
    row = InvitationRow(
        id=uuid7(context.now, context.entropy),
        organisation_id=organisation_id,
        email=address,
        role=role,
        code_hash=token_hash(code),
        maker_id=tokens.person_behind(session, by),
        created_at=context.now,
        ends_at=context.now + rules.INVITATION_MS,
    )
    session.add(row)
    session.flush()
    after = {"email": address, "role": role}
    record(session, AuditLine(context, "member.invited", "invitation", row.id, organisation_id, after=after))
    return row, code


def _limit(session: Session, organisation_id: str, now: Millis) -> None:
    """Otherwise an organisation could have this server send any number of mails to anybody."""
    recent = InvitationRow.organisation_id == organisation_id, InvitationRow.created_at > now - 24 * 3_600_000
    if session.execute(select(func.count()).select_from(InvitationRow).where(*recent)).scalar_one() >= (
        rules.INVITATIONS_A_DAY
    ):
        raise TooMany(
            f"An organisation can send at most {rules.INVITATIONS_A_DAY} invitations a day. Try again tomorrow.",
            retry_after=3600,
        )


def _open(now: Millis) -> ColumnElement[bool]:
    row = InvitationRow
    return row.accepted_at.is_(None) & row.withdrawn_at.is_(None) & (row.ends_at > now)


def _withdraw(session: Session, organisation_id: str, *which: ColumnElement[bool], now: Millis) -> Sequence[str]:
    chosen = update(InvitationRow).where(InvitationRow.organisation_id == organisation_id, *which)
    return session.scalars(chosen.values(withdrawn_at=now).returning(InvitationRow.id)).all()


def withdraw(session: Session, organisation_id: str, invitation_id: str, context: ActionContext) -> None:
    """Withdraw an invitation that has not been accepted: NotFound if there is none."""
    which = _open(context.now), InvitationRow.id == invitation_id
    if not _withdraw(session, organisation_id, *which, now=context.now):
        raise NotFound
    record(session, AuditLine(context, "member.invitation_withdrawn", "invitation", invitation_id, organisation_id))


def forget_address(session: Session, organisation_id: str, email: str, context: ActionContext) -> int:
    """Withdraw the invitations of an address and erase it from them; returns how many there were."""
    row = InvitationRow
    mine = row.organisation_id == organisation_id, row.email == email
    _withdraw(session, organisation_id, _open(context.now), row.email == email, now=context.now)
    emptied = update(row).where(*mine).values(email="").returning(row.id)
    return len(session.scalars(emptied, execution_options={"synchronize_session": False}).all())


def open_invitations(session: Session, organisation_id: str, now: Millis) -> Sequence[InvitationRow]:
    """The invitations of an organisation that can still be accepted, newest first."""
    query = select(InvitationRow).where(InvitationRow.organisation_id == organisation_id, _open(now))
    return session.execute(query.order_by(InvitationRow.id.desc())).scalars().all()


def preview(session: Session, code: str, now: Millis) -> Invitation:
    """What an invitation says to whoever holds its link."""
    row = by_code(session, code, now)
    name = queries.organisation(session, row.organisation_id).name
    return Invitation(name, row.role, row.email, queries.user_by_email(session, row.email) is not None)


def is_for(session: Session, invitation: Invitation, by: Principal | None) -> bool:
    """Whether the invited person is the one who is signed in."""
    user = queries.user_by_email(session, invitation.email)
    return user is not None and by is not None and (by.kind, by.id) == ("user", user.id)


def by_code(session: Session, code: str, now: Millis) -> InvitationRow:
    """The open invitation with this code, or NotFound."""
    query = select(InvitationRow).where(InvitationRow.code_hash == token_hash(code), _open(now))
    row = session.execute(query).scalar_one_or_none()
    if row is None or not _still_meant(session, row):
        raise NotFound(
            "This invitation has been accepted, withdrawn, or has expired. Ask the organisation for another one.",
            code="invitation_ended",
        )
    return row


def _still_meant(session: Session, row: InvitationRow) -> bool:
    """Whether whoever sent it could send it now: an invitation does not outlive the rights of its maker."""
    if row.maker_id is None:
        return True
    maker = queries.acting_for(session, row.organisation_id, row.maker_id)
    return maker is not None and rules.may(maker, Action.MANAGE_MEMBERS) and rules.may_give_role(maker, row.role, None)


def accept(
    database: Database,
    code: str,
    *,
    by: Principal | None,
    name: str = "",
    password: str = "",
    second_factor: str = "",
    settings: SignInSettings,
    context: ActionContext,
) -> SignedIn | None:
    """Become a member; the new browser session, or None for one who is signed in already.

    Whoever has a login accepts with it, and so with their own password; whoever has none chooses name and password.
    """
    with database.reading() as session:
        row = by_code(session, code, context.now)
        user = queries.user_by_email(session, row.email)
    signed_in = None
    if user is not None and (by is None or (by.kind, by.id) != ("user", user.id)):
        signed_in = signing_in.sign_in(database, row.email, password, second_factor, settings=settings, context=context)
    with database.writing() as session:
        row = _take(session, code, context)
        if user is None:
            user = _new_login(session, row.email, name, password, context)
            signed_in = signing_in.open_session(session, user, settings.hours, context)
        acting = structs.replace(context, actor=structs.replace(context.actor, kind="user", id=user.id))
        members.join(session, row.organisation_id, user.id, row.role, acting)
        session_id = signed_in.session_id if signed_in else by and by.session_id
        signing_in.enter_organisation(session, str(session_id), row.organisation_id)
    return signed_in and replace(signed_in, organisation_id=row.organisation_id)


def _take(session: Session, code: str, context: ActionContext) -> InvitationRow:
    """Use the invitation up: of two who accept at once, the second finds it ended."""
    row = by_code(session, code, context.now)
    lock_organisation(session, row.organisation_id)
    session.refresh(row)
    by_code(session, code, context.now)
    row.accepted_at = context.now
    session.flush()
    return row


def _new_login(session: Session, email: str, name: str, password: str, context: ActionContext) -> UserRow:
    user = logins.create_login(session, email=email, name=name, context=context)
    logins.choose_password(session, user, password, context)
    return user


def delete_ended(session: Session, now: Millis) -> None:
    """Delete invitations that were used or have ended a month ago: they hold addresses."""
    owner, old = InvitationRow.organisation_id, InvitationRow.ends_at < now - rules.KEEP_INVITATIONS_MS
    for organisation_id in organisations_due(session, owner, old):
        session.execute(delete(InvitationRow).where(owner == organisation_id, old))
