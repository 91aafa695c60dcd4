"""The main job, walked once over real HTTP: from an event to a scan that survived the server's absence."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import requests

from scripts.house import demo, words
from scripts.house.concert import Concert, announce
from scripts.house.guest import Guest
from scripts.house.organiser import Organiser, RefusedError
from scripts.house.place import Place
from scripts.house.programs import CommandFailedError, ask, is_ready, server
from scripts.processes.child import Child, ProgramFailedError


class NotSoError(RuntimeError):
    """A step ended, but not with what it promises."""


TROUBLE = (CommandFailedError, NotSoError, ProgramFailedError, RefusedError, requests.RequestException)
KEY = "scripts-run-check"


def promise(holds: bool, otherwise: str) -> None:
    """NotSoError with these words unless it holds."""
    if not holds:
        raise NotSoError(otherwise)


class Walk:
    """One house, and what each step of the walk leaves for the next."""

    def __init__(self, place: Place, ends: ExitStack) -> None:
        self._place = place
        self._server: Child = server(place)
        self._organiser = Organiser(place.address, "")
        self._concert: Concert | None = None
        self._shop = ""
        self._seat: dict[str, Any] = {}
        self._ticket: dict[str, Any] = {}
        ends.callback(self._server.stop)

    def open_server(self) -> str:
        """A server with a demo organisation answers."""
        made = demo.make(self._place)
        self._organiser = Organiser(self._place.address, made["api_token"])
        self._shop = made["organisation"]["slug"]
        self._start_server()
        return f"server with worker on SQLite answers at {self._place.address}"

    def announce_concert(self) -> str:
        """An organiser makes a venue with an entrance and eight seats, and an event."""
        self._concert = announce(self._organiser)
        return f"event {self._concert.name} made, with entrance {self._concert.entrance['name']} and eight seats"

    def open_doors(self) -> str:
        """The event is published and takes real scans."""
        status = self._tonight.open_doors()
        promise(status == "live", f"the event is {status} and not live")
        return "event published, doors open"

    def hold_seat(self) -> str:
        """A guest holds a seat, and a second guest does not get it."""
        kim, lee = (Guest(self._place.address, self._shop) for _ in range(2))
        self._seat = held = kim.hold_best(self._tonight.id)
        refused = lee.hold(self._tonight.id, held["seat_id"])
        promise(refused == (409, "seat_held_by_another_user"), f"the second guest was answered {refused}")
        return f"row {held['row']} seat {held['seat_number']} held; a second guest is refused"

    def issue_ticket(self) -> str:
        """The organiser issues a ticket on that seat, and asking twice issues it once."""
        kind = self._tonight.ticket_type(quantity=8)
        seat, hold = self._seat["seat_name"], self._seat["hold_id"]
        first, again = (self._tonight.issue(kind, seat, hold, key=KEY) for _ in range(2))
        promise(first == again and len(first) == 1, "asking again made another ticket")
        self._ticket = first[0]
        return f"ticket {self._ticket['number']} issued once, though asked for twice"

    def enrol_gate(self) -> str:
        """A gate enrols with a one-time code and is told where it stands."""
        device, code = self._tonight.new_device("West lane 1")
        (told,) = ask(self._place, self._place.gate_command("enrol", self._place.address, code))
        promise(told["device_id"] == device, "the gate took itself for another device")
        check = self._organiser.get(f"/api/devices/{device}/enrolment")["check_number"]
        promise(check == told["check"], "gate and server show different check numbers")
        return f"gate enrolled; both sides show {check}"

    def sync_gate(self) -> str:
        """The gate fetches what it must know."""
        told = self._sync()
        promise(told["pulled"] > 0, f"the gate fetched nothing: {told}")
        return f"gate synced: {told['pulled']} rows, revision {told['revision']}"

    def stop_server(self) -> str:
        """The server is gone."""
        code = self._organiser.get(f"/api/tickets/{self._ticket['id']}/code")["code"]
        self._ticket["code"] = code
        self._server.stop()
        promise(not is_ready(self._place), "the server still answers")
        return "server stopped"

    def admit(self) -> str:
        """The gate admits the guest with the server gone."""
        told = self._scan("left lane")
        promise(told["verdict"] == "admit", f"refused: {told['reason']}, {told['message']}")
        promise(told["committed"], "the verdict was not written down")
        shown = (told["ticket"]["row"], told["ticket"]["seat"])
        promise(shown == (self._seat["row"], str(self._seat["seat_number"])), f"the gate sent the guest to {shown}")
        return (
            f"first scan admitted in {told['micros'] / 1000:.1f} ms to row {shown[0]} seat {shown[1]}, server stopped"
        )

    def refuse(self) -> str:
        """The gate refuses the same ticket at its second reader."""
        told = self._scan("right lane")
        promise(told["reason"] == "already_used", f"not refused as used: {told['verdict']}, {told['reason']}")
        return f"second scan refused: {told['message']}"

    def bring_back_server(self) -> str:
        """The server is back, and the gate delivers its journal."""
        self._start_server()
        told = self._sync()
        promise(told["pushed"] > 0, f"the gate delivered nothing: {told}")
        promise(not told["quarantined"] and not told["conflicts"], f"the server had objections: {told}")
        return f"server back; gate delivered {told['pushed']} entries"

    def see_scans(self) -> str:
        """The server shows both scans, the admitted and the refused."""
        scans = self._organiser.get(f"{self._tonight.path}/scans")["items"]
        reasons = sorted(scan["reason"] for scan in scans)
        promise(reasons == ["admitted", "already_used"], f"the server shows {reasons or 'no scans'}")
        return "both scans show on the server, each once"

    def verify_journal(self) -> str:
        """The gate's journal is unbroken."""
        (told,) = ask(self._place, self._place.gate_command("journal", "--verify"))
        promise(told["ok"], f"broken at {told['broken_at']}")
        return f"journal of {told['entries']} entries is unbroken"

    @property
    def _tonight(self) -> Concert:
        if self._concert is None:
            raise NotSoError("there is no event yet")
        return self._concert

    def _start_server(self) -> None:
        self._server.start()
        self._server.wait_until(lambda: is_ready(self._place))

    def _sync(self) -> dict[str, Any]:
        return ask(self._place, self._place.gate_command("sync", "--once"))[0]

    def _scan(self, reader: str) -> dict[str, Any]:
        command = self._place.gate_command("scan", "-", "--reader", reader)
        return ask(self._place, command, self._ticket["code"] + "\n")[0]


Step = Callable[[Walk], str]
STEPS: tuple[Step, ...] = (
    Walk.open_server,
    Walk.announce_concert,
    Walk.open_doors,
    Walk.hold_seat,
    Walk.issue_ticket,
    Walk.enrol_gate,
    Walk.sync_gate,
    Walk.stop_server,
    Walk.admit,
    Walk.refuse,
    Walk.bring_back_server,
    Walk.see_scans,
    Walk.verify_journal,
)


def walk(place: Place) -> bool:
    """Walk every step, telling each; answers whether all held. Nothing is left running."""
    with ExitStack() as ends:
        walking = Walk(place, ends)
        return all(_step(walking, step) for step in STEPS)


def _step(walking: Walk, step: Step) -> bool:
    begun = time.monotonic()
    try:
        words.done(step(walking), time.monotonic() - begun)
    except TROUBLE as trouble:
        promised = (step.__doc__ or "").strip().rstrip(".")
        words.went_wrong(f"{promised}. But: {trouble}")
        return False
    return True
