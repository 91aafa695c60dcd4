"""The age of each gate's word: when its devices were last heard, and how many scans they still hold back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from shared.clock import Millis
from sync_server.devices.queries import DeviceView
from sync_server.devices.rules import DeviceState, is_silent


@dataclass(frozen=True, slots=True)
class GateWord:
    """What is known of one gate's devices."""

    devices: int = 0
    silent: int = 0
    heard_at: Millis | None = None  # the latest word of any of them
    oldest_at: Millis | None = None  # of the device that has been silent longest
    unsent: int = 0  # entries that they said they had not uploaded yet

    @property
    def sure(self) -> bool:
        """Whether all that happened at this gate is counted."""
        return not self.silent and not self.unsent

    def and_device(self, heard_at: Millis | None, unsent: int, *, silent: bool) -> GateWord:
        """With one more device."""
        known = [at for at in (self.heard_at, heard_at) if at is not None]
        quiet = [at for at in (self.oldest_at, heard_at if silent else None) if at is not None]
        return GateWord(
            self.devices + 1,
            self.silent + silent,
            max(known, default=None),
            min(quiet, default=None),
            self.unsent + unsent,
        )


def gate_words(views: Iterable[DeviceView], event_number: int, now: Millis) -> dict[int, GateWord]:
    """The word of each gate of an event, by number; 0 is for devices that stand at no gate yet."""
    found: dict[int, GateWord] = {}
    for view in views:
        if view.state is not DeviceState.ENROLLED:
            continue
        report = view.report
        heard_at, unsent = (report.last_seen_at, report.unsent) if report else (None, 0)
        gate = _gate(view, event_number)
        silent = is_silent(now, heard_at)
        found[gate] = found.get(gate, GateWord()).and_device(heard_at, unsent, silent=silent)
    return found


def _gate(view: DeviceView, event_number: int) -> int:
    """Where a device stands: as it says itself, or as it was assigned."""
    said = {row["event"]: row.get("gate") for row in view.report.rows} if view.report else {}
    assigned = {work.event_number: work.gate for work in view.assignments}
    return said.get(event_number) or assigned.get(event_number) or 0
