"""Exports and erases what an organisation stores about a person."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared.errors import InvalidRequest, NotFound
from sync_server.accounts import queries as accounts
from sync_server.accounts.sign_in import logins
from sync_server.audit import erasure
from sync_server.commands.console import echo, open_runtime, operator_context, print_json
from sync_server.commands.people import organisation_id
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.privacy import erasing, export
from sync_server.privacy.people import Wanted


def named(email: str, membership: str, ticket: str) -> Wanted:
    """The person to look for; InvalidRequest unless exactly one is given."""
    return Wanted(email, membership, ticket)


def export_person(org: str, email: str, membership: str, ticket: str) -> None:
    """Print everything about the person."""
    wanted = named(email, membership, ticket)
    with open_runtime() as runtime, runtime.parts.database.writing() as session:
        owner_id, context = organisation_id(session, org), operator_context(runtime)
        print_json(export.export(session, owner_id, wanted, runtime.parts.sealer, context))


def erase_person(org: str, wanted: Wanted, reason: str, *, login: bool) -> None:
    """Erase the person, and print how many values went."""
    if login and not wanted.email:
        raise InvalidRequest("A login is named by its e-mail address: give --email with --login.")
    with open_runtime() as runtime:
        database, context = runtime.parts.database, operator_context(runtime)
        with database.reading() as session:
            owner_id = organisation_id(session, org)
        erased = erasing.erase(database, owner_id, wanted, runtime.parts.sealer, context, reason=reason)
        if login:
            with database.writing() as session:
                erased["users"] = _erase_login(session, wanted.email, context, reason)
    print_json({"erased": erased})
    echo(f"Erased {sum(erased.values())} values. Earlier backups and archives still contain them.")


def _erase_login(session: Session, email: str, context: ActionContext, reason: str) -> int:
    user = accounts.user_by_email(session, logins.checked_address(email))
    if user is None:
        raise NotFound(f"There is no login {email!r}.")
    logins.erase_login(session, user, context)
    return 1 + erasure.erase_person(session, "user", user.id, context, reason=reason)
