"""What messages say of an order and its event, in the language of its buyer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.accounts import queries as accounts
from sync_server.checkout import queries as orders
from sync_server.checkout.money import epc, ledger
from sync_server.checkout.orders import links
from sync_server.checkout.queries import Order
from sync_server.checkout.settings import settings_of
from sync_server.events.snapshot_rows import window
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import Parts
from sync_server.ticket_files.faces import Setting
from sync_server.ticket_files.words import language_of

SAMPLE_LINK = "#0123456789abcdef"


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads a message: in which language, and what is known of the event in it."""

    language: str
    setting: Setting

    @classmethod
    def of(cls, session: Session, event: EventKey, locale: str) -> Reader:
        """The reader of this locale, or of the organisation's language."""
        language = language_of(locale, accounts.organisation(session, event.organisation_id).language)
        return cls(language, Setting.read(session, event, language))

    def event_values(self) -> dict[str, str]:
        """What is known of the event."""
        setting = self.setting
        begin = window(setting.event)[0]
        several = len(setting.dates) > 1
        return {
            "organiser": setting.organiser,
            "event": setting.event.name,
            "day": setting.style.days(setting.dates) if several else setting.style.day(begin),
            "time": setting.times,
            "place": setting.event.venue_name,
            "address": setting.address,
        }

    def moment(self, at: Millis | None) -> str:
        """A time, with its day."""
        style = self.setting.style
        return "" if at is None else f"{style.day(at)}, {style.time(at)} {style.zone(at)}"


def order_values(
    parts: Parts, session: Session, reader: Reader, order: Order, refunded_cents: int = 0
) -> Mapping[str, str]:
    """What is known of an order and its event; the link opens the order, and holds its secret behind the #."""
    style, settings = reader.setting.style, settings_of(session, order.organisation_id)
    due = ledger.balance(session, order).due
    lines = orders.lines(session, order.organisation_id, order.id)
    return reader.event_values() | {
        "name": order.buyer_name,
        "number": order.number,
        "total": style.amount(order.total_cents, order.currency) if order.total_cents else "",
        "admissions": str(sum(line.ticket_id is not None and not line.passed_on for line in lines)),
        "due": style.amount(max(due, 0), order.currency),
        "due_at": reader.moment(order.due_at),
        "reference": order.number,
        "account_holder": settings.account_holder,
        "iban": epc.written_iban(settings.iban),
        "bic": settings.bic,
        "refunded": style.amount(refunded_cents, order.currency),
        "link": order_link(parts, session, order),
    }


def order_link(parts: Parts, session: Session, order: Order) -> str:
    """The link that opens an order without signing in."""
    slug = accounts.organisation(session, order.organisation_id).slug
    secret = links.secret_of(parts.sealer, order.organisation_id, order.id)
    return f"{parts.config.base_url.rstrip('/')}/o/{slug}/orders/{order.id}#{secret}"


def sample_values(parts: Parts, session: Session, reader: Reader, currency: str) -> Mapping[str, str]:
    """The same of an order that does not exist, for a preview."""
    setting, style = reader.setting, reader.setting.style
    slug = accounts.organisation(session, setting.event.organisation_id).slug
    settings = settings_of(session, setting.event.organisation_id)
    soon = parts.clock() + 14 * 86_400_000
    return reader.event_values() | {
        "name": "Ada Lovelace",
        "number": f"{setting.event.code}-R1",
        "total": style.amount(9_980, currency),
        "admissions": "2",
        "due": style.amount(9_980, currency),
        "due_at": reader.moment(soon),
        "reference": f"{setting.event.code}-R1",
        "account_holder": settings.account_holder or setting.organiser,
        "iban": epc.written_iban(settings.iban or "DE02120300000000202051"),
        "bic": settings.bic,
        "refunded": style.amount(4_990, currency),
        "from_seat": "B 12",
        "to_seat": "A 4",
        "new_date": reader.moment(soon + 16 * 86_400_000),
        "keep_until": reader.moment(soon),
        "places": "2",
        "until": reader.moment(soon),
        "since": reader.moment(parts.clock()),
        "link": f"{parts.config.base_url.rstrip('/')}/o/{slug}/orders/…{SAMPLE_LINK}",
    }
