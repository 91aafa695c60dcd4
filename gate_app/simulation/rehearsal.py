"""Runs simulated guests through camera, decoder and gate, and reports what became of each."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gate_app.gate_context import GateContext, HostEnvironment
from gate_app.scanning.gate import Presentation
from gate_app.screen.feed import Feed
from gate_app.simulation.arrivals import Visitor, arrivals, visitors
from gate_app.simulation.invented_event import InventedEvent, open_gate
from gate_app.status import status
from hardware.ports import Hint
from hardware.simulated.camera import Tempo, Turn
from hardware.simulated.lane import SimulatedLane
from shared.admission import Mode, Verdict
from shared.tickets import looks_like_ticket

WAIT_S = 0.5
MEGABYTE = 1 << 20
Report = Callable[[dict[str, Any]], None]


def ignore_report(_line: dict[str, Any]) -> None:
    """Prints nothing."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is simulated; the same plan gives the same frames."""

    people: int = 20
    a_minute: float = 30
    seed: int = 1
    width: int = 640
    height: int = 480
    trouble: float = 0.1
    frames: Path | None = None


@dataclass
class Outcome:
    """What the gate answered during one guest's turn."""

    answers: list[dict[str, Any]] = field(default_factory=list)
    hints: list[Hint] = field(default_factory=list)
    stage: str = ""


@dataclass
class Counts:
    """The sums of a rehearsal."""

    guests: int = 0
    read: int = 0
    held_up_again: int = 0
    """Of those who were read, how many had to hold up their code more than once."""
    judged_twice: int = 0
    wrong: int = 0
    admitted: int = 0
    refused: int = 0
    used: set[str] = field(default_factory=set)

    def count(self, visitor: Visitor, judged: list[dict[str, Any]], turn: Turn) -> None:
        """Counts one guest. A copy is as good as the ticket if the camera could not read the ticket itself."""
        reason = "admitted" if visitor.reason == "already_used" and visitor.text not in self.used else visitor.reason
        self.guests += 1
        # Whoever shows a copy right behind its ticket is answered, but not judged: to the gate it is the same guest.
        answered = turn.read_after is not None
        self.read += answered
        self.held_up_again += answered and turn.tries > 1
        self.judged_twice += len(judged) > 1
        self.wrong += any(answer["reason"] != reason for answer in judged[:1])
        admitted = bool(judged) and judged[0]["verdict"] == "admit"
        self.admitted += admitted
        self.used |= {visitor.text} if admitted else set()
        self.refused += bool(judged) and not admitted


class Rehearsal:
    """One lane with simulated guests. It is its own lamp: the guest at the camera sees it and goes on."""

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        tempo: Tempo,
        host: HostEnvironment,
        *,
        report: Report = ignore_report,
        feed: Feed | None = None,
    ) -> None:
        """Opens a gate in `folder`; `host` has the clocks of the simulation, and `feed` is for its screens."""
        chance = np.random.default_rng(plan.seed)
        event = InventedEvent(host.wall(), host.entropy)
        coming = visitors(event, chance, plan.people, plan.trouble)
        self._by_number = {visitor.number: visitor for visitor in coming}
        self._plan = plan
        self._report = report
        self._feed = feed
        self._outcome = Outcome()
        self.counts = Counts()
        self.context: GateContext = open_gate(event, folder, host)
        self.lane = SimulatedLane(
            arrivals(coming, chance, plan.a_minute, plan.height),
            (plan.width, plan.height),
            chance,
            tempo,
            on_turn_over=self._turn_over,
            on_hint=self._hinted,
            wanted=looks_like_ticket,
            keep_in=plan.frames,
        )
        self.reader = self.lane.reader
        self._tell_status()

    def run(self) -> dict[str, Any]:
        """Runs until the last guest has gone; the sums."""
        for text in self._readings():
            self.context.gate.handle(Presentation(text, self.reader.name), self)
            self.context.database.rest()
        return self.sums()

    def show(self, result: dict[str, Any], verdict: Verdict, mode: Mode) -> None:
        """A new verdict."""
        del verdict, mode
        if self._feed is not None:
            self._feed.show(result)
        self._outcome.answers.append(result)
        self._outcome.stage = self.lane.decoder.stage
        self.lane.camera.served()

    def repeat(self, result: dict[str, Any]) -> None:
        """The same ticket again a moment later."""
        if self._feed is not None:
            self._feed.show(result)
        self._outcome.answers.append(result)
        self.lane.camera.served()

    def sums(self) -> dict[str, Any]:
        """What became of all guests, and what it cost."""
        counts, decoder = self.counts, self.lane.decoder
        return {
            "guests": counts.guests,
            "read": counts.read,
            "missed": counts.guests - counts.read,
            "held_up_again": counts.held_up_again,
            "judged_twice": counts.judged_twice,
            "wrong": counts.wrong,
            "admitted": counts.admitted,
            "refused": counts.refused,
            "frames": decoder.frames,
            "millis_a_frame": round(decoder.millis_a_frame, 3),
            "resident_mb": resident_mb(),
        }

    def stop(self) -> None:
        """Ends the run at its next frame."""
        self.lane.camera.close()

    def close(self) -> None:
        """Closes the gate."""
        self.reader.close()
        self.context.close()

    def _readings(self) -> Iterator[str]:
        while not self.reader.ended:
            reading = self.reader.next(WAIT_S)
            self._tell_status()
            if reading is not None:
                yield reading.text

    def _tell_status(self) -> None:
        if self._feed is not None:
            self._feed.status(status(self.context.status_source()) | {"online": True})

    def _hinted(self, hint: Hint) -> None:
        if self._feed is not None:
            self._feed.hint(hint)
        if hint not in self._outcome.hints:
            self._outcome.hints.append(hint)

    def _turn_over(self, turn: Turn) -> None:
        visitor, outcome, self._outcome = self._by_number[turn.arrival.number], self._outcome, Outcome()
        judged = [answer for answer in outcome.answers if not answer.get("again")]
        self.counts.count(visitor, judged, turn)
        answer = judged[0] if judged else {"verdict": None, "reason": None, "message": ""}
        self._report(
            {
                "guest": visitor.number,
                "shows": str(turn.arrival.guest.carrier),
                "brings": visitor.brings,
                "read_after_frames": turn.read_after,
                "tries": turn.tries,
                "stage": outcome.stage or None,
                "hints": [str(hint) for hint in outcome.hints],
                "verdict": answer["verdict"],
                "reason": answer["reason"],
                "message": answer["message"],
            }
        )


def resident_mb() -> float:
    """The memory of this process now, in MiB."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return round(pages * resource.getpagesize() / MEGABYTE, 1)
