"""Pages of codes: the batches of an event with their uses, a new one, and one with its codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from flask import redirect, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import GatehouseError, InvalidRequest
from sync_server.accounts import queries as accounts
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page, render_page, words
from sync_server.admin.selling.code_preview import Typed, prices
from sync_server.admin.selling.code_words import gives, standing
from sync_server.checkout.codes import batches, signing
from sync_server.checkout.codes.code_schemas import BatchView, NewBatch, batch_view
from sync_server.events import queries as events
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context
from sync_server.tickets import queries as tickets

SHOWN: Final = 20
KINDS: Final = ("discount", "presale")
Page = str | tuple[str, int] | WerkzeugResponse


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch as the page shows it."""

    row: batches.Row
    view: BatchView
    gives: str
    standing: str

    @property
    def most(self) -> int:
        """How many orders its codes can be used by in all."""
        return self.view.codes * self.view.max_uses


def _key(event_id: str) -> EventKey:
    return EventKey(current_organisation(), event_id)


def _shown(session: Session, event: EventKey, rows: Sequence[batches.Row]) -> list[Batch]:
    uses, now = batches.count_uses(session, event), parts().clock()
    types = {row.number: row.name for row in tickets.ticket_types(session, *event)}
    currency = accounts.organisation(session, event.organisation_id).currency
    found = []
    for row in rows:
        view = batch_view(row, uses.get(row.number, 0))
        stands = standing(view, row.valid_from, row.valid_until, now)
        found.append(Batch(row, view, gives(words(), view, types, currency), stands))
    return found


@bp.get("/events/<event_id>/codes")
@page()
def codes(event_id: str) -> str:
    """The batches of an event, the latest first."""
    with parts().database.reading() as session:
        event = events.event(session, current_organisation(), event_id)
        found = _shown(session, event.key, batches.batches(session, event.key))
    return render_page("selling/codes.html", event=event, batches=found[::-1])


@bp.get("/events/<event_id>/codes/new")
@page(Action.EDIT_EVENTS)
def new_codes(event_id: str) -> str:
    """The form of a new batch: of discounts, or of a presale."""
    return _form(event_id, request.args.get("kind", ""), {})


def _form(event_id: str, kind: str, problems: dict[str, str]) -> str:
    with parts().database.reading() as session:
        event = events.event(session, current_organisation(), event_id)
        types = tickets.ticket_types(session, *event.key)
        currency = accounts.organisation(session, event.organisation_id).currency
    kind = kind if kind in KINDS else KINDS[0]
    seen = Typed.of(_written(kind, event.timezone))
    typed = request.form if request.method == "POST" else None
    chosen = set(request.form.getlist("type"))
    shown = {"kind": kind, "types": types, "currency": currency, "typed": typed, "chosen": chosen}
    preview = {"seen": seen, "prices": prices(seen, types)}
    return render_page("selling/code_form.html", event=event, problems=problems, **preview, **shown)


@bp.post("/events/<event_id>/codes")
@page(Action.EDIT_EVENTS)
def make_codes(event_id: str) -> Page:
    """Make a batch, and show its codes."""
    kind = forms.text("kind", 10)
    if forms.only_looks():
        return _form(event_id, kind, {})
    try:
        with parts().database.writing() as session:
            event = events.event(session, current_organisation(), event_id)
            written = _written(kind, event.timezone)
            _require_something(written)
            asked = forms.read(NewBatch, written)
            made = batches.make(session, event.key, asked.model_dump(), context())
            number = made.number
    except GatehouseError as error:
        return _form(event_id, kind, forms.problems_of(error)), error.status
    return redirect(url_for("admin.code_batch", event_id=event_id, number=number))


def _written(kind: str, timezone: str) -> dict[str, Any]:
    """The fields of the form."""
    by_percent = forms.text("unit", 10) == "percent"
    worth = {
        "percent": forms.number("worth") if by_percent else 0,
        "cents": 0 if by_percent else forms.cents("worth"),
        "per": forms.text("per", 10) or "ticket",
    }
    return {
        "kind": kind or KINDS[0],
        "name": forms.text("name", 100),
        "codes": forms.number("codes") if forms.text("codes", 12) else 1,
        "max_uses": forms.number("max_uses") if forms.text("max_uses", 12) else 1,
        "ticket_types": [int(each) for each in request.form.getlist("type") if each.isdecimal()],
        "valid_from": forms.moment("valid_from", timezone),
        "valid_until": forms.moment("valid_until", timezone),
        **(worth if kind != "presale" else {"opens_sale": forms.ticked("opens_sale")}),
    }


def _require_something(written: Mapping[str, Any]) -> None:
    """InvalidRequest for codes that give nothing, said beside the field of the form."""
    if written["kind"] == "presale" and not written["ticket_types"]:
        raise InvalidRequest(words()("codes.no_types"), field="ticket_types")
    if written["kind"] != "presale" and not written["percent"] and not written["cents"]:
        raise InvalidRequest(words()("codes.no_worth"), field="percent")


@bp.get("/events/<event_id>/codes/<int:number>")
@page(Action.EDIT_EVENTS)
def code_batch(event_id: str, number: int) -> str:
    """One batch: what its codes give, how often they were used, and the first of them."""
    return _batch_page("selling/code_batch.html", event_id, number)


@bp.get("/events/<event_id>/codes/<int:number>/revoke")
@page(Action.EDIT_EVENTS)
def ask_to_revoke_codes(event_id: str, number: int) -> str:
    """What revoking a batch means, in numbers."""
    return _batch_page("selling/code_revoke.html", event_id, number)


def _batch_page(template: str, event_id: str, number: int) -> str:
    with parts().database.reading() as session:
        event = events.event(session, current_organisation(), event_id)
        batch = _shown(session, event.key, [batches.batch(session, event.key, number)])[0]
    first = islice(signing.codes(parts().sealer, event.key, number, batch.view.codes), SHOWN)
    return render_page(template, event=event, batch=batch, codes=list(first))


@bp.post("/events/<event_id>/codes/<int:number>/revoke")
@page(Action.EDIT_EVENTS)
def revoke_codes(event_id: str, number: int) -> Page:
    """Withdraw a batch; orders that used one of its codes keep their price."""
    with parts().database.writing() as session:
        batches.revoke(session, _key(event_id), number, context())
    return redirect(url_for("admin.codes", event_id=event_id))
