"""Shapes of requests and answers about devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field

from shared.clock import Millis
from sync_server.devices.models import DeviceReport
from sync_server.devices.queries import DeviceView
from sync_server.devices.rules import CodeState, health_problems, is_silent
from sync_server.plumbing.api.edits import EditedView
from sync_server.plumbing.api.schemas import Id, IsoTime, Reason, RequestBody, View

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

    event_id: Id
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


class AssignmentView(View):
    """What a device does at one event."""

    event_id: str
    event_number: int
    gate: int | None
    gates_allowed: list[int]
    zones: list[int]
    direction: str
    mode: str


class HeldRows(BaseModel):
    """How current a device's rows of one event are, and the gate where it stands."""

    event: int
    revision: int
    heard: int
    gate: int | None = None


class DeviceHealth(BaseModel):
    """How a machine said that it is; what it cannot tell is null."""

    celsius: float | None = None
    under_voltage: bool | None = None
    throttled: bool | None = None
    battery_percent: int | None = None
    on_battery: bool | None = None
    disk_free_mb: int | None = None
    disk_low: bool | None = None
    readers: list[str] = []
    faults: list[str] = []
    system: str = ""
    printer: str = ""


class DeviceOut(EditedView):
    """A device with its last report."""

    unedited = frozenset(
        {
            *("last_seen_at", "silent", "software", "unsent", "branch", "clock_offset_ms", "clock_uncertainty_ms"),
            *("rows", "health", "health_at", "health_problems"),
        }
    )

    id: str
    number: int
    name: str
    profile: str
    state: str
    enrolled_at: IsoTime | None
    revoked_at: IsoTime | None
    last_seen_at: IsoTime | None
    silent: bool
    software: str
    unsent: int
    branch: int
    clock_offset_ms: int | None
    clock_uncertainty_ms: int | None
    rows: list[HeldRows]
    assignments: list[AssignmentView]
    problems: list[str]
    health: DeviceHealth | None
    health_at: IsoTime | None
    health_problems: list[str]


def device_out(view: DeviceView, now: Millis, problems: Sequence[str] = ()) -> DeviceOut:
    """A device as its organiser sees it."""
    report = view.report or _NO_REPORT
    return DeviceOut.of(
        view.device,
        state=view.state,
        last_seen_at=report.last_seen_at,
        silent=is_silent(now, report.last_seen_at),
        software=report.software,
        unsent=report.unsent,
        branch=report.branch,
        clock_offset_ms=report.clock_offset,
        clock_uncertainty_ms=report.clock_uncertainty,
        rows=report.rows,
        assignments=view.assignments,
        problems=list(problems),
        health=report.health,
        health_at=report.health_at,
        health_problems=health_problems(report.health),
    )


_NO_REPORT: Final = DeviceReport(last_seen_at=None, software="", unsent=0, branch=0, rows=[])


class DevicesOut(BaseModel):
    """The devices of an organisation."""

    items: list[DeviceOut]
    next: str | None = None


class CodeOut(BaseModel):
    """An enrolment code: shown once, valid for fifteen minutes and one machine."""

    code: str
    expires_at: str
    qr_svg: str


class EnrolmentOut(View):
    """The state of a device's latest code; the gate shows the same check number."""

    state: CodeState
    check_number: str = ""
    tries_left: int = 0
    expires_at: IsoTime | None = None
