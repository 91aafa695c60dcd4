"""The mails with one-time links: an invitation, and a link for a new password."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared.ids import UNKNOWN_ID
from sync_server.accounts import links, queries, rules
from sync_server.accounts.models import InvitationRow
from sync_server.accounts.sign_in import logins, password_links, throttling
from sync_server.accounts.sign_in.throttling import Tried
from sync_server.mail import service as mail
from sync_server.mail.letters import DEFAULT_LANGUAGE, Letter
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.requests.addresses import network_of
from sync_server.plumbing.requests.principals import ActionContext

ASKED = "If there is a login with this address, a mail with a link is on its way. It works for two hours."
NO_MAIL = "No mail is set up on this server. Ask its operator for a link: gatehouse-server reset-link EMAIL"


def send_invitation(parts: Parts, session: Session, row: InvitationRow, code: str, context: ActionContext) -> None:
    """Mail an invitation to its address, in the language of the organisation."""
    organisation = queries.organisation(session, row.organisation_id)
    values = {
        "organisation": organisation.name,
        "role": row.role,
        "link": links.invitation(parts, code),
        "days": rules.INVITATION_MS // (24 * 3_600_000),
    }
    letter = Letter("invitation", row.email, values, organisation.language)
    row.mail_id = mail.post(
        session, letter, parts.sealer, context, ends_at=row.ends_at, organisation_id=row.organisation_id
    )
    session.flush()


def ask_for_password_link(parts: Parts, email: str, context: ActionContext) -> str:
    """Mail a link to choose a new password; says the same, and works as much, whether or not there is a login."""
    address = logins.checked_address(email)
    if parts.config.mail_url is None:
        return NO_MAIL
    asked = [Tried(rules.ASKED_LINKS, network_of(context.actor.ip))]
    message = "Too many links were requested from here. Wait {seconds} seconds and try again."
    throttling.check(parts.database, asked, context.now, message)
    with parts.database.writing() as session:
        often = throttling.count(session, [Tried(rules.MAILED_LINKS, address)], context.now)
        user = queries.user_by_email(session, address)
        organisations = queries.organisations_of(session, user.id if user is not None else UNKNOWN_ID)
        meant = user if user is not None and user.active and not often else None
        code = password_links.make(session, meant.id if meant is not None else None, context)
        values = {"link": links.password(parts, code), "hours": rules.PASSWORD_LINK_MS // 3_600_000}
        language = organisations[0][0].language if organisations else DEFAULT_LANGUAGE
        letter = Letter("password", address, values, language)
        ends_at = context.now + rules.PASSWORD_LINK_MS
        mail.post(session, letter, parts.sealer, context, ends_at=ends_at, void=meant is None)
    return ASKED
