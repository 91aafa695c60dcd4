"""The gates of an event, and the zones to which each lets guests in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from flask import redirect, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import GatehouseError
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page, render_page, words
from sync_server.events import queries, service
from sync_server.events.schemas import NewZone
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context

KINDS: Final = ("ga_standing", "ga_seated", "reserved_seating")
Page = str | tuple[str, int] | WerkzeugResponse


@bp.get("/events/<event_id>/gates")
@page()
def event_gates(event_id: str) -> str:
    """Which gate leads where."""
    return _gates(event_id, {})


def _gates(event_id: str, problems: Mapping[str, str]) -> str:
    with parts().database.reading() as session:
        event = queries.event(session, current_organisation(), event_id)
        gates, zones = queries.gate_rows(session, event), queries.zones(session, *event.key)
    kinds = [(kind, words()(f"zone_kind.{kind}")) for kind in KINDS]
    shown = {"gates": gates, "zones": zones, "problems": problems, "typed": request.form, "kinds": kinds}
    return render_page("door/gates.html", event=event, **shown)


@bp.post("/events/<event_id>/gates")
@page(Action.EDIT_EVENTS)
def serve_zones(event_id: str) -> Page:
    """Set the zones of every gate; a gate without a tick leads everywhere."""
    with parts().database.writing() as session:
        event = queries.event(session, current_organisation(), event_id, lock=True)
        for gate in queries.gate_rows(session, event):
            ticked = sorted(_ticked(f"gate-{gate.number}"))
            if ticked != sorted(gate.zones):
                _serve(session, event_id, gate.number, ticked)
    return redirect(url_for("admin.event_gates", event_id=event_id, saved=1))


def _serve(session: Session, event_id: str, gate: int, zones: list[int]) -> None:
    service.set_gate_zones(session, current_organisation(), event_id, gate, zones=zones, context=context())


def _ticked(name: str) -> set[int]:
    """The zones that are ticked; anything else in the form is none."""
    return {int(each) for each in request.form.getlist(name) if each.isascii() and each.isdigit() and len(each) < 6}


@bp.post("/events/<event_id>/zones")
@page(Action.EDIT_EVENTS)
def add_zone(event_id: str) -> Page:
    """Add a zone: a part of the venue that some tickets are for, and others are not."""
    values = {
        "name": forms.text_or_none("name", 100),
        "kind": forms.text("kind", 30),
        "capacity": forms.number_as_typed("capacity"),
    }
    try:
        fields = forms.read(NewZone, values).model_dump()
        with parts().database.writing() as session:
            service.add_zone(session, current_organisation(), event_id, fields, context())
    except GatehouseError as error:
        return _gates(event_id, forms.problems_of(error)), error.status
    return redirect(url_for("admin.event_gates", event_id=event_id, saved=1))
