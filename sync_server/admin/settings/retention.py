"""How long what is kept: a number of days for each kind of record, within bounds."""

from __future__ import annotations

from flask import redirect, request, url_for

from shared.errors import GatehouseError
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page
from sync_server.admin.settings.frame import Page, render_settings
from sync_server.archives import policy
from sync_server.archives.rules import KEPT
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context


@bp.get("/settings/retention")
@page(Action.MANAGE_RECORDS)
def retention_page() -> str:
    """Every kind of record, and how long it is kept."""
    return _form({})


def _form(problems: dict[str, str]) -> str:
    with parts().database.reading() as session:
        days = policy.days(session, current_organisation())
    return render_settings("retention.html", "retention", kinds=KEPT, days=days, problems=problems)


@bp.post("/settings/retention")
@page(Action.MANAGE_RECORDS)
def change_retention() -> Page:
    """Keep records so long from now on; only what is different is changed."""
    try:
        with parts().database.writing() as session:
            present = policy.days(session, current_organisation())
            wanted = {kind: _days(kind) for kind in KEPT if kind in request.form or f"{kind}-for_ever" in request.form}
            changed = {kind: days for kind, days in wanted.items() if days != present[kind]}
            if changed:
                policy.change(session, current_organisation(), changed, context())
    except GatehouseError as error:
        return _form(forms.problems_of(error)), error.status
    return redirect(url_for("admin.retention_page", done="retention"))


def _days(kind: str) -> int | None:
    """The days that were typed; out of bounds where it was no number."""
    if forms.ticked(f"{kind}-for_ever"):
        return None
    days = forms.number(kind)
    return -1 if days is None else days
