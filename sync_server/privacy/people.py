"""Finds out what is known of a person: from an e-mail address, a membership or a ticket to everything they lead to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.errors import InvalidRequest
from sync_server.accounts import queries as accounts
from sync_server.accounts.sign_in.logins import checked_address
from sync_server.checkout.orders import buyers
from sync_server.customers import queries as customers
from sync_server.mail import service as mail
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.sql.tables import Base
from sync_server.seating.zone_access.entitlements import GuestIdKind, GuestKey, guest_key
from sync_server.self_service import owners
from sync_server.tickets import queries as tickets


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a request names a person: exactly one of these."""

    email: str = ""
    membership: str = ""
    ticket: str = ""

    def __post_init__(self) -> None:
        """InvalidRequest unless exactly one is given."""
        if sum(map(bool, (self.email, self.membership, self.ticket))) != 1:
            raise InvalidRequest("Name the person by exactly one of `email`, `membership` and `ticket`.")

    @property
    def kind(self) -> str:
        """By what the person is named; the log says no more."""
        return "email" if self.email else "membership" if self.membership else "ticket"


@dataclass(frozen=True, slots=True)
class Person:
    """What an organisation knows a person by."""

    organisation_id: str
    email: str = ""
    user_id: str = ""  # of a login that is a member of the organisation
    membership: str = ""
    orders: tuple[str, ...] = ()
    tickets: tuple[int, ...] = ()
    listed_as: tuple[GuestKey, ...] = ()
    mails: tuple[str, ...] = ()
    customer_id: str = ""

    def known_by(self) -> dict[str, Sequence[object]]:
        """The values by which the columns of the registry find this person's rows."""
        public = [tickets.public_id(ticket) for ticket in self.tickets]
        found: dict[str, Sequence[object]] = {
            "email": [self.email] if self.email else [],
            "user": [self.user_id] if self.user_id else [],
            "membership": [self.membership] if self.membership else [],
            "order": self.orders,
            "ticket": self.tickets,
            "list": [key for _, key in self.listed_as],
            "mail": self.mails,
            "customer": [self.customer_id] if self.customer_id else [],
            "person": [*public, *filter(None, (self.user_id, self.customer_id))],
        }
        return {kind: values for kind, values in found.items() if values}


def find(session: Session, organisation_id: str, wanted: Wanted, sealer: Sealer) -> Person:
    """The person, as far as this organisation knows anything; NotFound for a ticket that it does not have."""
    if wanted.ticket:
        ticket = tickets.internal_id(wanted.ticket)
        if not _put_away(session, organisation_id, "ticket", ticket):
            ticket = tickets.ticket(session, organisation_id, ticket).id
        return Person(organisation_id, tickets=(ticket,))
    if wanted.membership:
        its = {*_tickets_of(session, organisation_id, wanted.membership)}
        its |= {*_put_away(session, organisation_id, "membership_id", wanted.membership)}
        return Person(organisation_id, membership=wanted.membership, tickets=tuple(sorted(its)))
    address = checked_address(wanted.email)
    user = accounts.user_by_email(session, address)
    member = user is not None and accounts.role_in(session, organisation_id, user.id) is not None
    customer = customers.customer_by_email(session, organisation_id, address)
    customer_id = customer.id if customer is not None else ""
    orders = buyers.orders_of(session, organisation_id, address, customer_id)
    bought = buyers.tickets_of(session, organisation_id, orders)
    return Person(
        organisation_id,
        email=address,
        user_id=user.id if user is not None and member else "",
        customer_id=customer_id,
        orders=tuple(orders),
        tickets=tuple(sorted({*bought, *owners.received_by(session, organisation_id, address)})),
        listed_as=(guest_key(sealer, organisation_id, GuestIdKind.EMAIL, address),),
        mails=tuple(row.id for row in mail.waiting_for(session, organisation_id, address, sealer)),
    )


def _put_away(session: Session, organisation_id: str, column: str, value: object) -> Sequence[int]:
    """Tickets of events that are put away, by what is kept of them."""
    table = Base.metadata.tables["put_away_people"]
    mine = table.c.organisation_id == organisation_id, table.c[column] == value, table.c.ticket.is_not(None)
    return session.scalars(select(table.c.ticket).where(*mine).distinct()).all()


def _tickets_of(session: Session, organisation_id: str, membership: str) -> Sequence[int]:
    table = Base.metadata.tables["tickets"]
    mine = table.c.organisation_id == organisation_id, table.c.membership_id == membership
    return session.scalars(select(table.c.id).where(*mine).order_by(table.c.id)).all()
