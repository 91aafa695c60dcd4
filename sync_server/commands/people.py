"""Commands of organisations and logins."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Callable
from typing import Any

from shared.errors import InvalidRequest, NotFound
from sync_server.accounts import members, queries, service, signing_in
from sync_server.accounts.rules import PLATFORM_ROLES
from sync_server.commands.console import open_runtime, operator_context


def add_organisation(slug: str, name: str, currency: str) -> dict[str, Any]:
    """Create an organisation."""
    with open_runtime() as runtime, runtime.parts.database.writing() as session:
        context = operator_context(runtime)
        row = service.create_organisation(session, name=name, slug=slug, currency=currency, context=context)
        return {"id": row.id, "slug": row.slug, "name": row.name}


def list_organisations() -> list[dict[str, Any]]:
    """All organisations."""
    with open_runtime() as runtime, runtime.parts.database.reading() as session:
        return [{"id": row.id, "slug": row.slug, "name": row.name} for row in queries.organisations(session)]


def add_user(
    email: str, name: str, organisation: str | None, role: str, ask_password: Callable[[], str]
) -> dict[str, Any]:
    """Create a login for an organisation or the platform; asks for the password after checking the organisation."""
    platform = role if role in PLATFORM_ROLES else ""
    if not platform and organisation is None:
        raise InvalidRequest("Name the organisation with --org SLUG.")
    with open_runtime() as runtime:
        if not platform:
            with runtime.parts.database.reading() as session:
                organisation_id(session, str(organisation))
        password = ask_password()
        with runtime.parts.database.writing() as session:
            context = operator_context(runtime)
            user = service.add_user(
                session, email=email, name=name, password=password, context=context, platform_role=platform
            )
            if not platform:
                members.give_role(session, organisation_id(session, str(organisation)), user.id, role, context)
            return {"id": user.id, "email": user.email, "role": role}


def change_password(email: str, password: str) -> None:
    """Set a user's password, and sign the user out everywhere."""
    with open_runtime() as runtime, runtime.parts.database.writing() as session:
        user = _user(session, email)
        service.set_password(session, user, password, operator_context(runtime))
        signing_in.end_sessions(session, user.id)


def change_role(email: str, organisation: str, role: str) -> None:
    """Change a user's role in an organisation."""
    with open_runtime() as runtime, runtime.parts.database.writing() as session:
        user, owner_id = _user(session, email), organisation_id(session, organisation)
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


def read_password(file_descriptor: int | None) -> str:
    """Read a password from a file descriptor, the terminal or standard input; arguments are visible to other users."""
    if file_descriptor is not None:
        return _read_line(file_descriptor)
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\n")
    first = getpass.getpass("Password: ")
    if first != getpass.getpass("Again: "):
        raise InvalidRequest("The two passwords differ. Nothing was changed.")
    return first


def _read_line(file_descriptor: int) -> str:
    try:
        with os.fdopen(file_descriptor) as file:
            return file.readline().rstrip("\n")
    except (OSError, UnicodeDecodeError, OverflowError):
        raise InvalidRequest(
            f"--password-fd {file_descriptor} cannot be read. Open it for this command, for example "
            f"--password-fd 3 with 3<FILE. Nothing was changed."
        ) from None
