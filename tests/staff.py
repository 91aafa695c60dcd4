"""Staff for tests: logins whose owners have chosen PASSWORD. The way by invitations has tests of its own."""

from __future__ import annotations

from sqlalchemy.orm import Session

from sync_server.accounts import members
from sync_server.accounts.sign_in import logins
from sync_server.plumbing.requests.principals import ActionContext

PASSWORD = "four walls and a roof"


def a_login(
    session: Session,
    email: str,
    context: ActionContext,
    *,
    organisation_id: str | None = None,
    role: str = "staff",
    platform: str = "",
    name: str = "",
) -> str:
    """A login of this address, if wanted with a role in an organisation or the platform; its id."""
    called = name or email.split("@", maxsplit=1)[0]
    user = logins.create_login(session, email=email, name=called, platform_role=platform, context=context)
    logins.choose_password(session, user, PASSWORD, context)
    if organisation_id is not None:
        members.give_role(session, organisation_id, user.id, role, context)
    return user.id
