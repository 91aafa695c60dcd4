"""Reads of devices, always within one organisation, except where a signed request names a device by number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import NotFound
from sync_server.devices.models import Assignment, Device, DeviceReport, EnrolmentCode
from sync_server.devices.rules import DeviceState, Work, state_of

NO_DEVICE = "There is no such device."


@dataclass(frozen=True, slots=True)
class KnownDevice:
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
        """Whether the organiser has shut it out."""
        return self.revoked_at is not None


@dataclass(frozen=True, slots=True)
class DeviceView:
    """A device as its organiser sees it, before journals are looked at."""

    device: Device
    state: DeviceState
    report: DeviceReport | None
    assignments: tuple[Work, ...]


def by_number(session: Session, number: int) -> KnownDevice | None:
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
    return None if row is None else KnownDevice(*row)


def get(session: Session, organisation_id: str, device_id: str) -> Device:
    """One device; NotFound for another organisation's too."""
    device = session.get(Device, device_id)
    if device is None or device.organisation_id != organisation_id:
        raise NotFound(NO_DEVICE, code="device_not_found")
    return device


def view(session: Session, organisation_id: str, device_id: str) -> DeviceView:
    """One device with all that is known of it."""
    device = get(session, organisation_id, device_id)
    return _view(device, session.get(DeviceReport, device.id), assignments(session, device.id))


def views(session: Session, organisation_id: str) -> list[DeviceView]:
    """Every device of an organisation, by name."""
    of_organisation = select(Device).where(Device.organisation_id == organisation_id)
    devices = session.scalars(of_organisation.order_by(Device.name, Device.id))
    told = session.scalars(select(DeviceReport).where(DeviceReport.organisation_id == organisation_id))
    reports = {report.device_id: report for report in told}
    works = _works(session, organisation_id)
    return [_view(device, reports.get(device.id), tuple(works.get(device.id, ()))) for device in devices]


def _works(session: Session, organisation_id: str) -> dict[str, list[Work]]:
    works: dict[str, list[Work]] = {}
    assigned = select(Assignment).where(Assignment.organisation_id == organisation_id)
    for row in session.scalars(assigned.order_by(Assignment.event_number)):
        works.setdefault(row.device_id, []).append(_work(row))
    return works


def views_of_event(session: Session, organisation_id: str, event_number: int) -> list[DeviceView]:
    """The devices that an event counts on."""
    return [
        each
        for each in views(session, organisation_id)
        if any(assigned.event_number == event_number for assigned in each.assignments)
    ]


def _view(device: Device, report: DeviceReport | None, works: tuple[Work, ...]) -> DeviceView:
    return DeviceView(device, state_of(device.enrolled_at, device.revoked_at), report, works)


def assignments(session: Session, device_id: str) -> tuple[Work, ...]:
    """What a device does, by event."""
    found = select(Assignment).where(Assignment.device_id == device_id).order_by(Assignment.event_number)
    return tuple(_work(row) for row in session.scalars(found))


def _work(row: Assignment) -> Work:
    gates, zones = tuple(row.gates_allowed), tuple(row.zones)
    return Work(row.event_id, row.event_number, row.gate, gates, zones, row.direction, row.mode)


def event_numbers(session: Session, device_id: str) -> frozenset[int]:
    """The events whose rows a device may hold."""
    return frozenset(session.scalars(select(Assignment.event_number).where(Assignment.device_id == device_id)))


def organisation_of(session: Session, device_numbers: set[int]) -> dict[int, str]:
    """Whose each of these devices is."""
    found = select(Device.number, Device.organisation_id).where(Device.number.in_(device_numbers))
    return dict(session.execute(found).all())


def names(session: Session, organisation_id: str) -> dict[int, str]:
    """Names of an organisation's devices by number."""
    found = select(Device.number, Device.name).where(Device.organisation_id == organisation_id)
    return dict(session.execute(found).all())


def latest_code(session: Session, device_id: str) -> EnrolmentCode | None:
    """The code that was made last for a device, open or not."""
    newest = EnrolmentCode.created_at.desc(), EnrolmentCode.withdrawn_at.is_not(None)
    found = select(EnrolmentCode).where(EnrolmentCode.device_id == device_id).order_by(*newest)
    return session.scalars(found.limit(1)).first()


def holder_of_key(session: Session, public_key: bytes) -> str | None:
    """The device that has this key."""
    return session.scalar(select(Device.id).where(Device.public_key == public_key))


def rows_told(session: Session, device_id: str) -> list[dict[str, Any]]:
    """How far a device's rows were when it last told."""
    return session.scalar(select(DeviceReport.rows).where(DeviceReport.device_id == device_id)) or []


def standing(session: Session, device_id: str) -> tuple[str, bool]:
    """A device's profile, and whether it has been shut out."""
    profile, revoked_at = session.execute(select(Device.profile, Device.revoked_at).where(Device.id == device_id)).one()
    return profile, revoked_at is not None
