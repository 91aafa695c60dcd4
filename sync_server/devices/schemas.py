"""Shapes of requests and answers about devices."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from shared.clock import Millis
from sync_server.devices.queries import DeviceView
from sync_server.devices.rules import EventAssignment, is_silent
from sync_server.plumbing.api.schemas import Reason, RequestBody, iso, iso_or_none

Number = Annotated[int, Field(ge=0, le=2**31 - 1)]
DeviceName = Annotated[str, Field(min_length=1, max_length=80)]
Profile = Annotated[str, Field(min_length=1, max_length=20)]


class NewDevice(RequestBody):
    """A device to create."""

    name: DeviceName
    profile: Profile = "gate"


class ChangeDevice(RequestBody):
    """The fields to change."""

    name: DeviceName | None = None
    profile: Profile | None = None


class AssignmentIn(RequestBody):
    """What the device does at one event; gates and zones by number. Without a gate the operator picks one."""

    event_id: Annotated[str, Field(max_length=36)]
    gate: Number | None = None
    gates_allowed: Annotated[list[Number], Field(max_length=200, default_factory=list)]
    zones: Annotated[list[Number], Field(max_length=200, default_factory=list)]
    direction: Literal["entry", "exit", "both"] = "entry"
    mode: Literal["real", "test"] = "real"


class Assignments(RequestBody):
    """All assignments of the device: what is not listed ends."""

    assignments: Annotated[list[AssignmentIn], Field(max_length=100)]


class Revocation(RequestBody):
    """Why a device is revoked."""

    reason: Reason = ""


class AssignmentView(BaseModel):
    """What a device does at one event."""

    event_id: str
    event_number: int
    gate: int | None
    gates_allowed: list[int]
    zones: list[int]
    direction: str
    mode: str

    @classmethod
    def of(cls, assignment: EventAssignment) -> AssignmentView:
        return cls(
            event_id=assignment.event_id,
            event_number=assignment.event_number,
            gate=assignment.gate,
            gates_allowed=list(assignment.gates_allowed),
            zones=list(assignment.zones),
            direction=assignment.direction,
            mode=assignment.mode,
        )


class HeldRows(BaseModel):
    """How current a device's rows of one event are."""

    event: int
    revision: int
    heard: int


class DeviceOut(BaseModel):
    """A device with its last report."""

    id: str
    number: int
    name: str
    profile: str
    state: str
    enrolled_at: str | None
    revoked_at: str | None
    last_seen_at: str | None
    silent: bool
    software: str
    unsent: int
    branch: int
    clock_offset_ms: int | None
    clock_uncertainty_ms: int | None
    rows: list[HeldRows]
    assignments: list[AssignmentView]

    @classmethod
    def of(cls, view: DeviceView, now: Millis) -> DeviceOut:
        device, report = view.device, view.report
        return cls(
            id=device.id,
            number=device.number,
            name=device.name,
            profile=device.profile,
            state=view.state,
            enrolled_at=iso_or_none(device.enrolled_at),
            revoked_at=iso_or_none(device.revoked_at),
            last_seen_at=iso_or_none(report.last_seen_at if report else None),
            silent=is_silent(now, report.last_seen_at if report else None),
            software=report.software if report else "",
            unsent=report.unsent if report else 0,
            branch=report.branch if report else 0,
            clock_offset_ms=report.clock_offset if report else None,
            clock_uncertainty_ms=report.clock_uncertainty if report else None,
            rows=[HeldRows.model_validate(row) for row in report.rows] if report else [],
            assignments=[AssignmentView.of(assignment) for assignment in view.assignments],
        )


class DevicesOut(BaseModel):
    """The devices of an organisation."""

    items: list[DeviceOut]
    next: str | None = None


class CodeOut(BaseModel):
    """An enrolment code: shown once, valid for fifteen minutes and one machine."""

    code: str
    expires_at: str
    qr_svg: str

    @classmethod
    def of(cls, text: str, expires_at: Millis, qr_svg: str) -> CodeOut:
        return cls(code=text, expires_at=iso(expires_at), qr_svg=qr_svg)


class EnrolmentOut(BaseModel):
    """The state of a device's latest code; the gate shows the same check number."""

    state: Literal["none", "open", "used", "expired", "dead"]
    check_number: str = ""
    tries_left: int = 0
    expires_at: str | None = None
