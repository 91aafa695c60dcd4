"""Reads of devices, within one organisation but for a request that names only the device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, select, true
from sqlalchemy.orm import Session

from shared.attempts import Mode
from shared.clock import Millis
from shared.errors import NotFound
from sync_server.devices.models import Assignment, Device, DeviceReport, EnrolmentCode
from sync_server.devices.rules import DeviceState, EventAssignment, state_of
from sync_server.events import queries as events
from sync_server.plumbing.event_key import EventKey

NO_DEVICE = "There is no such device."
_REPORTED = select(Device, DeviceReport).outerjoin(
    DeviceReport,
    and_(DeviceReport.organisation_id == Device.organisation_id, DeviceReport.device_id == Device.id),
)
"""Devices with their last report."""


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


@dataclass(frozen=True, slots=True)
class HeardDevice:
    """A device that has reported lately: how current its rows are, by its last report."""

    organisation_id: str
    number: int
    enrolled_at: Millis
    rows: list[dict[str, Any]]


def heard_since(session: Session, at: Millis) -> list[HeardDevice]:
    """The devices of the installation that have reported since then, by organisation; revoked ones are left out."""
    same = and_(DeviceReport.organisation_id == Device.organisation_id, DeviceReport.device_id == Device.id)
    columns = Device.organisation_id, Device.number, Device.enrolled_at, Device.created_at, DeviceReport.rows
    heard = DeviceReport.last_seen_at >= at, Device.revoked_at.is_(None)
    found = select(*columns).join(DeviceReport, same).where(*heard).order_by(Device.organisation_id, Device.number)
    return [
        HeardDevice(row.organisation_id, row.number, row.enrolled_at or row.created_at, row.rows)
        for row in session.execute(found)
    ]


def by_number(session: Session, number: int) -> EnrolledDevice | None:
    """The enrolled device of that number, revoked or not; its organisation is known from here on."""
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


def get(session: Session, organisation_id: str, device_id: str, *, lock: bool = False) -> Device:
    """One device; NotFound for another organisation's too."""
    locked = {"key_share": True} if lock else None
    device = session.get(Device, (organisation_id, device_id), with_for_update=locked, populate_existing=lock)
    if device is None:
        raise NotFound(NO_DEVICE, code="device_not_found")
    return device


def view(session: Session, organisation_id: str, device_id: str) -> DeviceView:
    """One device with its last report and its assignments."""
    row = session.execute(_REPORTED.where(Device.organisation_id == organisation_id, Device.id == device_id)).first()
    if row is None:
        raise NotFound(NO_DEVICE, code="device_not_found")
    return _view(*row, assignments(session, organisation_id, device_id))


def views(session: Session, organisation_id: str) -> list[DeviceView]:
    """Every device of an organisation, by name."""
    return _views(session, organisation_id, true(), None)


def _views(
    session: Session, organisation_id: str, chosen: ColumnElement[bool], ids: Select[str] | None
) -> list[DeviceView]:
    """The chosen devices; `ids` are theirs, as a query, unless all are chosen."""
    devices = _REPORTED.where(Device.organisation_id == organisation_id, chosen).order_by(Device.name, Device.id)
    works = Assignment.organisation_id == organisation_id
    if ids is not None:
        works = and_(works, Assignment.device_id.in_(ids))
    by_device: dict[str, list[EventAssignment]] = {}
    for row, assignment in _assigned(session, works):
        by_device.setdefault(row.device_id, []).append(assignment)
    return [_view(device, report, tuple(by_device.get(device.id, ()))) for device, report in session.execute(devices)]


def views_of_event(session: Session, event: EventKey) -> list[DeviceView]:
    """The devices assigned to an event, by name."""
    assigned = select(Assignment.device_id).where(event.of(Assignment))
    return _views(session, event.organisation_id, Device.id.in_(assigned), assigned)


def last_seen_at_event(session: Session, event: EventKey) -> list[Millis | None]:
    """When each enrolled device assigned to an event was last seen; None: never."""
    report = and_(DeviceReport.organisation_id == Device.organisation_id, DeviceReport.device_id == Device.id)
    enrolled = select(DeviceReport.last_seen_at).select_from(Device).outerjoin(DeviceReport, report)
    assigned = select(Assignment.device_id).where(event.of(Assignment))
    here = Device.organisation_id == event.organisation_id, Device.id.in_(assigned)
    counted = Device.enrolled_at.is_not(None), Device.revoked_at.is_(None)
    return list(session.scalars(enrolled.where(*here, *counted)))


