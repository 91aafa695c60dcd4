"""What the organisation is called, and in which language it writes."""

from __future__ import annotations

from flask import redirect, request, url_for

from shared.errors import GatehouseError
from sync_server.accounts import own_organisation
from sync_server.accounts import queries as accounts
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page
from sync_server.admin.settings.frame import Page, render_settings
from sync_server.mail.letters import languages
from sync_server.plumbing.language.texts import LANGUAGES
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context


@bp.get("/settings/general")
@page()
def general() -> str:
    """Name, language, and what never changes."""
    return _form({})


def _form(problems: dict[str, str]) -> str:
    with parts().database.reading() as session:
        row = accounts.organisation(session, current_organisation())
    shown = {"row": row, "written": sorted(languages()), "shop_languages": LANGUAGES, "problems": problems}
    return render_settings("general.html", "general", base_url=parts().config.base_url.rstrip("/"), **shown)


@bp.post("/settings/general")
@page(Action.MANAGE_MEMBERS)
def change_general() -> Page:
    """Change the name, or the language."""
    given = {"name": forms.text("name", 100), "language": request.form.get("language", "")}
    try:
        changes = forms.read_changes(own_organisation.ChangeOrganisation, given)
        with parts().database.writing() as session:
            own_organisation.change_organisation(session, current_organisation(), changes, context())
    except GatehouseError as error:
        return _form(forms.problems_of(error)), error.status
    return redirect(url_for("admin.general", done="saved"))
