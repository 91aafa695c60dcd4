"""Reads of devices, within one organisation except where a signed request names a device by number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.devices.models import Assignment, Device, DeviceReport, EnrolmentCode
from sync_server.devices.rules import DeviceState, EventAssignment, state_of

NO_DEVICE = "There is no such device."


@dataclass(frozen=True, slots=True)
class EnrolledDevice:
    """What a request needs of the device that signed it."""

    id: str
    number: int
    organisation_id: str
    name: str
    profile: str
    public_key: bytes
    revoked_at: Millis | None

    @property
    def revoked(self) -> bool:
        """Whether the organiser has revoked it."""
        return self.revoked_at is not None


@dataclass(frozen=True, slots=True)
class DeviceView:
    """A device as its organiser sees it, without its journal."""

    device: Device
    state: DeviceState
    report: DeviceReport | None
    assignments: tuple[EventAssignment, ...]


def by_number(session: Session, number: int) -> EnrolledDevice | None:
    """The enrolled device of that number, revoked or not."""
    columns = (
        Device.id,
        Device.number,
        Device.organisation_id,
        Device.name,
        Device.profile,
        Device.public_key,
        Device.revoked_at,
    )
    row: Any = session.execute(select(*columns).where(Device.number == number, Device.public_key.is_not(None))).first()
    return None if row is None else EnrolledDevice(*row)


def get(session: Session, organisation_id: str, device_id: str) -> Device:
    """One device; NotFound for another organisation's too."""
    device = session.get(Device, device_id)
    if device is None or device.organisation_id != organisation_id:
        raise NotFound(NO_DEVICE, code="device_not_found")
    return device


def view(session: Session, organisation_id: str, device_id: str) -> DeviceView:
    """One device with its last report and its assignments."""
    device = get(session, organisation_id, device_id)
    return _view(device, session.get(DeviceReport, device.id), assignments(session, device.id))


def views(session: Session, organisation_id: str) -> list[DeviceView]:
    """Every device of an organisation, by name."""
    of_organisation = select(Device).where(Device.organisation_id == organisation_id)
    devices = session.scalars(of_organisation.order_by(Device.name, Device.id))
    rows = session.scalars(select(DeviceReport).where(DeviceReport.organisation_id == organisation_id))
    reports = {report.device_id: report for report in rows}
    works = _assignments_by_device(session, organisation_id)
    return [_view(device, reports.get(device.id), tuple(works.get(device.id, ()))) for device in devices]


def _assignments_by_device(session: Session, organisation_id: str) -> dict[str, list[EventAssignment]]:
    works: dict[str, list[EventAssignment]] = {}
    assigned = select(Assignment).where(Assignment.organisation_id == organisation_id)
    for row in session.scalars(assigned.order_by(Assignment.event_number)):
        works.setdefault(row.device_id, []).append(_assignment(row))
    return works


def views_of_event(session: Session, organisation_id: str, event_number: int) -> list[DeviceView]:
    """The devices assigned to an event."""
    return [
        each
        for each in views(session, organisation_id)
        if any(assigned.event_number == event_number for assigned in each.assignments)
    ]


def _view(device: Device, report: DeviceReport | None, works: tuple[EventAssignment, ...]) -> DeviceView:
    return DeviceView(device, state_of(device.enrolled_at, device.revoked_at), report, works)


def assignments(session: Session, device_id: str) -> tuple[EventAssignment, ...]:
    """The assignments of a device, by event."""
    found = select(Assignment).where(Assignment.device_id == device_id).order_by(Assignment.event_number)
    return tuple(_assignment(row) for row in session.scalars(found))


def _assignment(row: Assignment) -> EventAssignment:
    gates, zones = tuple(row.gates_allowed), tuple(row.zones)
    return EventAssignment(row.event_id, row.event_number, row.gate, gates, zones, row.direction, row.mode)


def event_numbers(session: Session, device_id: str) -> frozenset[int]:
    """The events whose rows a device may hold."""
    return frozenset(session.scalars(select(Assignment.event_number).where(Assignment.device_id == device_id)))


def organisation_of(session: Session, device_numbers: set[int]) -> dict[int, str]:
    """The organisation of each of these devices."""
    found = select(Device.number, Device.organisation_id).where(Device.number.in_(device_numbers))
    return dict(session.execute(found).all())


def names(session: Session, organisation_id: str) -> dict[int, str]:
    """Names of an organisation's devices by number."""
    found = select(Device.number, Device.name).where(Device.organisation_id == organisation_id)
    return dict(session.execute(found).all())


def latest_code(session: Session, device_id: str) -> EnrolmentCode | None:
    """The most recent code of a device, open or not."""
    newest = EnrolmentCode.created_at.desc(), EnrolmentCode.withdrawn_at.is_not(None)
    found = select(EnrolmentCode).where(EnrolmentCode.device_id == device_id).order_by(*newest)
    return session.scalars(found.limit(1)).first()


def holder_of_key(session: Session, public_key: bytes) -> str | None:
    """The device that has this key."""
    return session.scalar(select(Device.id).where(Device.public_key == public_key))


def reported_rows(session: Session, device_id: str) -> list[dict[str, Any]]:
    """How current a device's rows were at its last report."""
    return session.scalar(select(DeviceReport.rows).where(DeviceReport.device_id == device_id)) or []


def access_state(session: Session, device_id: str) -> tuple[str, bool]:
    """A device's profile, and whether it is revoked."""
    profile, revoked_at = session.execute(select(Device.profile, Device.revoked_at).where(Device.id == device_id)).one()
    return profile, revoked_at is not None
