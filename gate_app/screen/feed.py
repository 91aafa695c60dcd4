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
    feed.fault(device, text)   # a device failed; `None` as text: it works again

Every call returns at once and may come from any thread. A slow screen misses nothing it needs: it is given the newest
state, which carries the last ten scans.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from gate_app.display.announcement import Announcement, Tone, announce
from gate_app.display.condition import Condition, condition, not_yet, stuck
from gate_app.display.json_fields import JsonObject, text
from gate_app.display.party import each_of, party_view
from gate_app.display.view import View
from gate_app.words import say
from hardware.ports import Hint

RECENT = 10
_CAME = frozenset({Tone.ADMIT, Tone.ATTENTION})
HINTS_EVERY_NS = 700_000_000
BEAT_S = 0.5
"""How often a screen hears that the gate is alive; after four beats of silence it says that it has no contact."""


class Feed:
    """The newest state, with a condition for those who wait for the next."""

    def __init__(
        self, monotonic_ns: Callable[[], int], admitted: int = 0, refused: int = 0, stuck_after_s: float = math.inf
    ) -> None:
        """`stuck_after_s`: a gate whose status is older than this hangs, although its screen still answers."""
        self._monotonic_ns = monotonic_ns
        self._stuck_after_ns = stuck_after_s * 1e9
        self._heard_ns = monotonic_ns()
        self._changed = threading.Condition()
        self._faults: dict[str, str] = {}
        self._starting = ""
        self._status: JsonObject = {}
        self._zone: tzinfo = UTC
        self._shown_ns = 0
        self._hinted_ns = -HINTS_EVERY_NS
        self._recent: deque[Announcement] = deque(maxlen=RECENT)
        self._view = View(0, None, 0, 0, 0, "", 0, admitted, refused, condition({}, {}), ())

    def show(self, scan: JsonObject) -> None:
        """Shows a verdict, or the repeat of one."""
        with self._changed:
            announcement = announce(scan, self._zone)
            self._shown_ns = self._monotonic_ns()
            if scan.get("again") is True:
                # After a power cut an admission may be repeated that this screen has never shown.
                repeats = self._view.again + 1 if self._view.verdict_number else 0
                self._change(verdict=announcement, again=repeats)
            else:
                self._new_verdict(announcement, [announce(one, self._zone) for one in each_of(scan)])

    def status(self, status: JsonObject) -> None:
        """Updates the state of the gate."""
        with self._changed:
            self._heard_ns = self._monotonic_ns()
            self._status = dict(status)
            self._zone = zone_named(text(status, "timezone"))
            self._change(condition=self._condition())

    def fault(self, device: str, happened: str | None) -> None:
        """Records that a device failed, or with None that it works again."""
        with self._changed:
            if self._faults.get(device) == happened:
                return
            if happened is None:
                self._faults.pop(device, None)
            else:
                self._faults[device] = happened
            self._change(condition=self._condition())

    def starting(self, doing: str) -> None:
        """Shows what a gate that is starting does or waits for; with nothing to say it has started."""
        with self._changed:
            self._starting = doing
            self._change(condition=self._condition())

    @property
    def zone(self) -> tzinfo:
        """The event's time zone."""
        return self._zone

    def faults(self) -> tuple[str, ...]:
        """What does not work just now, in words."""
        with self._changed:
            return tuple(self._faults.values())

    def hint(self, hint: Hint) -> None:
        """Shows what the guest at the camera can do; limited to a few times a second."""
        with self._changed:
            now = self._monotonic_ns()
            if now - self._hinted_ns >= HINTS_EVERY_NS:
                self._hinted_ns = now
                self._change(hint=say(f"hint.{hint}"), hint_number=self._view.hint_number + 1)

    def ask_to_wait(self) -> None:
        """Tells whoever comes next that a party is still going in."""
        self.tell(say("party.wait"))

    def tell(self, words: str) -> None:
        """Shows a line for a moment, as hints are."""
        with self._changed:
            self._change(hint=words, hint_number=self._view.hint_number + 1)

    def party(self, party: JsonObject | None) -> None:
        """Shows the tickets of a party, and how each stands; None: the list is over."""
        with self._changed:
            self._change(party=party_view(party) if party else None)

    def taken_back(self, seq: int) -> None:
        """An admission was annulled: the last scans and the count say so."""
        with self._changed:
            number, gone = str(seq), say("title.taken_back")
            before = tuple(self._recent)
            after = [replace(one, title=gone, tone=Tone.LOOK) if one.number == number else one for one in before]
            self._recent = deque(after, maxlen=RECENT)
            counted = any(one.number == number and one.tone in _CAME for one in before)
            self._change(recent=tuple(after), admitted=max(0, self._view.admitted - int(counted)))

    def view(self) -> View:
        """The current state."""
        with self._changed:
            return self._aged()

    def views(self, stop: threading.Event, beat_s: float = BEAT_S) -> Iterator[View]:
        """The state now, at every change, and every `beat_s` seconds as a heartbeat."""
        seen = -1
        while not stop.is_set():
            view = self._after(seen, stop, beat_s)
            seen = view.number
            if not stop.is_set():
                yield view

    def wake(self) -> None:
        """Wakes everybody who waits, so that they check their stop events."""
        with self._changed:
            self._changed.notify_all()

    def _condition(self) -> Condition:
        now = condition(self._status, self._faults)
        return not_yet(now, self._starting) if self._starting else now

    def _after(self, seen: int, stop: threading.Event, timeout_s: float) -> View:
        with self._changed:
            self._changed.wait_for(lambda: self._view.number != seen or stop.is_set(), timeout_s)
            return self._aged()

    def _new_verdict(self, announcement: Announcement, each: Sequence[Announcement]) -> None:
        self._recent.extendleft(each)
        counted = [one.tone for one in each if not one.test]
        self._change(
            verdict=announcement,
            verdict_number=self._view.verdict_number + 1,
            again=0,
            admitted=self._view.admitted + sum(tone in _CAME for tone in counted),
            refused=self._view.refused + counted.count(Tone.DENY),
            recent=tuple(self._recent),
        )

    def _change(self, **changes: object) -> None:
        self._view = replace(self._view, number=self._view.number + 1, **changes)  # type: ignore[arg-type]  # fields of View
        self._changed.notify_all()

    def _aged(self) -> View:
        now = self._monotonic_ns()
        view = replace(self._view, age_ms=(now - self._shown_ns) // 1_000_000)
        return view if now - self._heard_ns <= self._stuck_after_ns else replace(view, condition=stuck(view.condition))


def zone_named(name: str) -> tzinfo:
    """The event's time zone; UTC if this machine does not know it."""
    try:
        return ZoneInfo(name) if name else UTC
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
