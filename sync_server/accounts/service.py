"""Creates and changes organisations, staff and supervisors."""

from __future__ import annotations

import re

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from shared.errors import Conflict, Forbidden, InvalidRequest, NotFound
from shared.ids import uuid7
from shared.snapshot import Row, RowKind, SupervisorRow
from sync_server.accounts import queries, rules
from sync_server.accounts.models import MembershipRow, OrganisationRow, SupervisorRecord, UserRow
from sync_server.accounts.passwords import hash_secret
from sync_server.accounts.signals import OrganisationCreated, OrganisationRowsChanged
from sync_server.audit.service import AuditLine, record
from sync_server.plumbing.principals import ActionContext, Principal
from sync_server.plumbing.signals import send
from sync_server.plumbing.sql import writes

CURRENCY = re.compile("[A-Z]{3}")
SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?")


def create_organisation(
    session: Session, *, name: str, slug: str, currency: str, context: ActionContext
) -> OrganisationRow:
    """Create an organisation; Conflict if the slug is taken."""
    if not SLUG.fullmatch(slug):
        raise InvalidRequest("A slug consists of lower-case letters, digits and inner hyphens.", field="slug")
    if not 1 <= len(name.strip()) <= 100:
        raise InvalidRequest("The name of an organisation has 1 to 100 characters.", field="name")
    if not CURRENCY.fullmatch(currency):
        raise InvalidRequest("A currency has three capital letters, such as EUR.", field="currency")
    if queries.organisation_by_slug(session, slug) is not None:
        raise Conflict(f"Another organisation has the slug {slug!r}. Choose another.", code="slug_taken")
    row = OrganisationRow(
        id=uuid7(context.now, context.entropy), slug=slug, name=name, currency=currency, created_at=context.now
    )
    session.add(row)
    session.flush()
    after = {"name": name, "slug": slug}
    record(session, AuditLine(context, "organisation.created", "organisation", row.id, row.id, after=after))
    send(session, OrganisationCreated(row.id, context))
    return row


def lock_organisation(session: Session, organisation_id: str) -> OrganisationRow:
    """Lock the organisation until this transaction ends: serialises changes that affect all its events."""
    row = session.execute(
        select(OrganisationRow).where(OrganisationRow.id == organisation_id).with_for_update(key_share=True)
    ).scalar_one_or_none()
    if row is None:
        raise NotFound
    return row


def add_user(
    session: Session, *, email: str, name: str, password: str, context: ActionContext, platform_role: str = ""
) -> UserRow:
    """Create a login; Conflict if the e-mail address has one already."""
    rules.check_password(password)
    address = email.strip().casefold()
    if "@" not in address or len(address) > 254:
        raise InvalidRequest(f"{email!r} is not an e-mail address.", field="email")
    if queries.user_by_email(session, address) is not None:
        raise Conflict("There is already a login with this e-mail address.", code="email_taken")
    row = UserRow(
        id=uuid7(context.now, context.entropy),
        email=address,
        name=name,
        password_hash=hash_secret(password, context.entropy),
        platform_role=platform_role,
        created_at=context.now,
    )
    session.add(row)
    session.flush()
    record(session, AuditLine(context, "user.created", "user", row.id, None, after={"platform_role": platform_role}))
    return row


def set_password(session: Session, user: UserRow, password: str, context: ActionContext) -> None:
    """Set a user's password; the audit log records the change without the password."""
    rules.check_password(password)
    user.password_hash = hash_secret(password, context.entropy)
    record(session, AuditLine(context, "user.password_changed", "user", user.id, None))


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
        raise InvalidRequest(f"A role is one of {', '.join(rules.ROLES)}.", field="role")
    lock_organisation(session, organisation_id)
    current = queries.role_in(session, organisation_id, user_id)
    _allow_role(session, organisation_id, role, current, giver)
    session.merge(MembershipRow(organisation_id=organisation_id, user_id=user_id, role=role))
    session.flush()
    subject = "user", user_id, organisation_id
    record(session, AuditLine(context, "member.role_changed", *subject, {"role": current}, {"role": role}))


def invite(
    session: Session,
    organisation_id: str,
    *,
    email: str,
    role: str,
    name: str | None,
    password: str | None,
    giver: Principal | None,
    context: ActionContext,
) -> queries.Member:
    """Add a member of staff, creating a login if the e-mail address has none."""
    user = queries.user_by_email(session, email)
    if user is None:
        if name is None or password is None:
            raise InvalidRequest(
                "There is no login with this e-mail address yet. Send `name` and `password` to create one."
            )
        user = add_user(session, email=email, name=name, password=password, context=context)
    if queries.role_in(session, organisation_id, user.id) is not None:
        raise Conflict("This user is already a member of the organisation.", code="already_member")
    give_role(session, organisation_id, user.id, role, context, giver=giver)
    return queries.member(session, organisation_id, user.id)


def remove_member(
    session: Session, organisation_id: str, user_id: str, giver: Principal | None, context: ActionContext
) -> None:
    """Remove a user from an organisation; the login itself stays."""
    lock_organisation(session, organisation_id)
    row = session.get(MembershipRow, (organisation_id, user_id))
    if row is None:
        raise NotFound
    _allow_role(session, organisation_id, "", row.role, giver)
    session.delete(row)
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


def add_supervisor(
    session: Session, organisation_id: str, name: str, pin: str, context: ActionContext
) -> SupervisorRecord:
    """Add a supervisor, who may override refusals at the gates of all events of this organisation."""
    rules.check_pin(pin)
    lock_organisation(session, organisation_id)
    last_number = select(func.max(SupervisorRecord.number)).where(SupervisorRecord.organisation_id == organisation_id)
    row = SupervisorRecord(
        organisation_id=organisation_id,
        number=(session.execute(last_number).scalar_one() or 0) + 1,
        name=name,
        verifier=hash_secret(pin, context.entropy),
        created_at=context.now,
    )
    session.add(row)
    writes.flush_or_conflict(session, "There is already a supervisor with this name.", "name_taken")
    _record_supervisor(session, row, "supervisor.added", context)
    return row


def change_supervisor(
    session: Session, organisation_id: str, number: int, *, pin: str | None, active: bool | None, context: ActionContext
) -> SupervisorRecord:
    """Change a supervisor's PIN, or deactivate or reactivate the supervisor."""
    lock_organisation(session, organisation_id)
    row = session.get(SupervisorRecord, (organisation_id, number))
    if row is None:
        raise NotFound
    if pin is not None:
        rules.check_pin(pin)
        row.verifier = hash_secret(pin, context.entropy)
    if active is not None:
        row.active = active
    session.flush()
    _record_supervisor(session, row, "supervisor.changed", context)
    return row


def _record_supervisor(session: Session, row: SupervisorRecord, action: str, context: ActionContext) -> None:
    after = {"name": row.name, "active": row.active}
    record(session, AuditLine(context, action, "supervisor", str(row.number), row.organisation_id, after=after))
    send(session, OrganisationRowsChanged(row.organisation_id, [_gate_row(row)]))


def _gate_row(row: SupervisorRecord) -> SupervisorRow | Row:
    if row.active:
        return SupervisorRow(row.number, row.name, row.verifier)
    return Row(RowKind.SUPERVISOR, row.number, None)
