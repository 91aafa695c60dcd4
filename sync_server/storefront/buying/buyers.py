"""The form of whoever buys: name, address and way to pay, with what is wrong said beside each field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shared.errors import GatehouseError
from sync_server.accounts.sign_in.logins import checked_address
from sync_server.customers import queries as customers
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.form_fields import typed_line
from sync_server.storefront.page import Page
from sync_server.storefront.visitors import Visitor

_MOST = 254


@dataclass(slots=True)
class BuyerForm:
    """As it was typed."""

    name: str = ""
    email: str = ""
    method: str = ""
    errors: dict[str, str] = field(default_factory=dict)  # by field

    @classmethod
    def typed(cls, page: Page, typed: Mapping[str, str], offered: list[str]) -> BuyerForm:
        """What was typed, checked."""
        form = cls(typed["name"], typed["email"], typed["method"])
        if not form.name:
            form.errors["name"] = page.t("buyer.name_missing")
        if not form.email:
            mails = parts().config.mail_url is not None
            form.errors["email"] = page.t("buyer.email_missing" if mails else "buyer.email_missing_here")
        elif (address := _address(form.email)) is None:
            form.errors["email"] = page.t("buyer.email_wrong")
        else:
            form.email = address
        if form.method not in offered:
            form.errors["method"] = page.t("buyer.method_missing")
        return form

    @classmethod
    def known(cls, page: Page, visitor: Visitor) -> BuyerForm:
        """What is known of a customer who is signed in."""
        if visitor.customer is None:
            return cls()
        with parts().database.reading() as session:
            row = customers.customer(session, page.shop.id, visitor.customer.id)
        return cls(row.name, row.email or "")


def typed_now() -> dict[str, str]:
    """What the form of this request has in its fields."""
    most = {"name": 100, "email": _MOST, "method": 20}
    return {name: typed_line(name, length) for name, length in most.items()}


def _address(text: str) -> str | None:
    try:
        return checked_address(text)
    except GatehouseError:
        return None
