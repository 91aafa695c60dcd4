"""How the organisation is paid: by card at Stripe, by bank transfer, and how long orders wait for it."""

from __future__ import annotations

from typing import Any, Final

from flask import redirect, url_for

from shared.errors import GatehouseError, NotFound
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page, words
from sync_server.admin.settings.frame import Page, render_settings
from sync_server.checkout import settings, settings_schemas, shop_checks
from sync_server.checkout.payments.stripe.access import StripeAccess
from sync_server.checkout.payments.stripe.gateway import KeysRefused, StripeUnreachable
from sync_server.checkout.stripe_keys import FIELDS
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context

_MANAGE: Final = Action.MANAGE_PAYMENTS
_PARTS: Final = {
    "cards": tuple(sorted(FIELDS)),
    "transfers": ("invoices", "account_holder", "iban", "bic", "invoice_days", "unpaid_tickets"),
    "orders": ("order_minutes", "dispute_tickets"),
}
"""The forms of the page, and the fields of each."""
_SWITCHES: Final = frozenset({"invoices", "unpaid_tickets"})
_NUMBERS: Final = frozenset({"invoice_days", "order_minutes"})


@bp.get("/settings/payments")
@page(_MANAGE)
def payments_page() -> str:
    """Every way to pay, and what it still needs."""
    return _page()


def _page(problems: dict[str, str] | None = None, part: str = "", **said: Any) -> str:
    with parts().database.reading() as session:
        row = settings.settings_of(session, current_organisation())
        warnings = shop_checks.warnings_of(session, row)
        view = settings_schemas.settings_view(row, parts().config, warnings)
    return render_settings("payments.html", "payments", view=view, problems=problems or {}, part=part, **said)


@bp.post("/settings/payments/<part>")
@page(_MANAGE)
def change_payments(part: str) -> Page:
    """Change one part; a key that is left empty stays as it is."""
    if part not in _PARTS:
        raise NotFound("There is no such part of the payment settings.", code="page_not_found")
    try:
        changes = forms.read_changes(settings_schemas.ChangeSettings, _given(part))
        if changes:
            with parts().database.writing() as session:
                here, sealer = current_organisation(), parts().sealer
                settings.change_settings(session, here, changes, sealer=sealer, context=context())
    except GatehouseError as error:
        return _page(forms.problems_of(error), part), error.status
    return redirect(url_for("admin.payments_page", done="saved"))


def _given(part: str) -> dict[str, Any]:
    return {name: _value(name) for name in _PARTS[part] if name not in FIELDS or _typed(name)}


def _typed(key: str) -> bool:
    """Keys are never shown again: an empty field means that the one that is stored stays, unless it is to go."""
    return bool(forms.text(key, 300)) or forms.ticked("remove_keys")


def _value(name: str) -> Any:
    if name in _SWITCHES:
        return forms.ticked(name)
    if name in _NUMBERS:
        found = forms.number(name)
        return -1 if found is None else found
    return "" if name in FIELDS and forms.ticked("remove_keys") else forms.text(name, 300)


@bp.post("/settings/payments/cards/test")
@page(_MANAGE)
def test_cards() -> str:
    """Ask Stripe whether it takes the keys that are stored; nothing is paid."""
    access, t = StripeAccess.of(parts()), words()
    try:
        with parts().database.reading() as session:
            access.gateway(session, current_organisation()).check()
    except KeysRefused:
        return _page(tested=t("payments.keys_refused"), works=False)
    except StripeUnreachable:
        return _page(tested=t("payments.unreachable"), works=False)
    except GatehouseError as error:
        return _page(tested=error.message, works=False)
    return _page(tested=t("payments.keys_work"), works=True)
