"""Pages of devices: their state, enrolment, assignments and revocation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from flask import redirect, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as WerkzeugResponse

from shared.errors import InvalidRequest
from shared.lifecycle import OVER
from shared.words.numerals import whole
from sync_server.admin import forms
from sync_server.admin.page import bp, current_organisation, page, render_page, words
from sync_server.devices import codes, enrolment, queries, service, standing
from sync_server.devices.event_assignments import event_assignment
from sync_server.devices.identity import server_key
from sync_server.devices.rules import CODE_LIFETIME_MS, SILENT_AFTER_MS, EventAssignment
from sync_server.events import queries as events
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context
from sync_server.revisions import versions
from sync_server.scans import gaps, quarantine
from sync_server.scans import queries as scans
from sync_server.scans.queries import EMPTY_JOURNAL

MOST_OFFERED: Final = 200
"""Events that a device's page offers; later ones are assigned when their time comes, or through the API."""
Page = str | tuple[str, int] | WerkzeugResponse


@bp.get("/devices")
@page()
def devices() -> str:
    """All devices and their state; the page refreshes every few seconds."""
    return _devices({})


def _devices(problems: dict[str, str]) -> str:
    with parts().database.reading() as session:
        views = queries.views(session, current_organisation())
        shown = {
            "journals": scans.journal_states(session, current_organisation()),
            "lost": gaps.lost(session, current_organisation()),
            "stale": _stale(session, views),
            "without_gate": standing.without_gate(session, current_organisation(), views),
            "titles": events.names(session, current_organisation(), _event_numbers(views)),
        }
    fixed = {"nothing": EMPTY_JOURNAL, "silent_after": SILENT_AFTER_MS, "problems": problems, "typed": request.form}
    return render_page("door/devices.html", views=views, **fixed, **shown)


@bp.post("/devices")
@page(Action.MANAGE_DEVICES)
def create_device() -> Page:
    """Create a device, and go to its page."""
    try:
        with parts().database.writing() as session:
            made = service.create(session, current_organisation(), forms.text("name", 200), "gate", context())
    except InvalidRequest as error:
        return _devices(forms.problems_of(error)), error.status
    return redirect(url_for("admin.device", device_id=made.id))


@bp.get("/devices/<device_id>")
@page()
def device(device_id: str) -> str:
    """One device: its assignments, state and enrolment."""
    return _device(device_id, {})


def _device(device_id: str, problems: dict[str, str]) -> str:
    with parts().database.reading() as session:
        view = queries.view(session, current_organisation(), device_id)
        chosen = {work.event_id: work for work in view.assignments}
        offered = events.assignable_events(session, current_organisation(), chosen, MOST_OFFERED)
        gates = events.gate_rows_of(session, current_organisation(), offered)
        choices = [(event, gates[event.id]) for event in offered]
        journal = scans.journal_state(session, current_organisation(), view.device.number)
        lost = gaps.lost(session, current_organisation(), view.device.number).get(view.device.number)
        code = queries.latest_code(session, current_organisation(), device_id)
    known = {
        event.id: (event.name, {gate.number: gate.code for gate in gates})
        for event, gates in choices
        if event.status not in OVER
    }
    without_gate = standing.problems_of(view, known)
    full = len(choices) >= MOST_OFFERED
    shown = {"journal": journal, "full": full, "lost": lost, "code": code, "without_gate": without_gate}
    state = codes.state_of(code, parts().clock())
    more = {"code_state": state, "problems": problems}
    return render_page("door/device.html", view=view, chosen=chosen, choices=choices, **more, **shown)


@bp.post("/devices/<device_id>/work")
@page(Action.MANAGE_DEVICES)
def give_work(device_id: str) -> WerkzeugResponse:
    """Set the events that the device works at."""
    with parts().database.writing() as session:
        found = queries.get(session, current_organisation(), device_id)
        works = [_work(session, event_id) for event_id in request.form.getlist("event")]
        service.assign(session, found, works, context())
    return redirect(url_for("admin.device", device_id=device_id))


@bp.post("/devices/<device_id>/code")
@page(Action.MANAGE_DEVICES)
def make_code(device_id: str) -> str:
    """Create an enrolment code, shown only on this page."""
    public, acting = server_key().public, context()
    with parts().database.writing() as session:
        found = queries.get(session, current_organisation(), device_id)
        code = enrolment.new_code(session, found, public, parts().sealer, acting)
    address = parts().config.base_url
    shown = {"qr_code": codes.qr_svg(code.shown(address)), "expires_at": acting.now + CODE_LIFETIME_MS}
    return render_page("door/code.html", device=found, address=address, code=code.text, **shown)


@bp.get("/devices/<device_id>/enrolment")
@page()
def enrolment_state(device_id: str) -> str:
    """The state of the latest code: a fragment of the code's page, refreshed every two seconds."""
    with parts().database.reading() as session:
        found = queries.get(session, current_organisation(), device_id)
        code = queries.latest_code(session, current_organisation(), device_id)
    return render_page("door/enrolment.html", device=found, code=code, state=codes.state_of(code, parts().clock()))


@bp.get("/devices/<device_id>/revoke")
@page(Action.MANAGE_DEVICES)
def ask_to_revoke(device_id: str) -> str:
    """What revoking a device means, before it is done for good."""
    with parts().database.reading() as session:
        view = queries.view(session, current_organisation(), device_id)
        journal = scans.journal_state(session, current_organisation(), view.device.number)
    unsent = max(view.report.unsent if view.report else 0, journal.missing)
    return render_page("door/device_revoke.html", view=view, device=view.device, journal=journal, unsent=unsent)


@bp.post("/devices/<device_id>/revoke")
@page(Action.MANAGE_DEVICES)
def revoke(device_id: str) -> WerkzeugResponse:
    """Revoke a device for good."""
    reason = forms.text("reason", 1_000)
    with parts().database.writing() as session:
        found = queries.get(session, current_organisation(), device_id)
        service.revoke(session, found, reason, context())
    return redirect(url_for("admin.device", device_id=device_id))


@bp.post("/devices/<device_id>/late-entries")
@page(Action.RESOLVE_CONFLICTS)
def accept_late(device_id: str) -> Page:
    """Accept the entries that a device wrote after it was revoked."""
    note = forms.text("note", 2_000)
    if not note:
        return _device(device_id, {"note": words()("device.no_note")}), InvalidRequest.status
    with parts().database.writing() as session:
        quarantine.accept_late(session, current_organisation(), device_id, context(), note=note, sealer=parts().sealer)
    return redirect(url_for("admin.device", device_id=device_id))


def _work(session: Session, event_id: str) -> EventAssignment:
    gate = request.form.get(f"gate-{event_id}", "")
    return event_assignment(
        session,
        current_organisation(),
        event_id,
        gate=whole(gate, 65_535),
        direction=request.form.get(f"direction-{event_id}", "entry"),
        mode=request.form.get(f"mode-{event_id}", "real"),
    )


def _event_numbers(views: Iterable[queries.DeviceView]) -> set[int]:
    return {work.event_number for view in views for work in view.assignments}


def _stale(session: Session, views: Iterable[queries.DeviceView]) -> dict[tuple[int, int], int]:
    """Since when event data on devices has been out of date, by event number and revision."""
    held = {(row["event"], row["revision"]) for view in views if view.report for row in view.report.rows}
    ids = events.ids(session, current_organisation(), {number for number, _ in held})
    known = {(ids[number], revision): (number, revision) for number, revision in held if number in ids}
    since = versions.stale_since(session, current_organisation(), known)
    return {known[named]: at for named, at in since.items()}
