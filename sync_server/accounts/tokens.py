"""API tokens: they end by themselves, and never outlive or exceed the member who made them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, Forbidden, InvalidRequest, NotFound, NotSignedIn
from shared.ids import uuid7
from sync_server.accounts import queries, rules
from sync_server.accounts.models import TokenRow
from sync_server.accounts.service import lock_organisation
from sync_server.accounts.sign_in.passwords import new_token, token_hash
from sync_server.audit.service import AuditLine, record
from sync_server.plumbing.database import Database
from sync_server.plumbing.requests.principals import Action, ActionContext, Principal

DAY_MS: Millis = 24 * 3600 * 1000


def authenticate(database: Database, token: str, now: Millis) -> Principal | None:
    """The principal of an API token, or None if it is not valid, or its maker no longer is a member."""
    with database.reading() as session:
        found = queries.token_principal(session, token_hash(token), now)
    if found is None:
        return None
    principal, used_at = found
    if now - used_at > rules.LAST_SEEN_INTERVAL_MS:
        _note_use(database, principal, used_at, now)
    return principal


def _note_use(database: Database, principal: Principal, before: Millis, now: Millis) -> None:
    """Once a minute: of requests that arrive together, the first one writes."""
    its_row = TokenRow.organisation_id == principal.organisation_id, TokenRow.id == principal.id
    with database.writing() as session:
        unchanged = func.coalesce(TokenRow.used_at, 0) == before
        session.execute(update(TokenRow).where(*its_row, unchanged).values(used_at=now))


def make_token(
    session: Session,
    organisation_id: str,
    *,
    name: str,
    scopes: Sequence[str],
    ends_at: Millis | None,
    by: Principal | None,
    context: ActionContext,
    longest_days: int = rules.TOKEN_DAYS,
) -> tuple[TokenRow, str]:
    """A new API token and its text, which is shown once; `by` is None for the operator's command line.

    A token has no more scopes than its maker, then and whenever it is used: see `queries.token_principal`.
    """
    unknown = set(scopes) - {action.value for action in Action}
    if unknown or not scopes:
        raise InvalidRequest(f"Choose scopes from: {', '.join(action.value for action in Action)}.", field="scopes")
    lock_organisation(session, organisation_id)  # nobody revokes the maker's rights while they are copied
    by = by and _present(session, by, context.now)
    if by is not None and not all(rules.may(by, Action(scope)) for scope in scopes):
        raise Forbidden("A token cannot have scopes that you lack yourself.")
    parent = session.get(TokenRow, (organisation_id, by.id)) if by is not None and by.kind == "token" else None
    token = new_token(context.entropy)
    row = TokenRow(
        id=uuid7(context.now, context.entropy),
        organisation_id=organisation_id,
        name=name,
        token_hash=token_hash(token),
        scopes=sorted(set(scopes)),
        created_at=context.now,
        maker_id=person_behind(session, by),
        parent_id=parent and parent.id,
        ends_at=_checked_end(ends_at, parent, longest_days, context.now),
    )
    session.add(row)
    after = {"scopes": row.scopes, "ends_at": row.ends_at}
    record(session, AuditLine(context, "token.created", "token", row.id, organisation_id, after=after))
    return row, token


def _present(session: Session, by: Principal, now: Millis) -> Principal:
    """The maker with the rights of this moment: he may have lost them since the request began."""
    now_principal = queries.refreshed_principal(session, by, now)
    if now_principal is None:
        raise NotSignedIn
    if now_principal.kind == "user" and not now_principal.role:
        raise Conflict(
            "A token acts for a member of the organisation, and you are not one. Ask an owner to create it.",
            code="not_a_member",
        )
    return now_principal


def _checked_end(requested: Millis | None, parent: TokenRow | None, longest_days: int, now: Millis) -> Millis:
    """When a new token ends: within the bound of this installation, and no later than the token that makes it."""
    latest = now + longest_days * DAY_MS
    if requested is None:
        wanted = min(now + rules.TOKEN_DAYS * DAY_MS, latest)
        return wanted if parent is None else min(wanted, parent.ends_at)
    if requested <= now:
        raise InvalidRequest(
            f"ends_at is in the past. Leave it out for a token of {rules.TOKEN_DAYS} days.", field="ends_at"
        )
    if requested > latest:
        raise InvalidRequest(
            f"A token lasts {longest_days} days at most on this server. Choose an earlier ends_at.", field="ends_at"
        )
    if parent is not None and requested > parent.ends_at:
        raise Forbidden("A token cannot outlive the one that creates it.")
    return requested


def person_behind(session: Session, by: Principal | None) -> str | None:
    """The user who acts, if by a token then who made it; None for the operator."""
    if by is None:
        return None
    if by.kind != "token":
        return by.id
    return session.get_one(TokenRow, (by.organisation_id, by.id)).maker_id


def revoke_token(session: Session, organisation_id: str, token_id: str, context: ActionContext) -> None:
    """Revoke a token and those that were made with it; NotFound unless it belongs to this organisation."""
    lock_organisation(session, organisation_id)
    if session.get(TokenRow, (organisation_id, token_id)) is None:
        raise NotFound
    revoked = [token_id]
    while revoked:
        _revoke(session, organisation_id, revoked, context)
        made_with_them = TokenRow.organisation_id == organisation_id, TokenRow.parent_id.in_(revoked)
        revoked = list(session.scalars(select(TokenRow.id).where(*made_with_them)))


def revoke_all_of(session: Session, organisation_id: str, user_id: str, context: ActionContext) -> None:
    """Revoke the tokens of a member who leaves: they stay so, should he return."""
    its = TokenRow.organisation_id == organisation_id, TokenRow.maker_id == user_id
    _revoke(session, organisation_id, list(session.scalars(select(TokenRow.id).where(*its))), context)


def _revoke(session: Session, organisation_id: str, ids: Sequence[str], context: ActionContext) -> None:
    valid = TokenRow.organisation_id == organisation_id, TokenRow.id.in_(ids), TokenRow.revoked_at.is_(None)
    done = update(TokenRow).where(*valid).values(revoked_at=context.now).returning(TokenRow.id)
    for token_id in session.scalars(done).all():
        record(session, AuditLine(context, "token.revoked", "token", token_id, organisation_id))