@dataclass(frozen=True, slots=True)
class DeviceWord:
    """When an enrolled device was last heard, what it held back then, and at which gate it stands."""

    heard_at: Millis | None  # None: never
    unsent: int
    gate: int | None  # as it said itself, or else as it was assigned
    direction: str
    counts: bool  # whether it works there for real, so that its scans change who is inside


def words_at_event(session: Session, event: EventKey, number: int) -> list[DeviceWord]:
    """The last word of each enrolled device assigned to an event of this number: one statement."""
    device = and_(Device.organisation_id == Assignment.organisation_id, Device.id == Assignment.device_id)
    report = and_(DeviceReport.organisation_id == Device.organisation_id, DeviceReport.device_id == Device.id)
    work = Assignment.gate, Assignment.direction, Assignment.mode
    columns = select(*work, DeviceReport.last_seen_at, DeviceReport.unsent, DeviceReport.rows)
    wanted = columns.select_from(Assignment).join(Device, device).outerjoin(DeviceReport, report)
    counted = Device.enrolled_at.is_not(None), Device.revoked_at.is_(None)
    found = session.execute(wanted.where(event.of(Assignment), *counted)).all()
    return [
        DeviceWord(at, unsent or 0, _said_gate(rows, number) or gate, direction, mode == Mode.REAL)
        for gate, direction, mode, at, unsent, rows in found
    ]


def _said_gate(rows: list[dict[str, Any]] | None, number: int) -> int | None:
    return next((row.get("gate") for row in rows or () if row["event"] == number), None)


def _view(device: Device, report: DeviceReport | None, works: tuple[EventAssignment, ...]) -> DeviceView:
    return DeviceView(device, state_of(device.enrolled_at, device.revoked_at), report, works)


def assignments(session: Session, organisation_id: str, device_id: str) -> tuple[EventAssignment, ...]:
    """The assignments of a device, by event number."""
    return tuple(assignment for _, assignment in _assigned(session, _of(Assignment, organisation_id, device_id)))


def _assigned(session: Session, chosen: ColumnElement[bool]) -> list[tuple[Assignment, EventAssignment]]:
    rows = session.scalars(select(Assignment).where(chosen)).all()
    numbers = events.numbers(session, rows[0].organisation_id, {row.event_id for row in rows}) if rows else {}
    in_order = sorted(rows, key=lambda row: numbers[row.event_id])
    return [(row, _assignment(row, numbers[row.event_id])) for row in in_order]


def _assignment(row: Assignment, number: int) -> EventAssignment:
    gates, zones = tuple(row.gates_allowed), tuple(row.zones)
    return EventAssignment(row.event_id, number, row.gate, gates, zones, row.direction, row.mode)


def assigned_events(session: Session, organisation_id: str, device_id: str) -> dict[int, str]:
    """The ids of the events whose rows a device may hold, by number."""
    assigned = select(Assignment.event_id).where(_of(Assignment, organisation_id, device_id))
    return {number: event_id for event_id, number in events.numbers(session, organisation_id, assigned).items()}


def _of(table: Any, organisation_id: str, device_id: str) -> ColumnElement[bool]:
    return and_(table.organisation_id == organisation_id, table.device_id == device_id)


def names(session: Session, organisation_id: str) -> dict[int, str]:
    """Names of an organisation's devices by number."""
    found = select(Device.number, Device.name).where(Device.organisation_id == organisation_id)
    return dict(session.execute(found).all())


def latest_code(session: Session, organisation_id: str, device_id: str) -> EnrolmentCode | None:
    """The most recent code of a device, open or not."""
    newest = EnrolmentCode.created_at.desc(), EnrolmentCode.withdrawn_at.is_not(None)
    found = select(EnrolmentCode).where(_of(EnrolmentCode, organisation_id, device_id)).order_by(*newest)
    return session.scalars(found.limit(1)).first()


def holder_of_key(session: Session, public_key: bytes) -> str | None:
    """The device of any organisation that has this key: one key is never two devices."""
    return session.scalar(select(Device.id).where(Device.public_key == public_key))


def reported(session: Session, organisation_id: str, device_id: str) -> tuple[list[dict[str, Any]], int]:
    """How current a device's rows were at its last report, and how many entries it had not uploaded."""
    columns = select(DeviceReport.rows, DeviceReport.unsent).where(_of(DeviceReport, organisation_id, device_id))
    found = session.execute(columns).first()
    return (found.rows, found.unsent) if found else ([], 0)


def access_state(session: Session, organisation_id: str, device_id: str) -> tuple[str, bool]:
    """A device's profile, and whether it is revoked."""
    mine = Device.organisation_id == organisation_id, Device.id == device_id
    profile, revoked_at = session.execute(select(Device.profile, Device.revoked_at).where(*mine)).one()
    return profile, revoked_at is not None
