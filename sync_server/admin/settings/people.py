"""One person's data: what is known, as a file for them; and an erasure, which first says what goes and what stays."""

from __future__ import annotations

import json
from typing import Any, Final, TypeVar

from flask import Response, redirect, request, url_for
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import GatehouseError
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page
from sync_server.admin.settings.frame import Page, render_settings
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context
from sync_server.privacy import erasing, export, own, people, schemas
from sync_server.privacy.registry import PERSONAL, Fate

P = TypeVar("P", bound=schemas.PersonNamed)

_MANAGE: Final = Action.MANAGE_RECORDS
WAYS: Final = ("email", "membership", "ticket")
"""By what a person can be named."""


@bp.get("/settings/people")
@page(_MANAGE)
def people_page() -> str:
    """Asks by what the person is known."""
    return _form()


def _form(problem: str = "") -> str:
    return render_settings("people.html", "people", problem=problem, ways=WAYS)


def _asked(schema: type[P], **more: str) -> P:
    """Who is meant, as the form names the person."""
    kind = request.form.get("by", "")
    name = kind if kind in WAYS else WAYS[0]
    return forms.read(schema, {name: forms.text("named", 254), **more})


@bp.post("/settings/people/find")
@page(_MANAGE)
def find_person() -> Page:
    """What is stored about somebody, by kind; what an erasure would take, and what stays."""
    try:
        wanted = _asked(schemas.PersonNamed).wanted()
        with parts().database.reading() as session:
            person = people.find(session, current_organisation(), wanted, parts().sealer)
            records = export.records_of(session, person)
    except GatehouseError as error:
        return _form(error.message), error.status
    counts = {name: len(rows) for name, rows in records.items()}
    shown = {"counts": counts, "goes": _goes(counts), "kept": own.KEPT, "member": bool(person.user_id)}
    return render_settings("person.html", "people", named=forms.text("named", 254), by=request.form.get("by"), **shown)


def _goes(counts: dict[str, int]) -> dict[str, list[str]]:
    """By table, what an erasure takes out of its rows."""
    found: dict[str, list[str]] = {}
    for column, personal in PERSONAL.items():
        table = column.partition(".")[0]
        if table in counts and personal.fate in {Fate.EMPTIED, Fate.ROW_REMOVED, Fate.REWRITTEN}:
            found.setdefault(table, []).append(personal.about)
    return found


@bp.post("/settings/people/export")
@page(_MANAGE)
def export_person() -> Page | Response:
    """Everything about somebody as one file."""
    try:
        wanted = _asked(schemas.PersonNamed).wanted()
        with parts().database.writing() as session:
            found = export.export(session, current_organisation(), wanted, parts().sealer, context())
    except GatehouseError as error:
        return _form(error.message), error.status
    return _file(found)


def _file(found: dict[str, Any]) -> Response:
    response = Response(json.dumps(found, ensure_ascii=False, indent=1), content_type="application/json")
    response.headers["Content-Disposition"] = 'attachment; filename="person.json"'
    return response


@bp.post("/settings/people/erase")
@page(_MANAGE)
def erase_person() -> Page | WerkzeugResponse:
    """Erase somebody wherever they stand; tickets, sales and scans stay without the name."""
    try:
        asked = _asked(schemas.PersonToErase, reason=forms.text("reason", 1000))
        given = parts().database, current_organisation(), asked.wanted(), parts().sealer, context()
        erasing.erase(*given, reason=asked.reason)
    except GatehouseError as error:
        return _form(error.message), error.status
    return redirect(url_for("admin.people_page", done="erased"))
