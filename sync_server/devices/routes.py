"""/api/devices: gate machines of an organisation."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from sqlalchemy.orm import Session

from sync_server.devices import codes, enrolment, queries, schemas, service
from sync_server.devices.event_assignments import event_assignment
from sync_server.devices.identity import server_key
from sync_server.devices.rules import CODE_LIFETIME_MS, EventAssignment
from sync_server.plumbing.api.idempotency import run_once
from sync_server.plumbing.api.schemas import iso_or_none
from sync_server.plumbing.parts import parts
from sync_server.plumbing.principals import Action
from sync_server.plumbing.web import current_actor, organisation, requires

bp = APIBlueprint("devices", __name__, url_prefix="/api/devices", tag="Devices")


@bp.get("")
@requires(Action.READ)
@bp.output(schemas.DevicesOut)
def devices() -> schemas.DevicesOut:
    """List all devices, with their last reports."""
    with parts().database.reading() as session:
        found = queries.views(session, organisation())
        return schemas.DevicesOut(items=[schemas.DeviceOut.of(view, parts().clock()) for view in found])


@bp.post("")
@requires(Action.MANAGE_DEVICES)
@bp.input(schemas.NewDevice)
@bp.output(schemas.DeviceOut, status_code=201)
def create(json_data: schemas.NewDevice) -> Response:
    """Create a device; it waits until a machine enrols with a code."""

    def write(session: Session) -> dict[str, Any]:
        device = service.create(
            session,
            organisation(),
            json_data.name,
            json_data.profile,
            actor=current_actor(),
            now=parts().clock(),
        )
        return _out(session, device.id).model_dump(mode="json")

    return run_once(write)


@bp.get("/<device_id>")
@requires(Action.READ)
@bp.output(schemas.DeviceOut)
def device(device_id: str) -> schemas.DeviceOut:
    """One device."""
    with parts().database.reading() as session:
        return _out(session, device_id)


@bp.patch("/<device_id>")
@requires(Action.MANAGE_DEVICES)
@bp.input(schemas.ChangeDevice)
@bp.output(schemas.DeviceOut)
def change(device_id: str, json_data: schemas.ChangeDevice) -> schemas.DeviceOut:
    """Give a device another name or profile."""
    with parts().database.writing() as session:
        found = queries.get(session, organisation(), device_id)
        service.change(
            session,
            found,
            name=json_data.name,
            profile=json_data.profile,
            actor=current_actor(),
            now=parts().clock(),
        )
        return _out(session, device_id)


@bp.put("/<device_id>/assignments")
@requires(Action.MANAGE_DEVICES)
@bp.input(schemas.Assignments)
@bp.output(schemas.DeviceOut)
def assign(device_id: str, json_data: schemas.Assignments) -> schemas.DeviceOut:
    """Set all assignments of a device."""
    with parts().database.writing() as session:
        found = queries.get(session, organisation(), device_id)
        assignments = [_assignment(session, wanted) for wanted in json_data.assignments]
        service.assign(session, found, assignments, actor=current_actor(), now=parts().clock())
        return _out(session, device_id)


@bp.post("/<device_id>/code")
@requires(Action.MANAGE_DEVICES)
@bp.output(schemas.CodeOut, status_code=201)
def new_code(device_id: str) -> schemas.CodeOut:
    """Create an enrolment code, shown in this response only. There is no Idempotency-Key here, because storing the
    response would store the code."""
    public, now = server_key().public, parts().clock()
    with parts().database.writing() as session:
        found = queries.get(session, organisation(), device_id)
        code = enrolment.new_code(session, found, public, parts().sealer, actor=current_actor(), now=now)
    return schemas.CodeOut.of(code.text, now + CODE_LIFETIME_MS, codes.qr_svg(code.text))


@bp.get("/<device_id>/enrolment")
@requires(Action.READ)
@bp.output(schemas.EnrolmentOut)
def enrolment_state(device_id: str) -> schemas.EnrolmentOut:
    """The state of the latest code, and the check number to compare with the gate's screen."""
    with parts().database.reading() as session:
        found = queries.get(session, organisation(), device_id)
        code = queries.latest_code(session, organisation(), found.id)
    return schemas.EnrolmentOut(
        state=codes.state_of(code, parts().clock()),
        check_number=code.check_number if code else "",
        tries_left=code.tries_left if code else 0,
        expires_at=iso_or_none(code.expires_at if code else None),
    )


@bp.post("/<device_id>/revoke")
@requires(Action.MANAGE_DEVICES)
@bp.input(schemas.Revocation)
@bp.output(schemas.DeviceOut)
def revoke(device_id: str, json_data: schemas.Revocation) -> schemas.DeviceOut:
    """Revoke a device for good; it may still deliver its journal."""
    with parts().database.writing() as session:
        found = queries.get(session, organisation(), device_id)
        service.revoke(session, found, json_data.reason, actor=current_actor(), now=parts().clock())
        return _out(session, device_id)


def _assignment(session: Session, wanted: schemas.AssignmentIn) -> EventAssignment:
    return event_assignment(
        session,
        organisation(),
        wanted.event_id,
        gate=wanted.gate,
        gates_allowed=wanted.gates_allowed,
        zones=wanted.zones,
        direction=wanted.direction,
        mode=wanted.mode,
    )


def _out(session: Session, device_id: str) -> schemas.DeviceOut:
    return schemas.DeviceOut.of(queries.view(session, organisation(), device_id), parts().clock())
