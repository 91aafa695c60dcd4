"""The state that all screens show; the running gate publishes into it and any number of screens read it.

How to use it:

    feed = Feed(monotonic_ns, admitted=…, refused=…)   # counts of this evening from the journal, 0 without it
    feed.show(scan)            # one verdict: the JSON object of `gatehouse-gate scan`, and besides
                               #   "mode": "real" | "test", "direction": "entry" | "exit", "reader": name
    feed.show(scan | {"again": True})     # the lane repeats a verdict: shown as a repeat, counted nowhere
    feed.status(status)        # whenever something changed, and every few seconds: the object of `status --json`.
                               #   Screens read, all optional: "ready": bool, "event", "gate", "direction", "mode",
                               #   "timezone", "online": bool, "unsent": int, "snapshot_age_s": number | null,
                               #   "inside": int, "warnings": [text, …]
    feed.hint(hint)            # what the guest at the camera can do (devices.open_reader's on_hint)
    feed.open_lane(reader)     # verdicts of this reader are for its own screen alone: `views(stop, lane=reader)`
    feed.fault(device, text)   # a device failed; `None` as text: it works again
    feed.lack(device, text)    # likewise of something without which nobody can be read: the gate is not ready

Every call returns at once and may come from any thread. A slow screen misses nothing it needs: it is given the newest
state, which carries the last ten scans.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from gate_app.display.announcement import Announcement, Tone, announce
from gate_app.display.condition import Condition, condition, not_yet, stuck
from gate_app.display.json_fields import JsonObject, text
from gate_app.display.party import PartyView, each_of, party_view
from gate_app.display.view import View
from gate_app.words import say
from hardware.ports import Hint

RECENT = 10
_CAME = frozenset({Tone.ADMIT, Tone.ATTENTION})
HINTS_EVERY_NS = 700_000_000
NOTE_NS = 30_000_000_000
"""How long the number of an enrolment stands on the screen, to be compared."""
BEAT_S = 0.5
"""How often a screen hears that the gate is alive; after four beats of silence it says that it has no contact."""


MAIN = ""
"""The lane of all readers that have no screen of their own."""


@dataclass(slots=True)
class Lane:
    """What is shown of the guests at some readers."""

    verdict: Announcement | None = None
    verdict_number: int = 0
    again: int = 0
    shown_ns: int = 0
    hint: str = ""
    hint_number: int = 0
    hinted_ns: int = -HINTS_EVERY_NS
    party: PartyView | None = None


class Feed:
    """The newest state, with a condition for those who wait for the next."""

    def __init__(
        self, monotonic_ns: Callable[[], int], admitted: int = 0, refused: int = 0, stuck_after_s: float = math.inf
    ) -> None:
        """`stuck_after_s`: a gate whose status is older than this hangs, although its screen still answers."""
        self._monotonic_ns = monotonic_ns
        self._stuck_after_ns = stuck_after_s * 1e9
        self._heard_ns = monotonic_ns()
        self._changed = threading.Condition()  # of a lock that the same thread may take again
        self._faults: dict[str, str] = {}
        self._starting = self._lacking = ""
        self._note, self._note_until = "", 0
        self._status: JsonObject = {}
        self._zone: tzinfo = UTC
        self._recent: deque[Announcement] = deque(maxlen=RECENT)
        self._number = 0
        self._admitted, self._refused = admitted, refused
        self._lanes = {MAIN: Lane()}
        self._loudness = 0

    def show(self, scan: JsonObject) -> None:
        """Shows a verdict, or the repeat of one."""
        with self._changed:
            announcement, lane = announce(scan, self._zone), self._lane(scan)
            lane.shown_ns, lane.verdict = self._monotonic_ns(), announcement
            if scan.get("again") is True:
                # After a power cut an admission may be repeated that this screen has never shown.
                lane.again = lane.again + 1 if lane.verdict_number else 0
            else:
                lane.verdict_number, lane.again = lane.verdict_number + 1, 0
                self._count([announce(one, self._zone) for one in each_of(scan)])
            self._tell()

    def status(self, status: JsonObject) -> None:
        """Updates the state of the gate."""
        with self._changed:
            self._heard_ns = self._monotonic_ns()
            self._status = dict(status)
            self._zone = zone_named(text(status, "timezone"))
            self._tell()

    def fault(self, device: str, happened: str | None) -> None:
        """Records that a device failed, or with None that it works again."""
        with self._changed:
            if self._faults.get(device) == happened:
                return
            if happened is None:
                self._faults.pop(device, None)
            else:
                self._faults[device] = happened
            self._tell()

    def lack(self, device: str, what: str | None) -> None:
        """Records a fault that leaves nothing to read guests' codes: the gate is not ready until it ends with None."""
        with self._changed:
            self._lacking = what or ""
            self.fault(device, what)

    def starting(self, doing: str) -> None:
        """Shows what a gate that is starting does or waits for; with nothing to say it has started."""
        with self._changed:
            self._starting = doing
            self._tell()

    def note(self, words: str) -> None:
        """Shows this for a while in place of *Ready*; a guest's verdict is shown all the same."""
        with self._changed:
            self._note, self._note_until = words, self._monotonic_ns() + NOTE_NS
            self._tell()

    def loud(self, percent: int) -> None:
        """Pages that sound are so loud from now on; 0 is quiet."""
        with self._changed:
            self._loudness = percent
            self._tell()

    def open_lane(self, reader: str) -> None:
        """For good, the guests at this reader are shown by its own screen alone: others stand elsewhere."""
        with self._changed:
            self._lanes.setdefault(reader, Lane())

    def has_lane(self, reader: str) -> bool:
        """Whether the guests at this reader stand elsewhere, at a screen of their own."""
        return reader != MAIN and reader in self._lanes

    @property
    def zone(self) -> tzinfo:
        """The event's time zone."""
        return self._zone

    def faults(self) -> tuple[str, ...]:
        """What does not work just now, in words."""
        with self._changed:
            return tuple(self._faults.values())

    def hint(self, hint: Hint, reader: str = MAIN) -> None:
        """Shows what the guest at the camera can do; limited to a few times a second."""
        with self._changed:
            lane, now = self._lane_of(reader), self._monotonic_ns()
            if now - lane.hinted_ns >= HINTS_EVERY_NS:
                lane.hinted_ns = now
                self._say(lane, say(f"hint.{hint}"))

    def ask_to_wait(self, reader: str = MAIN) -> None:
        """Tells whoever comes next that a party is still going in."""
        self.tell(say("party.wait"), reader)

    def tell(self, words: str, reader: str = MAIN) -> None:
        """Shows a line for a moment, as hints are."""
        with self._changed:
            self._say(self._lane_of(reader), words)

    def party(self, party: JsonObject | None) -> None:
        """Shows the tickets of a party, and how each stands, where it was scanned; None: the list is over."""
        with self._changed:
            for lane in self._lanes.values():
                lane.party = None
            if party:
                self._lane(party).party = party_view(party)
            self._tell()

    def taken_back(self, seq: int) -> None:
        """An admission was annulled: the last scans and the count say so."""
        with self._changed:
            number, gone = str(seq), say("title.taken_back")
            before = tuple(self._recent)
            after = [replace(one, title=gone, tone=Tone.LOOK) if one.number == number else one for one in before]
            self._recent = deque(after, maxlen=RECENT)
            counted = any(one.number == number and one.tone in _CAME for one in before)
            self._admitted = max(0, self._admitted - int(counted))
            self._tell()

    def view(self, lane: str = MAIN) -> View:
        """The current state, as the screens of a lane show it."""
        with self._changed:
            return self._view_of(lane)

    def views(self, stop: threading.Event, beat_s: float = BEAT_S, lane: str = MAIN) -> Iterator[View]:
        """The state now, at every change, and every `beat_s` seconds as a heartbeat."""
        seen = -1
        while not stop.is_set():
            view = self._after(seen, stop, beat_s, lane)
            seen = view.number
            if not stop.is_set():
                yield view

    def wake(self) -> None:
        """Wakes everybody who waits, so that they check their stop events."""
        with self._changed:
            self._changed.notify_all()

    def _condition(self) -> Condition:
        now = condition(self._status, self._faults)
        note = self._note if self._monotonic_ns() < self._note_until else ""
        why = self._starting or note or (self._lacking if now.ready else "")
        return not_yet(now, why) if why else now

    def _after(self, seen: int, stop: threading.Event, timeout_s: float, lane: str) -> View:
        with self._changed:
            self._changed.wait_for(lambda: self._number != seen or stop.is_set(), timeout_s)
            return self._view_of(lane)

    def _lane(self, scan: JsonObject) -> Lane:
        return self._lane_of(text(scan, "reader"))

    def _lane_of(self, reader: str) -> Lane:
        return self._lanes.get(reader) or self._lanes[MAIN]

    def _count(self, each: Sequence[Announcement]) -> None:
        self._recent.extendleft(each)
        counted = [one.tone for one in each if not one.test]
        self._admitted += sum(tone in _CAME for tone in counted)
        self._refused += counted.count(Tone.DENY)

    def _say(self, lane: Lane, words: str) -> None:
        lane.hint, lane.hint_number = words, lane.hint_number + 1
        self._tell()

    def _tell(self) -> None:
        self._number += 1
        self._changed.notify_all()

    def _view_of(self, reader: str) -> View:
        lane, now = self._lane_of(reader), self._monotonic_ns()
        hangs = now - self._heard_ns > self._stuck_after_ns
        return View(
            number=self._number,
            verdict=lane.verdict,
            verdict_number=lane.verdict_number,
            again=lane.again,
            age_ms=(now - lane.shown_ns) // 1_000_000,
            hint=lane.hint,
            hint_number=lane.hint_number,
            admitted=self._admitted,
            refused=self._refused,
            condition=stuck(self._condition()) if hangs else self._condition(),
            recent=tuple(self._recent),
            party=lane.party,
            loudness=self._loudness,
        )


def zone_named(name: str) -> tzinfo:
    """The event's time zone; UTC if this machine does not know it."""
    try:
        return ZoneInfo(name) if name else UTC
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
