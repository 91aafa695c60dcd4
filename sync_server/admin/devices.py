"""Pages of devices: how each is doing, letting a new one in, giving it work, shutting it out."""

from __future__ import annotations

from collections.abc import Iterable

from flask import redirect, request, url_for
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response as Answer

from shared.errors import InvalidRequest
from sync_server.admin.page import bp, page, show, whose
from sync_server.devices import codes, enrolment, queries, service
from sync_server.devices.identity import server_key
from sync_server.devices.rules import CODE_LIFETIME_MS, SILENT_AFTER_MS, Work
from sync_server.devices.work import work_at
from sync_server.events import queries as events
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import current_actor
from sync_server.revisions import versions
from sync_server.scans import gaps, quarantine
from sync_server.scans import queries as scans
from sync_server.scans.queries import NOTHING_YET


@bp.get("/devices")
@page()
def devices() -> str:
    """Every device and how it is doing; the page looks again every few seconds."""
    with parts().database.reading() as session:
        views = queries.views(session, whose())
        told = {
            "journals": scans.journal_states(session, whose()),
            "lost": gaps.lost(session, whose()),
            "stale": _stale(session, views),
            "titles": {event.number: event.name for event in events.active_events(session, whose())},
        }
    return show("devices.html", views=views, nothing=NOTHING_YET, silent_after=SILENT_AFTER_MS, **told)


@bp.post("/devices")
@page(Action.MANAGE_DEVICES)
def create_device() -> Answer:
    """A new device, to be given work and a code next."""
    name = request.form.get("name", "")
    with parts().database.writing() as session:
        made = service.create(session, whose(), name, "gate", actor=current_actor(), now=parts().clock())
    return redirect(url_for("admin.device", device_id=made.id))


@bp.get("/devices/<device_id>")
@page()
def device(device_id: str) -> str:
    """One device: its work, its state, its enrolment."""
    with parts().database.reading() as session:
        view = queries.view(session, whose(), device_id)
        chosen = {work.event_id: work for work in view.assignments}
        choices = [(event, events.gate_rows(session, event)) for event in events.active_events(session, whose())]
        journal = scans.journal_states(session, whose()).get(view.device.number, NOTHING_YET)
        lost = gaps.lost(session, whose()).get(view.device.number)
        code = queries.latest_code(session, device_id)
    told = {"journal": journal, "lost": lost, "code": code}
    state = codes.state_of(code, parts().clock())
    return show("device.html", view=view, chosen=chosen, choices=choices, code_state=state, **told)


@bp.post("/devices/<device_id>/work")
@page(Action.MANAGE_DEVICES)
def give_work(device_id: str) -> Answer:
    """Say what the device does at every event."""
    with parts().database.writing() as session:
        found = queries.get(session, whose(), device_id)
        works = [_work(session, event_id) for event_id in request.form.getlist("event")]
        service.assign(session, found, works, actor=current_actor(), now=parts().clock())
    return redirect(url_for("admin.device", device_id=device_id))


@bp.post("/devices/<device_id>/code")
@page(Action.MANAGE_DEVICES)
def make_code(device_id: str) -> str:
    """A new code, shown on this page and never again."""
    public, now = server_key().public, parts().clock()
    with parts().database.writing() as session:
        found = queries.get(session, whose(), device_id)
        code = enrolment.new_code(session, found, public, parts().sealer, actor=current_actor(), now=now)
    told = {"code": code.text, "picture": codes.qr_svg(code.text), "expires_at": now + CODE_LIFETIME_MS}
    return show("code.html", device=found, address=parts().config.base_url, **told)


@bp.get("/devices/<device_id>/enrolment")
@page()
def enrolment_state(device_id: str) -> str:
    """How the latest code fares: a piece of the code's page that looks again every two seconds."""
    with parts().database.reading() as session:
        found = queries.get(session, whose(), device_id)
        code = queries.latest_code(session, device_id)
    return show("enrolment.html", device=found, code=code, state=codes.state_of(code, parts().clock()))


@bp.post("/devices/<device_id>/revoke")
@page(Action.MANAGE_DEVICES)
def revoke(device_id: str) -> Answer:
    """Shut a device out for good."""
    why = request.form.get("reason", "")[:1000]
    with parts().database.writing() as session:
        found = queries.get(session, whose(), device_id)
        service.revoke(session, found, why, actor=current_actor(), now=parts().clock())
    return redirect(url_for("admin.device", device_id=device_id))


@bp.post("/devices/<device_id>/late-entries")
@page(Action.RESOLVE_CONFLICTS)
def accept_late(device_id: str) -> Answer:
    """Take the word of a device that was shut out for what it wrote late."""
    note = request.form.get("note", "").strip()[:2000]
    if not note:
        raise InvalidRequest("Say in a note why these entries are to be believed.", field="note")
    with parts().database.writing() as session:
        quarantine.accept_late(
            session,
            whose(),
            device_id,
            sealer=parts().sealer,
            actor=current_actor(),
            now=parts().clock(),
            note=note,
        )
    return redirect(url_for("admin.device", device_id=device_id))


def _work(session: Session, event_id: str) -> Work:
    gate = request.form.get(f"gate-{event_id}", "")
    return work_at(
        session,
        whose(),
        event_id,
        gate=int(gate) if gate.isdecimal() else None,
        direction=request.form.get(f"direction-{event_id}", "entry"),
        mode=request.form.get(f"mode-{event_id}", "real"),
    )


def _stale(session: Session, views: Iterable[queries.DeviceView]) -> dict[tuple[int, int], int]:
    """Since when each device's rows are not the newest, by event and revision held."""
    held = {(row["event"], row["revision"]) for view in views if view.report for row in view.report.rows}
    return versions.stale_since(session, held)
