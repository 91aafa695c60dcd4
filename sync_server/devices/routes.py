"""/api/devices: gate machines of an organisation."""

from __future__ import annotations

from apiflask import APIBlueprint
from sqlalchemy.orm import Session

from sync_server.devices import codes, enrolment, queries, schemas, service, standing
from sync_server.devices.event_assignments import event_assignment
from sync_server.devices.identity import server_key
from sync_server.devices.rules import CODE_LIFETIME_MS, EventAssignment
from sync_server.plumbing.api.edits import check_unchanged, tagged
from sync_server.plumbing.api.idempotency import once
from sync_server.plumbing.api.schemas import iso
from sync_server.plumbing.parts import parts
from sync_server.plumbing.requests.principals import Action
from sync_server.plumbing.web import context, organisation, requires

bp = APIBlueprint("devices", __name__, url_prefix="/api/devices", tag="Devices")


@bp.get("")
@requires(Action.READ)
@bp.output(schemas.DevicesOut)
def devices() -> schemas.DevicesOut:
    """List all devices, with their last reports."""
    with parts().database.reading() as session:
        found = queries.views(session, organisation())
        problems = standing.without_gate(session, organisation(), found)
        now = parts().clock()
        return schemas.DevicesOut(
            items=[schemas.device_out(view, now, problems.get(view.device.id, ())) for view in found]
        )


@bp.post("")
@requires(Action.MANAGE_DEVICES)
@bp.input(schemas.NewDevice)
@bp.output(schemas.DeviceOut, status_code=201)
@once
def create(session: Session, json_data: schemas.NewDevice) -> schemas.DeviceOut:
    """Create a device; it waits until a machine enrols with a code."""
    return _out(session, service.create(session, organisation(), json_data.name, json_data.profile, context()).id)


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
        found = queries.get(session, organisation(), device_id, lock=True)
        check_unchanged(lambda: _out(session, device_id))
        service.change(session, found, json_data.name, json_data.profile, context())
        return tagged(_out(session, device_id))


@bp.put("/<device_id>/assignments")
@requires(Action.MANAGE_DEVICES)
@bp.input(schemas.Assignments)
@bp.output(schemas.DeviceOut)
def assign(device_id: str, json_data: schemas.Assignments) -> schemas.DeviceOut:
    """Set all assignments of a device."""
    with parts().database.writing() as session:
        found = queries.get(session, organisation(), device_id, lock=True)
        check_unchanged(lambda: _out(session, device_id))
        assignments = [_assignment(session, wanted) for wanted in json_data.assignments]
        service.assign(session, found, assignments, context())
        return tagged(_out(session, device_id))


@bp.post("/<device_id>/code")
@requires(Action.MANAGE_DEVICES)
@bp.output(schemas.CodeOut, status_code=201)
def new_code(device_id: str) -> schemas.CodeOut:
    """Create an enrolment code, shown in this response only. There is no Idempotency-Key here, because storing the
    response would store the code."""
    public, acting = server_key().public, context()
    with parts().database.writing() as session:
        found = queries.get(session, organisation(), device_id)
        code = enrolment.new_code(session, found, public, parts().sealer, acting)
    expires_at = iso(acting.now + CODE_LIFETIME_MS)
    return schemas.CodeOut(
        code=code.text, expires_at=expires_at, qr_svg=codes.qr_svg(code.shown(parts().config.base_url))
    )


@bp.get("/<device_id>/enrolment")
@requires(Action.READ)
@bp.output(schemas.EnrolmentOut)
def enrolment_state(device_id: str) -> schemas.EnrolmentOut:
    """The state of the latest code, and the check number to compare with the gate's screen."""
    with parts().database.reading() as session:
        found = queries.get(session, organisation(), device_id)
        code = queries.latest_code(session, organisation(), found.id)
    return schemas.EnrolmentOut.of(code, state=codes.state_of(code, parts().clock()))


@bp.post("/<device_id>/revoke")
@requires(Action.MANAGE_DEVICES)
@bp.input(schemas.Revocation)
@bp.output(schemas.DeviceOut)
def revoke(device_id: str, json_data: schemas.Revocation) -> schemas.DeviceOut:
    """Revoke a device for good; it may still deliver its journal."""
    with parts().database.writing() as session:
        found = queries.get(session, organisation(), device_id)
        service.revoke(session, found, json_data.reason, context())
        return _out(session, device_id)


def _assignment(session: Session, wanted: schemas.AssignmentIn) -> EventAssignment:
    return event_assignment(session, organisation(), **wanted.model_dump())


def _out(session: Session, device_id: str) -> schemas.DeviceOut:
    view = queries.view(session, organisation(), device_id)
    problems = standing.without_gate(session, organisation(), [view]).get(device_id, ())
    return schemas.device_out(view, parts().clock(), problems)
