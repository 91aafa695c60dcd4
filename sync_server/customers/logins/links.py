"""One-time links to sign in with: the address is proved by opening one, and nothing tells whether it was known."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import delete
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from shared.ids import uuid7
from sync_server.accounts.queries import Organisation
from sync_server.accounts.sign_in import throttling
from sync_server.accounts.sign_in.logins import checked_address
from sync_server.accounts.sign_in.passwords import new_token, token_hash
from sync_server.accounts.sign_in.throttling import Tried
from sync_server.customers import queries, rules
from sync_server.customers.models import CustomerLinkRow, CustomerRow
from sync_server.mail import service as mail
from sync_server.mail.letters import Letter
from sync_server.plumbing.due import organisations_due
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.requests.addresses import network_of
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sql import writes

ASKED = "A mail with a link is on its way, if this address can receive one. It works once, for half an hour."
NO_MAIL = "No mail is set up on this server, so it cannot send links. Ask the organiser."


@dataclass(frozen=True, slots=True)
class Asked:
    """Where a link is to be sent, and in which language."""

    email: str
    locale: str = ""


def url(parts: Parts, slug: str, code: str) -> str:
    """The address of a link. The code stands behind #, which browsers send to nobody: no log and no proxy sees it."""
    return f"{parts.config.base_url.rstrip('/')}/o/{slug}/sign-in#{code}"


def ask(parts: Parts, shop: Organisation, asked: Asked, context: ActionContext) -> str:
    """Mail a link to this address: the same for one that has bought here and one that has not."""
    address = checked_address(asked.email)
    if parts.config.mail_url is None:
        return NO_MAIL
    tried = [Tried(rules.ASKED_LINKS, network_of(context.actor.ip))]
    message = "Too many links were requested from here. Wait {seconds} seconds and try again."
    throttling.check(parts.database, tried, context.now, message)
    with parts.database.writing() as session:
        mailbox = Tried(rules.MAILED_LINKS, rules.login_name(shop.id, address))
        often = throttling.count(session, [mailbox], context.now)
        code = make(session, shop.id, address, asked.locale, context)
        ends_at = context.now + rules.SIGN_IN_LINK_MS
        minutes = rules.SIGN_IN_LINK_MS // 60_000
        values = {"organisation": shop.name, "link": url(parts, shop.slug, code), "minutes": minutes}
        letter = Letter("customer_sign_in", address, values, asked.locale[:2] or shop.language)
        mail.post(session, letter, parts.sealer, context, ends_at=ends_at, organisation_id=shop.id, void=bool(often))
    return ASKED


def make(session: Session, organisation_id: str, email: str, locale: str, context: ActionContext) -> str:
    """The code of a new link for this address."""
    code = new_token(context.entropy)
    session.add(
        CustomerLinkRow(
            organisation_id=organisation_id,
            code_hash=token_hash(code),
            email=email,
            locale=locale,
            ends_at=context.now + rules.SIGN_IN_LINK_MS,
        )
    )
    session.flush()
    return code


def use(session: Session, organisation_id: str, code: str, context: ActionContext) -> CustomerRow:
    """The customer whose address a link proves, made now if there was none; NotFound for a link that has ended."""
    row = CustomerLinkRow
    here = row.organisation_id == organisation_id, row.code_hash == token_hash(code), row.ends_at > context.now
    used = session.execute(delete(row).where(*here).returning(row.email, row.locale)).one_or_none()
    if used is None:
        raise NotFound("This link has been used or has expired. Ask for another one.", code="link_ended")
    return _customer(session, organisation_id, used.email, used.locale, context)


def _customer(session: Session, organisation_id: str, email: str, locale: str, context: ActionContext) -> CustomerRow:
    new = {
        "organisation_id": organisation_id,
        "id": uuid7(context.now, context.entropy),
        "email": email,
        "name": "",
        "locale": locale,
        "password_hash": "",
        "membership_id": "",
        "created_at": context.now,
        "updated_at": context.now,
    }
    session.execute(writes.insert(session, CustomerRow).values(new).on_conflict_do_nothing())
    return queries.customer(session, organisation_id, queries.id_by_email(session, organisation_id, email))


def delete_ended(session: Session, now: Millis) -> None:
    """Delete links that have expired."""
    owner, ended = CustomerLinkRow.organisation_id, CustomerLinkRow.ends_at <= now
    for organisation_id in organisations_due(session, owner, ended):
        session.execute(delete(CustomerLinkRow).where(owner == organisation_id, ended))
