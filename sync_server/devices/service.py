"""Lets devices in, gives them work, hears their reports and shuts them out: the only writer of devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from shared.ids import uuid7
from shared.snapshot import DeviceRow
from sync_server.audit import service as audit
from sync_server.devices import queries, rules
from sync_server.devices.models import Assignment, Device, DeviceReport
from sync_server.devices.rules import Work
from sync_server.outbox import service as outbox
from sync_server.plumbing.database import announce, of
from sync_server.plumbing.principals import Actor
from sync_server.revisions import service as revisions

ASSIGNMENTS_CHANGED = "device_assignments_changed"
"""Announced inside the transaction, with the device's number."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a device tells of itself at a hello."""

    software: str
    branch: int
    last_seq: int
    unsent: int
    rows: Sequence[Mapping[str, Any]]
    clock_offset: int | None = None
    clock_uncertainty: int | None = None


@dataclass(frozen=True, slots=True)
class _Telling:
    """One change of one device, for the audit log and for whoever listens."""

    actor: Actor
    now: Millis
    what: str
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None
    reason: str = ""
    payload: dict[str, Any] = field(default_factory=dict)


def create(session: Session, organisation_id: str, name: str, profile: str, *, actor: Actor, now: Millis) -> Device:
    """A new device that waits for its enrolment."""
    device = Device(
        id=uuid7(now, of(session).entropy),
        number=_free_number(session),
        organisation_id=organisation_id,
        name=_checked_name(name),
        profile=rules.require_profile(profile),
        created_at=now,
    )
    session.add(device)
    session.flush()
    _tell(session, device, _Telling(actor, now, "created", after={"name": device.name, "profile": profile}))
    return device


def change(
    session: Session, device: Device, *, name: str | None, profile: str | None, actor: Actor, now: Millis
) -> None:
    """Another name or profile."""
    before = {"name": device.name, "profile": device.profile}
    if name is not None:
        device.name = _checked_name(name)
    if profile is not None:
        device.profile = rules.require_profile(profile)
    session.flush()
    _put_rows(session, device)
    after = {"name": device.name, "profile": device.profile}
    _tell(session, device, _Telling(actor, now, "changed", before, after))
    announce(session, ASSIGNMENTS_CHANGED, device.number, now)


def assign(session: Session, device: Device, works: Sequence[Work], *, actor: Actor, now: Millis) -> None:
    """From now on the device does exactly this; rows of other events are no longer its business."""
    if device.revoked_at is not None:
        raise Conflict("This device has been revoked. Make a new device instead.", code="device_revoked")
    if len({work.event_id for work in works}) != len(works):
        raise InvalidRequest("A device has one assignment an event.", field="assignments")
    before = [asdict(work) for work in queries.assignments(session, device.id)]
    session.execute(delete(Assignment).where(Assignment.device_id == device.id))
    session.add_all(_assignment(session, device, work, now) for work in works)
    session.flush()
    _put_rows(session, device)
    after = {"assignments": [asdict(work) for work in works]}
    _tell(session, device, _Telling(actor, now, "assigned", {"assignments": before}, after))
    announce(session, ASSIGNMENTS_CHANGED, device.number, now)


def enrolled(session: Session, device: Device, public_key: bytes, *, actor: Actor, now: Millis) -> None:
    """The device has proved its code: from now on this key is its credential."""
    if device.revoked_at is not None:
        raise Conflict("This device has been revoked. Make a new device instead.", code="device_revoked")
    again = device.public_key is not None
    device.public_key, device.enrolled_at = public_key, now
    session.flush()
    _put_rows(session, device)
    _tell(session, device, _Telling(actor, now, "enrolled", after={"again": again}))


def revoke(session: Session, device: Device, why: str, *, actor: Actor, now: Millis) -> None:
    """Shut a device out for good; it may still deliver what it has written."""
    if device.revoked_at is not None:
        return
    device.revoked_at, device.revoked_why = now, why
    session.flush()
    _put_rows(session, device)
    _tell(session, device, _Telling(actor, now, "revoked", after={"revoked": True}, reason=why))
    announce(session, ASSIGNMENTS_CHANGED, device.number, now)


def seen(session: Session, device_id: str, organisation_id: str, now: Millis) -> None:
    """The device has just spoken."""
    _report(session, device_id, organisation_id, now, {})


def hear(session: Session, device_id: str, organisation_id: str, report: Report, now: Millis) -> None:
    """Keep what the device told of itself."""
    _report(session, device_id, organisation_id, now, asdict(report) | {"rows": [dict(row) for row in report.rows]})


def note_rows(session: Session, device_id: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Keep how far a device's rows are, as its requests for changes tell."""
    told = [dict(row) for row in rows]
    session.execute(update(DeviceReport).where(DeviceReport.device_id == device_id).values(rows=told))


def _report(session: Session, device_id: str, organisation_id: str, now: Millis, told: dict[str, Any]) -> None:
    row = {"device_id": device_id, "organisation_id": organisation_id, "last_seen_at": now}
    fresh = {"software": "", "branch": 0, "last_seq": 0, "unsent": 0, "rows": []} | row | told
    dialect = sqlite if of(session).embedded else postgresql
    statement = dialect.insert(DeviceReport).values(fresh)
    session.execute(statement.on_conflict_do_update(index_elements=["device_id"], set_=told | {"last_seen_at": now}))


def _checked_name(name: str) -> str:
    words = " ".join(name.split())
    if not 1 <= len(words) <= 80:
        raise InvalidRequest("A device has a name of 1 to 80 characters.", field="name")
    return words


def _free_number(session: Session) -> int:
    while True:
        number = int.from_bytes(of(session).entropy(4), "big") >> 1
        if number and session.scalar(select(Device.id).where(Device.number == number)) is None:
            return number


def _assignment(session: Session, device: Device, work: Work, now: Millis) -> Assignment:
    return Assignment(
        id=uuid7(now, of(session).entropy),
        organisation_id=device.organisation_id,
        device_id=device.id,
        event_id=work.event_id,
        event_number=work.event_number,
        gate=work.gate,
        gates_allowed=list(work.gates_allowed),
        zones=list(work.zones),
        direction=work.direction,
        mode=work.mode,
    )


def _put_rows(session: Session, device: Device) -> None:
    """Every event the device works at knows whose journals it may believe; events it has left go on knowing it."""
    if device.public_key is None:
        return
    row = DeviceRow(device.number, device.name, device.public_key, device.revoked_at is not None)
    for work in queries.assignments(session, device.id):
        revisions.put(session, work.event_number, [row])


def _tell(session: Session, device: Device, told: _Telling) -> None:
    line = audit.AuditLine(
        actor=told.actor,
        action=f"device.{told.what}",
        subject_kind="device",
        subject_id=device.id,
        organisation_id=device.organisation_id,
        at=told.now,
        before=told.before,
        after=told.after,
        reason=told.reason,
    )
    audit.record(session, line)
    fact = outbox.Fact(f"device_{told.what}", device.organisation_id, told.now, {"device": device.id}, told.payload)
    outbox.record(session, fact)
