"""The first event, one step at a time: from an empty organisation to the first ticket that is scanned."""

from __future__ import annotations

from dataclasses import dataclass

from flask import url_for
from sqlalchemy.orm import Session

from sync_server.devices import queries as devices
from sync_server.devices.rules import DeviceState
from sync_server.events.queries import Event
from sync_server.scans import queries as scans
from sync_server.tickets import queries as tickets


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its words by key, where it is taken, and whether that was done."""

    key: str
    url: str
    done: bool


@dataclass(frozen=True, slots=True)
class Guide:
    """All steps in order."""

    steps: tuple[Step, ...]

    @property
    def next(self) -> Step | None:
        """The one to take now; None once all are done."""
        return next((step for step in self.steps if not step.done), None)

    @property
    def done(self) -> int:
        """How many are behind."""
        return sum(step.done for step in self.steps)


def guide_of(session: Session, organisation_id: str, event: Event | None) -> Guide:
    """How far an organisation is with its first event."""
    if event is None:
        later = ("types", "publish", "sell", "device", "enrol", "open", "scan")
        here = url_for("admin.new_event")
        return Guide((Step("event", here, done=False), *(Step(key, here, done=False) for key in later)))
    views = devices.views_of_event(session, event.key)
    device = views[0].device.id if views else None
    device_page = url_for("admin.device", device_id=device) if device else url_for("admin.devices")
    scanned = any(count.n for count in scans.counts(session, event.key))
    return Guide(
        (
            Step("event", url_for("admin.event", event_id=event.id), done=True),
            Step(
                "types",
                url_for("admin.new_type", event_id=event.id),
                done=tickets.count_types(session, organisation_id, event.id) > 0,
            ),
            Step(
                "publish",
                url_for("admin.ask_to_change", event_id=event.id, target="published"),
                done=event.status != "draft",
            ),
            Step("sell", url_for("admin.box_office", event_id=event.id), done=event.tickets_issued > 0),
            Step("device", url_for("admin.devices"), done=device is not None),
            Step("enrol", device_page, done=any(view.state is DeviceState.ENROLLED for view in views)),
            Step(
                "open",
                url_for("admin.ask_to_change", event_id=event.id, target="live"),
                done=event.status not in {"draft", "published"},
            ),
            Step("scan", url_for("admin.event", event_id=event.id), done=scanned),
        )
    )
