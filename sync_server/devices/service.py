"""Creates, assigns, enrols and revokes devices and stores their reports: the only writer of devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from shared.ids import Entropy, uuid7
from shared.wire.snapshot import DeviceRow
from sync_server.devices import queries, rules
from sync_server.devices.models import Assignment, Device, DeviceReport
from sync_server.devices.rules import EventAssignment
from sync_server.outbox import service as outbox
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sql import writes
from sync_server.revisions import service as revisions


@dataclass(frozen=True, slots=True)
class Report:
    """What a device reports at a hello."""

    software: str
    branch: int
    last_seq: int
    unsent: int
    rows: Sequence[Mapping[str, Any]]
    clock_offset: int | None = None
    clock_uncertainty: int | None = None
    health: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Passing:
    """What a device says of itself with a request for changes; None: it does not say."""

    rows: Sequence[Mapping[str, Any]]
    unsent: int | None = None
    health: Mapping[str, Any] | None = None


def create(session: Session, organisation_id: str, name: str, profile: str, context: ActionContext) -> Device:
    """Create a device; it waits for enrolment."""
    device = Device(
        id=uuid7(context.now, context.entropy),
        number=_free_number(session, context.entropy),
        organisation_id=organisation_id,
        name=_checked_name(name),
        profile=rules.require_profile(profile),
        created_at=context.now,
    )
    session.add(device)
    session.flush()
    _record(session, device, "created", context, after={"name": device.name, "profile": profile})
    return device


def change(session: Session, device: Device, name: str | None, profile: str | None, context: ActionContext) -> None:
    """Change a device's name or profile."""
    before = {"name": device.name, "profile": device.profile}
    if name is not None:
        device.name = _checked_name(name)
    if profile is not None:
        device.profile = rules.require_profile(profile)
    session.flush()
    _put_rows(session, device)
    after = {"name": device.name, "profile": device.profile}
    _record(session, device, "changed", context, before=before, after=after)


def assign(session: Session, device: Device, assignments: Sequence[EventAssignment], context: ActionContext) -> None:
    """Replace all assignments of a device; it may no longer fetch rows of other events."""
    if device.revoked_at is not None:
        raise Conflict("This device has been revoked. Create a new device instead.", code="device_revoked")
    if len({each.event_id for each in assignments}) != len(assignments):
        raise InvalidRequest("A device can have one assignment per event.", field="assignments")
    before = [asdict(each) for each in queries.assignments(session, device.organisation_id, device.id)]
    mine = Assignment.organisation_id == device.organisation_id, Assignment.device_id == device.id
    session.execute(delete(Assignment).where(*mine))
    session.add_all(_assignment(device, each) for each in assignments)
    session.flush()
    _put_rows(session, device)
    for each in before:  # this one may no longer fetch the rows
        revisions.wake_gates(session, EventKey(device.organisation_id, each["event_id"]))
    after = {"assignments": [asdict(each) for each in assignments]}
    _record(session, device, "assigned", context, before={"assignments": before}, after=after)


def complete_enrolment(session: Session, device: Device, public_key: bytes, context: ActionContext) -> None:
    """Store the device's public key once it has proved its code; it is the device's credential from now on."""
    if device.revoked_at is not None:
        raise Conflict("This device has been revoked. Create a new device instead.", code="device_revoked")
    again = device.public_key is not None
    device.public_key, device.enrolled_at = public_key, context.now
    session.flush()
    _put_rows(session, device)
    _record(session, device, "enrolled", context, after={"again": again})


def revoke(session: Session, device: Device, why: str, context: ActionContext) -> None:
    """Revoke a device for good; it may still deliver its journal."""
    if device.revoked_at is not None:
        return
    device.revoked_at, device.revoked_why = context.now, why
    session.flush()
    _put_rows(session, device)
    _record(session, device, "revoked", context, after={"revoked": True}, reason=why)


def note_contact(session: Session, device_id: str, organisation_id: str, now: Millis) -> None:
    """Note that the device has just been in contact."""
    _report(session, device_id, organisation_id, now, {})


def store_report(session: Session, device_id: str, organisation_id: str, report: Report, now: Millis) -> None:
    """Store what the device reported."""
    said = asdict(report)
    said |= {"rows": [dict(row) for row in report.rows]} | _health(said.pop("health"), now)
    _report(session, device_id, organisation_id, now, said)


def store_passing(session: Session, organisation_id: str, device_id: str, said: Passing, now: Millis) -> None:
    """Store what a device says of itself while it asks for changes."""
    mine = DeviceReport.organisation_id == organisation_id, DeviceReport.device_id == device_id
    unsent = {} if said.unsent is None else {"unsent": said.unsent}
    values = {"rows": [dict(row) for row in said.rows]} | unsent | _health(said.health, now)
    session.execute(update(DeviceReport).where(*mine).values(values))


def _health(health: Mapping[str, Any] | None, now: Millis) -> dict[str, Any]:
    """What is stored of it; what an older program does not say leaves what was said before."""
    return {} if health is None else {"health": dict(health), "health_at": now}


def _report(session: Session, device_id: str, organisation_id: str, now: Millis, changes: dict[str, Any]) -> None:
    row = {"device_id": device_id, "organisation_id": organisation_id, "last_seen_at": now}
    initial = {"software": "", "branch": 0, "last_seq": 0, "unsent": 0, "rows": []} | row | changes
    statement = writes.insert(session, DeviceReport).values(initial)
    key = ["organisation_id", "device_id"]
    session.execute(statement.on_conflict_do_update(index_elements=key, set_=changes | {"last_seen_at": now}))


def _checked_name(name: str) -> str:
    checked = " ".join(name.split())
    if not 1 <= len(checked) <= 80:
        raise InvalidRequest("A device's name must have 1 to 80 characters.", field="name")
    return checked


def _free_number(session: Session, entropy: Entropy) -> int:
    while True:
        number = int.from_bytes(entropy(4), "big") >> 1
        if number and session.scalar(select(Device.id).where(Device.number == number)) is None:
            return number


def _assignment(device: Device, work: EventAssignment) -> Assignment:
    fields = asdict(work)
    del fields["event_number"]
    return Assignment(organisation_id=device.organisation_id, device_id=device.id, **fields)


def _put_rows(session: Session, device: Device) -> None:
    """Put the device's row at each of its events, so that gates can verify its journals; other events keep theirs."""
    if device.public_key is None:
        return
    row = DeviceRow(device.number, device.name, device.public_key, device.revoked_at is not None)
    for work in queries.assignments(session, device.organisation_id, device.id):
        revisions.put(session, EventKey(device.organisation_id, work.event_id), [row])


def _record(session: Session, device: Device, what: str, context: ActionContext, **changed: Any) -> None:
    fact = outbox.Fact(f"device_{what}", device.organisation_id, context.now, {"device": device.id})
    outbox.record_change(session, context, outbox.Subject("device", device.id, **changed), fact)
