"""The policies of an organisation: what staff may do, how seats are held and sold, what buyers may do alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from flask import redirect, url_for
from sqlalchemy.orm import Session

from shared.errors import Forbidden, GatehouseError
from sync_server.accounts import queries as accounts
from sync_server.accounts import rules as account_rules
from sync_server.accounts import staff_policy
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page
from sync_server.admin.settings.frame import Page, render_settings
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, current_principal
from sync_server.seating import queries as seating
from sync_server.seating import schemas as seating_schemas
from sync_server.seating import service as seating_service
from sync_server.self_service import schemas as self_schemas
from sync_server.self_service import settings as self_service

LIMITS: Final = ("max_holds_per_user", "max_holds_per_ip", "max_holds_per_membership")
"""Where nothing stands, there is no limit."""
NUMBERS: Final = (
    *("default_hold_ttl_minutes", "max_seats_per_booking", "max_wheelchair_seats_per_booking"),
    *("companion_release_occupancy_threshold", "max_group_split"),
)
SWITCHES: Final = (
    *("allow_reserved_seating", "allow_ga_seating", "allow_hybrid_ga_reserved", "allow_vip_zones"),
    *("orphan_avoidance_strict", "group_adjacency_strict", "prefer_clustering_over_selection"),
    *("enforce_accessibility_rules", "accessibility_audit_enabled"),
)
_OWN_NUMBERS: Final = ("max_transfers", "transfer_days", "transfer_until_minutes", "cancel_until_hours")


@bp.get("/settings/policies")
@page()
def policies() -> str:
    """Everything that was decided, and what is so where nothing was."""
    return _page()


def _page(problems: Mapping[str, str] | None = None, part: str = "") -> str:
    with parts().database.reading() as session:
        here = current_organisation()
        organisation = accounts.organisation(session, here)
        shown = {
            "staff": account_rules.staff_policy(organisation.staff_policy),
            "seating": seating.policy(session, here),
            "own": self_service.settings_of(session, here),
            "currency": organisation.currency,
        }
    fields = {"limits": LIMITS, "numbers": NUMBERS, "switches": SWITCHES, "own_numbers": _OWN_NUMBERS}
    return render_settings("policies.html", "policies", problems=problems or {}, part=part, **fields, **shown)


@bp.post("/settings/policies/staff")
@page(Action.MANAGE_MEMBERS)
def change_staff_policy() -> Page:
    """Decide what staff may do; it counts from their next click on."""
    with parts().database.writing() as session:
        present = account_rules.staff_policy(accounts.organisation(session, current_organisation()).staff_policy)
        changes = {name: forms.ticked(name) for name, now in present.items() if forms.ticked(name) != now}
        if changes:
            staff_policy.change_policy(session, current_organisation(), changes, context())
    return redirect(url_for("admin.policies", done="saved"))


@bp.post("/settings/policies/seating")
@page(Action.MANAGE_MEMBERS)
def change_seating_policy() -> Page:
    """Decide how seats are held and sold."""
    try:
        changes = forms.read_changes(seating_schemas.ChangePolicy, _seating())
        with parts().database.writing() as session:
            _change_seating(session, changes)
    except GatehouseError as error:
        if error.status == Forbidden.status:
            raise
        return _page(forms.problems_of(error), "seating"), error.status
    return redirect(url_for("admin.policies", done="saved"))


def _seating() -> dict[str, Any]:
    numbers = {name: _number(name) for name in NUMBERS}
    limits = {name: _number(name) if forms.text(name) else None for name in LIMITS}
    switches = {name: forms.ticked(name) for name in SWITCHES}
    return {**numbers, **limits, **switches, "exempt_networks": forms.text("exempt_networks").split()}


def _number(name: str) -> int:
    """What was typed; out of every bound where it was no number."""
    found = forms.number(name)
    return -1 if found is None else found


def _change_seating(session: Session, wanted: Mapping[str, Any]) -> None:
    present = seating.policy(session, current_organisation())
    stored = seating_schemas.PolicyView.of(present, mandatory=list(present.mandatory)).model_dump()
    stored["exempt_networks"] = list(stored["exempt_networks"])
    changes = {name: value for name, value in wanted.items() if value != stored[name]}
    if changes:
        seating_service.set_policy(session, current_organisation(), changes, current_principal(), context())


@bp.post("/settings/policies/buyers")
@page(Action.MANAGE_PAYMENTS)
def change_self_service() -> Page:
    """Decide what buyers may do alone."""
    given = {name: _number(name) for name in _OWN_NUMBERS}
    given |= {name: forms.ticked(name) for name in ("transfers", "cancellations")}
    fee = forms.cents("cancel_fee_cents")
    try:
        wanted = forms.read_changes(
            self_schemas.ChangeSelfService, given | {"cancel_fee_cents": -1 if fee is None else fee}
        )
        with parts().database.writing() as session:
            row = self_service.lock_settings(session, current_organisation())
            changes = {name: value for name, value in wanted.items() if value != getattr(row, name)}
            if changes:
                self_service.change_settings(session, current_organisation(), changes, context())
    except GatehouseError as error:
        return _page(forms.problems_of(error), "buyers"), error.status
    return redirect(url_for("admin.policies", done="saved"))
