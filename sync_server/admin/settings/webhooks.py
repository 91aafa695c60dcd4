"""Webhooks: addresses that hear what happens, each with its topics in plain words, paused, tested and renewed here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from flask import redirect, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import GatehouseError
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page
from sync_server.admin.settings.frame import Page, render_settings
from sync_server.outbox.catalogue import FACTS
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context
from sync_server.webhooks import queries, rules, schemas, service
from sync_server.webhooks.rules import ALL, State

_MANAGE: Final = Action.MANAGE_WEBHOOKS
SHOWN: Final = 30
"""Messages on a page of the log."""


def topics() -> Mapping[str, Mapping[str, str]]:
    """What can be chosen: by group, each fact with its meaning, as the catalogue has them."""
    found: dict[str, dict[str, str]] = {}
    for name, kind in FACTS.items():
        found.setdefault(kind.group.value, {})[name] = kind.description
    return found


@bp.get("/settings/webhooks")
@page(_MANAGE)
def webhooks_page() -> str:
    """Every webhook, and how it does."""
    with parts().database.reading() as session:
        rows = queries.webhooks(session, current_organisation())
        waiting = queries.waiting_counts(session, current_organisation())
    return render_settings("webhooks.html", "webhooks", rows=rows, waiting=waiting)


@bp.get("/settings/webhooks/new")
@page(_MANAGE)
def new_webhook() -> str:
    """Asks where to post, and what."""
    return _form(None, {})


def _form(row: Any, problems: Mapping[str, str]) -> str:
    chosen = request.form.getlist("facts") if request.method == "POST" else list(row.facts) if row else [ALL]
    shown = {"row": row, "chosen": chosen, "topics": topics(), "problems": problems, "all_facts": ALL}
    return render_settings("webhook_form.html", "webhooks", **shown)


def _fields() -> dict[str, Any]:
    return {"url": forms.text("url", 1000), "facts": _chosen(), "description": forms.text("description", 200)}


def _chosen() -> list[str]:
    """What is ticked; a whole group stands for the facts in it."""
    ticked = request.form.getlist("facts")[:200]
    if ALL in ticked:
        return [ALL]
    return [name for name in ticked if name.endswith(".*") or f"{_group(name)}.*" not in ticked]


def _group(fact: str) -> str:
    kind = FACTS.get(fact)
    return kind.group.value if kind else ""


@bp.post("/settings/webhooks")
@page(_MANAGE)
def create_webhook() -> Page:
    """Register an address, and show the secret that signs, this once."""
    try:
        fields = forms.read(schemas.NewWebhook, _fields()).model_dump()
        with parts().database.writing() as session:
            row, secret = service.create(
                session,
                current_organisation(),
                fields,
                sealer=parts().sealer,
                http_allowed=parts().config.webhook_http,
                context=context(),
            )
    except GatehouseError as error:
        return _form(None, forms.problems_of(error)), error.status
    return render_settings("webhook_secret.html", "webhooks", row=row, secret=secret, renewed=False)


@bp.get("/settings/webhooks/<webhook_id>")
@page(_MANAGE)
def webhook(webhook_id: str) -> str:
    """One webhook: its state, and the log of what was delivered."""
    state = request.args.get("state", "")
    wanted = State(state) if state in {each.value for each in State} else None
    with parts().database.reading() as session:
        row = queries.webhook(session, current_organisation(), webhook_id)
        before = request.args.get("before", "")[:36] or None
        found = queries.messages(session, current_organisation(), webhook_id, wanted, before=before, limit=SHOWN)
        waiting = queries.waiting_counts(session, current_organisation()).get(webhook_id, 0)
    shown = {
        "messages": found[:SHOWN],
        "next": found[SHOWN - 1].message_id if len(found) > SHOWN else "",
        "state": state,
    }
    described = {name: kind.description for name, kind in FACTS.items()}
    return render_settings("webhook.html", "webhooks", row=row, waiting=waiting, described=described, **shown)


@bp.get("/settings/webhooks/<webhook_id>/edit")
@page(_MANAGE)
def edit_webhook(webhook_id: str) -> str:
    """The address and the topics, to be changed."""
    with parts().database.reading() as session:
        return _form(queries.webhook(session, current_organisation(), webhook_id), {})


@bp.post("/settings/webhooks/<webhook_id>/edit")
@page(_MANAGE)
def change_webhook(webhook_id: str) -> Page:
    """Change the address and the topics."""
    with parts().database.reading() as session:
        row = queries.webhook(session, current_organisation(), webhook_id)
    try:
        changes = forms.read_changes(schemas.ChangeWebhook, _fields())
        with parts().database.writing() as session:
            _change(session, webhook_id, changes)
    except GatehouseError as error:
        return _form(row, forms.problems_of(error)), error.status
    return redirect(url_for("admin.webhook", webhook_id=webhook_id, done="webhook_changed"))


def _change(session: Session, webhook_id: str, changes: Mapping[str, Any]) -> None:
    row = queries.webhook(session, current_organisation(), webhook_id, lock=True)
    service.change(session, row, changes, http_allowed=parts().config.webhook_http, context=context())


@bp.post("/settings/webhooks/<webhook_id>/pause")
@page(_MANAGE)
def pause_webhook(webhook_id: str) -> WerkzeugResponse:
    """Post nothing for now; what happens meanwhile waits."""
    with parts().database.writing() as session:
        _change(session, webhook_id, {"active": False})
    return redirect(url_for("admin.webhook", webhook_id=webhook_id, done="webhook_paused"))


@bp.post("/settings/webhooks/<webhook_id>/resume")
@page(_MANAGE)
def resume_webhook(webhook_id: str) -> WerkzeugResponse:
    """Post again, and what has waited first."""
    with parts().database.writing() as session:
        _change(session, webhook_id, {"active": True})
    return redirect(url_for("admin.webhook", webhook_id=webhook_id, done="webhook_resumed"))


@bp.post("/settings/webhooks/<webhook_id>/test")
@page(_MANAGE)
def test_webhook(webhook_id: str) -> WerkzeugResponse:
    """Send a message that tells of nothing."""
    with parts().database.writing() as session:
        message = service.send_test(session, current_organisation(), webhook_id, context())
    return redirect(url_for("admin.webhook_message", webhook_id=webhook_id, message_id=message.message_id))


@bp.get("/settings/webhooks/<webhook_id>/secret")
@page(_MANAGE)
def ask_to_renew_secret(webhook_id: str) -> str:
    """What a new secret means for whoever checks signatures."""
    with parts().database.reading() as session:
        row = queries.webhook(session, current_organisation(), webhook_id)
    return render_settings("webhook_renew.html", "webhooks", row=row, hours=rules.OVERLAP_HOURS)


@bp.post("/settings/webhooks/<webhook_id>/secret")
@page(_MANAGE)
def renew_secret(webhook_id: str) -> str:
    """Another secret, shown once; the one until now signs too for a day, unless it has leaked."""
    hours = 0 if forms.ticked("leaked") else rules.OVERLAP_HOURS
    with parts().database.writing() as session:
        row, secret = service.renew_secret(
            session,
            current_organisation(),
            webhook_id,
            overlap_hours=hours,
            sealer=parts().sealer,
            context=context(),
        )
    return render_settings("webhook_secret.html", "webhooks", row=row, secret=secret, renewed=True)


@bp.get("/settings/webhooks/<webhook_id>/remove")
@page(_MANAGE)
def ask_to_remove_webhook(webhook_id: str) -> str:
    """What goes with a webhook."""
    with parts().database.reading() as session:
        row = queries.webhook(session, current_organisation(), webhook_id)
        waiting = queries.waiting_counts(session, current_organisation()).get(webhook_id, 0)
    return render_settings("webhook_remove.html", "webhooks", row=row, waiting=waiting)


@bp.post("/settings/webhooks/<webhook_id>/remove")
@page(_MANAGE)
def remove_webhook(webhook_id: str) -> WerkzeugResponse:
    """Delete a webhook with its log."""
    with parts().database.writing() as session:
        service.remove(session, current_organisation(), webhook_id, context())
    return redirect(url_for("admin.webhooks_page", done="webhook_removed"))
