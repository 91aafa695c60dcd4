"""Organisations and logins, as the operator of the machine makes them."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Callable
from typing import Any

from shared.errors import InvalidRequest, NotFound
from sync_server.accounts import queries, service, signing_in
from sync_server.accounts.rules import PLATFORM_ROLES
from sync_server.commands.ground import OPERATOR, ground


def add_organisation(slug: str, name: str, currency: str) -> dict[str, Any]:
    """A new tenant."""
    with ground() as here, here.parts.database.writing() as session:
        row = service.create_organisation(
            session,
            name=name,
            slug=slug,
            currency=currency,
            actor=OPERATOR,
            now=here.parts.clock(),
            entropy=here.parts.entropy,
        )
        return {"id": row.id, "slug": row.slug, "name": row.name}


def list_organisations() -> list[dict[str, Any]]:
    """All tenants."""
    with ground() as here, here.parts.database.reading() as session:
        return [{"id": row.id, "slug": row.slug, "name": row.name} for row in queries.organisations(session)]


def add_user(
    email: str, name: str, organisation: str | None, role: str, ask_password: Callable[[], str]
) -> dict[str, Any]:
    """A new login, of an organisation or of the platform; the password is asked for once there is such a place."""
    platform = role if role in PLATFORM_ROLES else ""
    if not platform and organisation is None:
        raise InvalidRequest("Say of which organisation: --org SLUG.")
    with ground() as here:
        if not platform:
            with here.parts.database.reading() as session:
                organisation_id(session, str(organisation))
        password = ask_password()
        with here.parts.database.writing() as session:
            now = here.parts.clock()
            user = service.add_user(
                session,
                email=email,
                name=name,
                password=password,
                actor=OPERATOR,
                now=now,
                entropy=here.parts.entropy,
                platform_role=platform,
            )
            if not platform:
                _give(session, str(organisation), user.id, role, now)
            return {"id": user.id, "email": user.email, "role": role}


def change_password(email: str, password: str) -> None:
    """A new password; the user is signed out everywhere."""
    with ground() as here, here.parts.database.writing() as session:
        user = queries.user_by_email(session, email)
        if user is None:
            raise NotFound(f"There is no login {email!r}.")
        service.set_password(
            session, user, password, actor=OPERATOR, now=here.parts.clock(), entropy=here.parts.entropy
        )
        signing_in.end_sessions(session, user.id)


def change_role(email: str, organisation: str, role: str) -> None:
    """Another role in an organisation."""
    with ground() as here, here.parts.database.writing() as session:
        user = queries.user_by_email(session, email)
        if user is None:
            raise NotFound(f"There is no login {email!r}.")
        _give(session, organisation, user.id, role, here.parts.clock())


def organisation_id(session: Any, slug: str) -> str:
    """The id of the organisation with that slug."""
    row = queries.organisation_by_slug(session, slug)
    if row is None:
        raise NotFound(f"There is no organisation {slug!r}. `gatehouse-server org list` shows them.")
    return row.id


def _give(session: Any, slug: str, user_id: str, role: str, now: int) -> None:
    service.give_role(session, organisation_id(session, slug), user_id, role, giver=None, actor=OPERATOR, now=now)


def asked_password(file_descriptor: int | None) -> str:
    """A password from the terminal or a file descriptor; never from an argument, which others can read."""
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
            f"--password-fd {file_descriptor}: nothing can be read there. Open it for this command, for example "
            f"--password-fd 3 with 3<FILE. Nothing was changed."
        ) from None
