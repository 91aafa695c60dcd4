"""Erases a person: names and addresses go wherever they stand; what the law or a proof needs stays without them."""

from __future__ import annotations

from collections.abc import Callable, Collection

from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from shared.errors import Conflict
from sync_server.accounts import invitations
from sync_server.audit import erasure
from sync_server.audit import service as audit
from sync_server.checkout import queries as orders
from sync_server.checkout.orders import buyers
from sync_server.checkout.rules import OrderState
from sync_server.customers import profile
from sync_server.mail import service as mail
from sync_server.plumbing.api import idempotency
from sync_server.plumbing.database import Database
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.sql.tables import Base
from sync_server.privacy import export, people
from sync_server.privacy.people import Person, Wanted
from sync_server.seating.zone_access import guest_lists, memberships
from sync_server.self_service import owners
from sync_server.tickets import names
from sync_server.tickets import queries as tickets
from sync_server.waiting_list import service as waiting_list


def erase(
    database: Database, organisation_id: str, wanted: Wanted, sealer: Sealer, context: ActionContext, *, reason: str
) -> dict[str, int]:
    """Erase this person in one organisation; returns how many values went, by table."""

    def find(session: Session) -> Person:
        return people.find(session, organisation_id, wanted, sealer)

    return erase_person(database, organisation_id, wanted.kind, find, sealer, context, reason=reason)


def erase_person(  # noqa: PLR0917 - one erasure
    database: Database,
    organisation_id: str,
    named_by: str,
    find: Callable[[Session], Person],
    sealer: Sealer,
    context: ActionContext,
    *,
    reason: str,
) -> dict[str, int]:
    """Erase whom `find` finds; the log says only by what the person was named.

    Conflict `orders_open` while an order waits to be paid: whoever pays must be known, and is owed the tickets. In two
    transactions: what gates held earlier is known only when they have the change. It may simply run again.
    """
    with database.writing() as session:
        person = find(session)
        _require_settled(session, person)
        erased = _erase(session, person, sealer, context, reason)
        after = {name: count for name, count in erased.items() if count}
        subject = "person", named_by, organisation_id
        audit.record(session, audit.AuditLine(context, "person.erased", *subject, after=after, reason=reason))
    with database.writing() as session:
        history = names.erase_history(session, organisation_id, person.tickets)
    return {name: count for name, count in {**erased, "snapshot_history": history}.items() if count}


def open_orders(session: Session, organisation_id: str, ids: Collection[str]) -> list[str]:
    """The numbers of those of these orders that wait to be paid, the oldest first."""
    found = orders.orders_by_id(session, organisation_id, ids).values()
    return [row.number for row in sorted(found, key=lambda row: row.id) if row.state == OrderState.PENDING]


def _require_settled(session: Session, person: Person) -> None:
    if numbers := open_orders(session, person.organisation_id, person.orders):
        raise Conflict(
            f"{', '.join(numbers[:5])}: not paid yet. Pay or cancel what is open, then erase the data.",
            code="orders_open",
            orders=numbers,
        )


def _erase(session: Session, person: Person, sealer: Sealer, context: ActionContext, reason: str) -> dict[str, int]:
    where = person.organisation_id
    unsent = mail.waiting_for(session, where, person.email, sealer) if person.email else []
    return {
        "tickets": names.erase(session, where, person.tickets, context),
        "zone_guests": guest_lists.remove_everywhere(session, where, person.listed_as, context),
        "invitations": invitations.forget_address(session, where, person.email, context) if person.email else 0,
        "customers": profile.forget(session, where, person.email, context) if person.email else 0,
        "waiting_parties": waiting_list.forget(session, where, person.email) if person.email else 0,
        "ticket_transfers": owners.forget(session, where, person.email, person.tickets),
        "idempotency_keys": idempotency.forget(session, where, _requested(session, person)),
        "mails": mail.give_up(session, unsent, context.now),
        "orders": buyers.forget_buyer(session, where, person.orders),
        "order_lines": buyers.forget_holders(session, where, person.orders, person.tickets),
        "holds": _notes_of_holds(session, person),
        "put_away_people": _put_away(session, person),
        "tier_memberships": _membership(session, person, context) + _addresses(session, person, sealer),
        "audit_personal": _audit(session, person, context, reason),
    }


def _requested(session: Session, person: Person) -> set[str]:
    """Who has sent this person's requests, whose responses are stored for repeating them: they name the person."""
    found = orders.orders_by_id(session, person.organisation_id, person.orders).values()
    principals = {f"{row.bearer_kind}:{row.bearer_id}" for row in found if row.bearer_kind == "guest"}
    principals |= {f"order:{row.id}" for row in found}
    return principals | ({f"customer:{person.customer_id}"} if person.customer_id else set())


def _notes_of_holds(session: Session, person: Person) -> int:
    table = Base.metadata.tables["holds"]
    mine = table.c.organisation_id == person.organisation_id, table.c.membership_id == person.membership
    emptied = update(table).where(*mine, table.c.notes.is_not(None)).values(notes=None).returning(table.c.id)
    return len(session.execute(emptied).all()) if person.membership else 0


def _put_away(session: Session, person: Person) -> int:
    table = Base.metadata.tables["put_away_people"]
    mine = export.conditions(table, person)
    return 0 if mine is None else len(session.execute(delete(table).where(mine).returning(table.c.line)).all())


def _membership(session: Session, person: Person, context: ActionContext) -> int:
    named = person.membership
    return int(bool(named) and memberships.forget_card(session, person.organisation_id, named, context))


def _addresses(session: Session, person: Person, sealer: Sealer) -> int:
    where = session, person.organisation_id
    return memberships.forget_address(*where, person.email, sealer) if person.email else 0


def _audit(session: Session, person: Person, context: ActionContext, reason: str) -> int:
    where = person.organisation_id
    named = [("ticket", tickets.public_id(ticket)) for ticket in person.tickets]
    named += [("user", person.user_id)] if person.user_id else []
    named += [("customer", person.customer_id)] if person.customer_id else []
    count = sum(
        erasure.erase_person(session, kind, id, context, reason=reason, organisation_id=where) for kind, id in named
    )
    if person.email:
        count += erasure.erase_value(
            session, person.email, context, reason=reason, organisation_id=where, person=("person", "email")
        )
    return count
