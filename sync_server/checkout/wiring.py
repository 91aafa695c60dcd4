"""Connects orders to events, customers and jobs."""

from __future__ import annotations

from sync_server.checkout.filing import filed
from sync_server.checkout.orders import claiming, ending, reserving
from sync_server.checkout.orders.rehearsing import EventsAsSold
from sync_server.checkout.payments.stripe import disputing, outcomes, paying_back
from sync_server.checkout.payments.stripe.access import StripeAccess
from sync_server.checkout.sessions import cleanup
from sync_server.checkout.sessions.counters import CheckoutCounters
from sync_server.checkout.shop import MAX_SHOPS, ShopIds
from sync_server.customers.signals import CustomerSignedIn
from sync_server.events.signals import EventChanged, EventDaysChanged, EventMoved, EventStatusChanged
from sync_server.plumbing.parts import Parts


def wire(parts: Parts) -> None:
    """Register the handlers, which act in the transactions of events, and the jobs."""
    parts.database.signals.on(CustomerSignedIn, claiming.on_signed_in)
    parts.database.signals.on(EventStatusChanged, ending.on_status_changed)
    parts.database.signals.on(EventChanged, ending.on_changed)
    parts.database.signals.on(EventDaysChanged, reserving.on_days_changed)
    parts.database.signals.on(EventMoved, filed.on_moved)
    parts.database.ports.connect(CheckoutCounters(parts.metrics.registry))
    parts.database.ports.connect(ShopIds(MAX_SHOPS))
    parts.database.ports.connect(EventsAsSold())
    parts.jobs.append(ending.job())
    parts.jobs.append(filed.job())
    parts.jobs.append(cleanup.job())
    access = StripeAccess.of(parts)
    parts.jobs.extend((outcomes.job(access), paying_back.job(access)))
    parts.jobs.extend((disputing.job(access), disputing.search_job(access)))
