"""What all pages of the settings share: their sections, and the frame that shows those one may open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from flask import redirect, request, url_for
from werkzeug.wrappers import Response as WerkzeugResponse

from sync_server.accounts.sign_in import own_login
from sync_server.admin.page import may, maybe_staff, render_page, words
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import current_principal

P = ParamSpec("P")
T = TypeVar("T")

Page = str | tuple[str, int] | WerkzeugResponse


@dataclass(frozen=True, slots=True)
class Section:
    """A page of the settings, by the endpoint that opens it."""

    name: str
    endpoint: str
    picture: str
    action: Action = Action.READ


SECTIONS: Final = {
    "organisation": (
        Section("general", "admin.general", "gear"),
        Section("branding", "admin.branding", "brush"),
        Section("policies", "admin.policies", "sliders"),
        Section("payments", "admin.payments_page", "card", Action.MANAGE_PAYMENTS),
        Section("mails", "admin.mails_page", "mail"),
    ),
    "access": (
        Section("members", "admin.members_page", "people", Action.MANAGE_MEMBERS),
        Section("tokens", "admin.tokens_page", "key", Action.MANAGE_TOKENS),
        Section("webhooks", "admin.webhooks_page", "hook", Action.MANAGE_WEBHOOKS),
    ),
    "records": (
        Section("audit", "admin.audit_log", "list", Action.READ_AUDIT),
        Section("exports", "admin.exports_page", "download"),
        Section("people", "admin.people_page", "shield", Action.MANAGE_RECORDS),
        Section("retention", "admin.retention_page", "clock", Action.MANAGE_RECORDS),
    ),
    "own": (Section("account", "admin.account", "lock"),),
}
"""By group, in the order of the page."""


def render_settings(template: str, section: str, /, **shown: object) -> str:
    """Render a page of the settings, beside the sections that this person may open."""
    groups = {name: [each for each in group if may(each.action)] for name, group in SECTIONS.items()}
    done = f"settings_done.{request.args.get('done', '')}"
    said = words()(done) if done in words() else ""
    open_groups = {name: group for name, group in groups.items() if group}
    return render_page(f"settings/{template}", section=section, groups=open_groups, said=said, **shown)


def own_page(view: Callable[P, T]) -> Callable[P, T | WerkzeugResponse]:
    """Restrict a view to somebody who is signed in, in whatever organisation: it is about their own login."""

    @wraps(view)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T | WerkzeugResponse:
        if maybe_staff() is None:
            return redirect(url_for("admin.login", after=request.path if request.method == "GET" else None))
        own_login.require_user(current_principal())
        return view(*args, **kwargs)

    return guarded
