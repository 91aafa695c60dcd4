"""Makes and changes organisations, staff and supervisors."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, Forbidden, InvalidRequest, NotFound
from shared.ids import Entropy, uuid7
from shared.snapshot import Row, RowKind, SupervisorRow
from sync_server.accounts import queries, rules
from sync_server.accounts.models import MembershipRow, OrganisationRow, SupervisorRecord, UserRow
from sync_server.accounts.passwords import hashed
from sync_server.audit.service import AuditLine, record
from sync_server.plumbing.database import announce
from sync_server.plumbing.principals import Actor, Principal

CURRENCY = re.compile("[A-Z]{3}")
SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?")


def create_organisation(
    session: Session, *, name: str, slug: str, currency: str, actor: Actor, now: Millis, entropy: Entropy
) -> OrganisationRow:
    """A new tenant; Conflict where the slug is taken."""
    if not SLUG.fullmatch(slug):
        raise InvalidRequest("A slug has small letters, digits and inner hyphens only.", field="slug")
    if not 1 <= len(name.strip()) <= 100:
        raise InvalidRequest("An organisation's name has 1 to 100 characters.", field="name")
    if not CURRENCY.fullmatch(currency):
        raise InvalidRequest("A currency has three capital letters, like EUR.", field="currency")
    if queries.organisation_by_slug(session, slug) is not None:
        raise Conflict(
            f"The address {slug!r} is taken by another organisation. Choose another slug.", code="slug_taken"
        )
    row = OrganisationRow(id=uuid7(now, entropy), slug=slug, name=name, currency=currency, created_at=now)
    session.add(row)
    session.flush()
    _note(
        session,
        actor,
        "organisation.created",
        kind="organisation",
        subject=row.id,
        organisation_id=row.id,
        now=now,
        after={"name": name, "slug": slug},
    )
    announce(session, "organisation_created", row, now)
    return row


def lock_organisation(session: Session, organisation_id: str) -> OrganisationRow:
    """Hold back others who change what concerns all events of this organisation, until this transaction ends."""
    row = session.execute(
        select(OrganisationRow).where(OrganisationRow.id == organisation_id).with_for_update(key_share=True)
    ).scalar_one_or_none()
    if row is None:
        raise NotFound
    return row


def add_user(
    session: Session,
    *,
    email: str,
    name: str,
    password: str,
    actor: Actor,
    now: Millis,
    entropy: Entropy,
    platform_role: str = "",
) -> UserRow:
    """A new login; Conflict where the address has one already."""
    rules.check_password(password)
    address = email.strip().casefold()
    if "@" not in address or len(address) > 254:
        raise InvalidRequest(f"{email!r} is no e-mail address.", field="email")
    if queries.user_by_email(session, address) is not None:
        raise Conflict("There is a login with this e-mail address already.", code="email_taken")
    row = UserRow(
        id=uuid7(now, entropy),
        email=address,
        name=name,
        password_hash=hashed(password, entropy),
        platform_role=platform_role,
        active=True,
        created_at=now,
    )
    session.add(row)
    session.flush()
    _note(
        session,
        actor,
        "user.created",
        kind="user",
        subject=row.id,
        organisation_id=None,
        now=now,
        after={"platform_role": platform_role},
    )
    return row


def set_password(
    session: Session, user: UserRow, password: str, *, actor: Actor, now: Millis, entropy: Entropy
) -> None:
    """A new password; the audit log keeps that it changed, not what it is."""
    rules.check_password(password)
    user.password_hash = hashed(password, entropy)
    _note(session, actor, "user.password_changed", kind="user", subject=user.id, organisation_id=None, now=now)


def give_role(
    session: Session,
    organisation_id: str,
    user_id: str,
    role: str,
    *,
    giver: Principal | None,
    actor: Actor,
    now: Millis,
) -> None:
    """Put a user into an organisation, or change the role there; `giver` is None for the operator's command line."""
    if role not in rules.ROLES:
        raise InvalidRequest(f"A role is one of {', '.join(rules.ROLES)}.", field="role")
    lock_organisation(session, organisation_id)
    present = queries.role_in(session, organisation_id, user_id)
    _allow_role(session, organisation_id, role, present, giver)
    session.merge(MembershipRow(organisation_id=organisation_id, user_id=user_id, role=role))
    session.flush()
    _note(
        session,
        actor,
        "member.role_changed",
        kind="user",
        subject=user_id,
        organisation_id=organisation_id,
        now=now,
        before={"role": present},
        after={"role": role},
    )


