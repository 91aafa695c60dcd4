"""How an organisation sells: reads and changes of its checkout settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.errors import InvalidRequest
from sync_server.accounts.service import lock_organisation
from sync_server.audit.service import AuditLine, record
from sync_server.checkout.models import CheckoutSettingsRow
from sync_server.checkout.money import epc
from sync_server.checkout.stripe_keys import FIELDS, sealed_columns
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.sql import writes
from sync_server.plumbing.sql.asked_together import Question
from sync_server.plumbing.sql.prepared import Prepared, placeholder

DEFAULT_MINUTES: Final = 10
_MINUTES: Final = Prepared(
    select(CheckoutSettingsRow.order_minutes).where(CheckoutSettingsRow.organisation_id == placeholder("organisation"))
)
_CHECKED = {"iban": epc.checked_iban, "bic": epc.checked_bic}


def settings_of(session: Session, organisation_id: str) -> CheckoutSettingsRow:
    """The settings of an organisation, or the defaults."""
    row = session.get(CheckoutSettingsRow, organisation_id)
    return row or CheckoutSettingsRow(
        organisation_id=organisation_id,
        order_minutes=DEFAULT_MINUTES,
        invoices=False,
        invoice_days=14,
        unpaid_tickets=False,
        dispute_tickets="block",
        account_holder="",
        iban="",
        bic="",
        stripe_publishable_key="",
        stripe_key_ending="",
        updated_at=0,
    )


def order_minutes(session: Session, organisation_id: str) -> int:
    """For how long the orders of an organisation wait to be paid."""
    statement, values = asks_order_minutes(organisation_id)
    found = statement.rows(session, **values)
    return int(found[0].order_minutes) if found else DEFAULT_MINUTES


def asks_order_minutes(organisation_id: str) -> Question:
    """What `order_minutes` asks."""
    return _MINUTES, {"organisation": organisation_id}


def lock_settings(session: Session, organisation_id: str) -> CheckoutSettingsRow:
    """The settings, locked until the transaction ends."""
    lock_organisation(session, organisation_id)
    return settings_of(session, organisation_id)


def change_settings(
    session: Session, organisation_id: str, changes: Mapping[str, Any], *, sealer: Sealer, context: ActionContext
) -> CheckoutSettingsRow:
    """Change the settings; InvalidRequest for a bank account or a key that cannot exist, or invoices without one."""
    row = lock_settings(session, organisation_id)
    for column, value in sealed_columns(sealer, row, changes).items():
        setattr(row, column, value)
    plain = {name: value for name, value in changes.items() if name not in FIELDS}
    checked = {name: _CHECKED[name](value) if value and name in _CHECKED else value for name, value in plain.items()}
    before = writes.change(row, checked)
    if row.invoices and not (row.iban and row.account_holder):
        raise InvalidRequest("Invoices need an account: send account_holder and iban.", code="account_required")
    row.updated_at = context.now
    session.add(row)
    session.flush()
    subject, after = ("checkout_settings", organisation_id), checked | dict.fromkeys(FIELDS & changes.keys(), "changed")
    record(session, AuditLine(context, "checkout_settings.changed", *subject, organisation_id, before, after))
    return row
