"""API tokens: which there are and what each may do, a new one whose text is shown once, and the end of one."""

from __future__ import annotations

from typing import Final

from flask import redirect, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import GatehouseError, InvalidRequest
from sync_server.accounts import queries as accounts
from sync_server.accounts import rules, staff_access, tokens
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page
from sync_server.admin.settings.frame import Page, render_settings
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, current_principal

_MANAGE: Final = Action.MANAGE_TOKENS
LASTING: Final = (7, 30, 90, 365)
"""For how many days a new token may last, as far as the server allows."""


@bp.get("/settings/tokens")
@page(_MANAGE)
def tokens_page() -> str:
    """Every token that works, then those that have ended."""
    now = parts().clock()
    with parts().database.reading() as session:
        rows = accounts.tokens(session, current_organisation())
        makers = {one.user_id: one.name for one in accounts.members(session, current_organisation())}
    working = [row for row in rows if row.revoked_at is None and row.ends_at > now]
    ended = [row for row in rows if row not in working]
    return render_settings("tokens.html", "tokens", working=working, ended=ended, makers=makers)


def _form(problems: dict[str, str] | None = None) -> str:
    by = current_principal()
    own = [action.value for action in Action if rules.may(by, action)]
    days = [each for each in LASTING if each <= parts().config.token_days]
    return render_settings("token_new.html", "tokens", own=own, days=days, problems=problems or {})


@bp.get("/settings/tokens/new")
@page(_MANAGE)
def new_token() -> str:
    """Asks what a token is for, and what it may do."""
    return _form()


@bp.post("/settings/tokens")
@page(_MANAGE)
def make_token() -> Page:
    """Make a token, and show its text this once."""
    try:
        with parts().database.writing() as session:
            row, text = _make(session)
    except GatehouseError as error:
        if error.status == 403:
            raise
        return _form(forms.problems_of(error)), error.status
    return render_settings("token_made.html", "tokens", token=row, text=text, address=parts().config.base_url)


def _make(session: Session) -> tuple[staff_access.Token, str]:
    name, days, acting = forms.text("name", 100), forms.number("days"), context()
    if not name:
        raise InvalidRequest("Say what the token is for.", field="name")
    made = tokens.make_token(
        session,
        current_organisation(),
        name=name,
        scopes=request.form.getlist("scope"),
        ends_at=None if days is None else acting.now + days * tokens.DAY_MS,
        by=current_principal(),
        context=acting,
        longest_days=parts().config.token_days,
    )
    session.flush()
    return made


@bp.get("/settings/tokens/<token_id>/end")
@page(_MANAGE)
def ask_to_end_token(token_id: str) -> str:
    """What stops working with a token."""
    with parts().database.reading() as session:
        row = staff_access.token(session, current_organisation(), token_id)
        children = staff_access.made_with(session, current_organisation(), token_id, parts().clock())
    return render_settings("token_end.html", "tokens", token=row, children=children)


@bp.post("/settings/tokens/<token_id>/end")
@page(_MANAGE)
def end_token(token_id: str) -> WerkzeugResponse:
    """Revoke a token, and those that were made with it."""
    with parts().database.writing() as session:
        tokens.revoke_token(session, current_organisation(), token_id, context())
    return redirect(url_for("admin.tokens_page", done="token_ended"))