def invite(
    session: Session,
    organisation_id: str,
    *,
    email: str,
    role: str,
    name: str | None,
    password: str | None,
    giver: Principal | None,
    actor: Actor,
    now: Millis,
    entropy: Entropy,
) -> queries.Member:
    """Put somebody into the organisation, with a new login where there is none for that address."""
    user = queries.user_by_email(session, email)
    if user is None:
        if name is None or password is None:
            raise InvalidRequest("There is no login with this address yet: give `name` and `password` to make one.")
        user = add_user(session, email=email, name=name, password=password, actor=actor, now=now, entropy=entropy)
    if queries.role_in(session, organisation_id, user.id) is not None:
        raise Conflict("That person belongs to the organisation already.", code="already_member")
    give_role(session, organisation_id, user.id, role, giver=giver, actor=actor, now=now)
    return queries.member(session, organisation_id, user.id)


def remove_member(
    session: Session, organisation_id: str, user_id: str, *, giver: Principal | None, actor: Actor, now: Millis
) -> None:
    """Take a user out of an organisation; the login itself stays."""
    lock_organisation(session, organisation_id)
    row = session.get(MembershipRow, (organisation_id, user_id))
    if row is None:
        raise NotFound
    _allow_role(session, organisation_id, "", row.role, giver)
    session.delete(row)
    _note(
        session,
        actor,
        "member.removed",
        kind="user",
        subject=user_id,
        organisation_id=organisation_id,
        now=now,
        before={"role": row.role},
    )


def _allow_role(
    session: Session, organisation_id: str, role: str, present: str | None, giver: Principal | None
) -> None:
    if giver is not None and not rules.may_give_role(giver, role, present):
        raise Forbidden("Only an owner makes or unmakes owners.")
    if present == "owner" and role != "owner" and queries.owners(session, organisation_id) == 1:
        raise Conflict(
            "An organisation keeps at least one owner. Make somebody else an owner first.", code="last_owner"
        )


def add_supervisor(
    session: Session, organisation_id: str, *, name: str, pin: str, actor: Actor, now: Millis, entropy: Entropy
) -> SupervisorRecord:
    """Somebody who may override at the doors of all events of this organisation."""
    rules.check_pin(pin)
    lock_organisation(session, organisation_id)
    last = select(func.max(SupervisorRecord.number)).where(SupervisorRecord.organisation_id == organisation_id)
    row = SupervisorRecord(
        organisation_id=organisation_id,
        number=(session.execute(last).scalar_one() or 0) + 1,
        name=name,
        verifier=hashed(pin, entropy),
        active=True,
        created_at=now,
    )
    session.add(row)
    try:
        session.flush()
    except IntegrityError:
        raise Conflict("There is a supervisor of that name already.", code="name_taken") from None
    _tell_supervisor(session, row, "supervisor.added", actor, now)
    return row


def change_supervisor(
    session: Session,
    organisation_id: str,
    number: int,
    *,
    pin: str | None,
    active: bool | None,
    actor: Actor,
    now: Millis,
    entropy: Entropy,
) -> SupervisorRecord:
    """A new PIN, or may override no longer (or again)."""
    lock_organisation(session, organisation_id)
    row = session.get(SupervisorRecord, (organisation_id, number))
    if row is None:
        raise NotFound
    if pin is not None:
        rules.check_pin(pin)
        row.verifier = hashed(pin, entropy)
    if active is not None:
        row.active = active
    session.flush()
    _tell_supervisor(session, row, "supervisor.changed", actor, now)
    return row


def _tell_supervisor(session: Session, row: SupervisorRecord, action: str, actor: Actor, now: Millis) -> None:
    after = {"name": row.name, "active": row.active}
    _note(
        session,
        actor,
        action,
        kind="supervisor",
        subject=str(row.number),
        organisation_id=row.organisation_id,
        now=now,
        after=after,
    )
    announce(session, "organisation_rows_changed", (row.organisation_id, [_as_gates_hold(row)]), now)


def _as_gates_hold(row: SupervisorRecord) -> SupervisorRow | Row:
    if row.active:
        return SupervisorRow(row.number, row.name, row.verifier)
    return Row(RowKind.SUPERVISOR, row.number, None)


def _note(
    session: Session,
    actor: Actor,
    action: str,
    *,
    kind: str,
    subject: str,
    organisation_id: str | None,
    now: Millis,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
) -> None:
    was, is_now = dict(before) if before else None, dict(after) if after else None
    record(session, AuditLine(actor, action, kind, subject, organisation_id, now, was, is_now))
