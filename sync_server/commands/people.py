"""Commands of organisations and logins."""

from __future__ import annotations

from typing import IO, Any

import typer

from shared.errors import NotFound
from sync_server.accounts import invitations, links, members, queries, service
from sync_server.accounts.rules import PLATFORM_ROLES
from sync_server.accounts.sign_in import logins, password_links, second_factors
from sync_server.commands.console import open_runtime, operator_context
from sync_server.mail import bounces
from sync_server.mail import service as mail


def add_organisation(slug: str, name: str, currency: str, language: str) -> dict[str, Any]:
    """Create an organisation."""
    with open_runtime() as runtime, runtime.parts.database.writing() as session:
        context = operator_context(runtime)
        row = service.create_organisation(
            session, name=name, slug=slug, currency=currency, language=language, context=context
        )
        return {"id": row.id, "slug": row.slug, "name": row.name}


def list_organisations() -> list[dict[str, Any]]:
    """All organisations."""
    with open_runtime() as runtime, runtime.parts.database.reading() as session:
        return [{"id": row.id, "slug": row.slug, "name": row.name} for row in queries.organisations(session)]


def invite(email: str, organisation: str | None, role: str, name: str) -> dict[str, Any]:
    """A link to hand over: an invitation to an organisation, or the first password of platform staff."""
    with open_runtime() as runtime, runtime.parts.database.writing() as session:
        context = operator_context(runtime)
        if role in PLATFORM_ROLES:
            user = logins.create_login(session, email=email, name=name or email, platform_role=role, context=context)
            link = links.password(runtime.parts, password_links.make(session, user.id, context))
            return {"email": user.email, "role": role, "link": link}
        if organisation is None:
            raise typer.BadParameter("Name the organisation with --org SLUG.")
        owner_id = organisation_id(session, organisation)
        row, code = invitations.invite(session, owner_id, email=email, role=role, by=None, context=context)
        return {"email": row.email, "role": role, "link": links.invitation(runtime.parts, code)}


def reset_link(email: str) -> dict[str, Any]:
    """A link with which the owner of a login chooses a new password."""
    with open_runtime() as runtime, runtime.parts.database.writing() as session:
        user, context = _user(session, email), operator_context(runtime)
        return {
            "email": user.email,
            "link": links.password(runtime.parts, password_links.make(session, user.id, context)),
        }


def drop_second_factor(email: str) -> None:
    """Turn the second factor of a login off."""
    with open_runtime() as runtime, runtime.parts.database.writing() as session:
        second_factors.turn_off(session, _user(session, email).id, operator_context(runtime))


def note_bounce(file: IO[bytes]) -> dict[str, Any]:
    """Note the mail that this delivery status notification returns."""
    bounce = bounces.read(file)
    if bounce is None:
        return {"noted": False, "why": "it is not a notification of a final failure"}
    with open_runtime() as runtime, runtime.parts.database.writing() as session:
        noted = mail.note_bounce(session, bounce.message_id, bounce.status, runtime.parts.clock())
    return {"noted": noted} | ({"status": bounce.status} if noted else {"why": "the mail is none of ours"})


def change_role(email: str, organisation: str, role: str) -> None:
    """Change a user's role in an organisation."""
    with open_runtime() as runtime, runtime.parts.database.writing() as session:
        user, owner_id = _user(session, email), organisation_id(session, organisation)
        if queries.role_in(session, owner_id, user.id) is None:
            raise NotFound(f"{email} is not a member there. `gatehouse-server invite` makes an invitation.")
        members.give_role(session, owner_id, user.id, role, operator_context(runtime))


def organisation_id(session: Any, slug: str) -> str:
    """The id of the organisation with this slug, or NotFound."""
    row = queries.organisation_by_slug(session, slug)
    if row is None:
        raise NotFound(f"There is no organisation {slug!r}. `gatehouse-server org list` lists them.")
    return row.id


def _user(session: Any, email: str) -> Any:
    user = queries.user_by_email(session, email)
    if user is None:
        raise NotFound(f"There is no login {email!r}.")
    return user
