"""Shapes of requests and answers about devices."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from shared.clock import Millis
from sync_server.devices.queries import DeviceView
from sync_server.devices.rules import Work, is_silent
from sync_server.plumbing.shapes import Asked, Reason, iso, iso_or_none

Number = Annotated[int, Field(ge=0, le=2**31 - 1)]
DeviceName = Annotated[str, Field(min_length=1, max_length=80)]
Profile = Annotated[str, Field(min_length=1, max_length=20)]


class NewDevice(Asked):
    """A device to be."""

    name: DeviceName
    profile: Profile = "gate"


class ChangeDevice(Asked):
    """What shall be different."""

    name: DeviceName | None = None
    profile: Profile | None = None


class AssignmentIn(Asked):
    """What the device shall do at one event; gates and zones by their numbers. No gate: the operator picks one."""

    event_id: Annotated[str, Field(max_length=36)]
    gate: Number | None = None
    gates_allowed: Annotated[list[Number], Field(max_length=200, default_factory=list)]
    zones: Annotated[list[Number], Field(max_length=200, default_factory=list)]
    direction: Literal["entry", "exit", "both"] = "entry"
    mode: Literal["real", "test"] = "real"


class Assignments(Asked):
    """Everything the device shall do from now on: what is not listed, it stops doing."""

    assignments: Annotated[list[AssignmentIn], Field(max_length=100)]


class Revocation(Asked):
    """Why a device is shut out."""

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
    def of(cls, work: Work) -> AssignmentView:
        """As the API tells it."""
        return cls(
            event_id=work.event_id,
            event_number=work.event_number,
            gate=work.gate,
            gates_allowed=list(work.gates_allowed),
            zones=list(work.zones),
            direction=work.direction,
            mode=work.mode,
        )


class HeldRows(BaseModel):
    """How far a device's rows of one event are."""

    event: int
    revision: int
    heard: int


class DeviceOut(BaseModel):
    """A device, and what it last told of itself."""

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
        """As the API tells it."""
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
            assignments=[AssignmentView.of(work) for work in view.assignments],
        )


class DevicesOut(BaseModel):
    """The devices of an organisation."""

    items: list[DeviceOut]
    next: str | None = None


class CodeOut(BaseModel):
    """An enrolment code: shown once, good for a quarter of an hour and for one machine."""

    code: str
    expires_at: str
    qr_svg: str

    @classmethod
    def of(cls, text: str, expires_at: Millis, qr_svg: str) -> CodeOut:
        """As the API tells it."""
        return cls(code=text, expires_at=iso(expires_at), qr_svg=qr_svg)


class EnrolmentOut(BaseModel):
    """How the latest code of a device fared; the check number is the one the gate shows too."""

    state: Literal["none", "open", "used", "expired", "dead"]
    check_number: str = ""
    tries_left: int = 0
    expires_at: str | None = None
