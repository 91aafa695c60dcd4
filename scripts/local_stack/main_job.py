"""Checks the main job once over real HTTP: from creating an event to a scan created while the server is down."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import requests

from scripts.local_stack import demo, progress
from scripts.local_stack.concert import Concert, announce
from scripts.local_stack.guest import Guest
from scripts.local_stack.layout import StackLayout
from scripts.local_stack.organiser import Organiser, RefusedError
from scripts.local_stack.programs import CommandFailedError, is_server_ready, run_command, server_child
from scripts.processes.child import Child, ProgramFailedError


class CheckFailedError(RuntimeError):
    """A step finished without the promised result."""


FAILURES = (CommandFailedError, CheckFailedError, ProgramFailedError, RefusedError, requests.RequestException)
KEY = "scripts-run-check"
BUYER = {"name": "Kim Example", "email": "kim@example.org", "locale": "en"}
CHECKOUT_S = 600


def require(condition: bool, failure: str) -> None:
    """Raise CheckFailedError with this message unless the condition holds."""
    if not condition:
        raise CheckFailedError(failure)


class MainJob:
    """The steps of the check on one stack; each keeps what the next one needs."""

    def __init__(self, layout: StackLayout, stack: ExitStack) -> None:
        self._layout = layout
        self._server: Child = server_child(layout)
        self._organiser = Organiser(layout.address, "")
        self._concert: Concert | None = None
        self._shop = ""
        self._seat: dict[str, Any] = {}
        self._ticket: dict[str, Any] = {}
        self._free: dict[str, Any] = {}
        stack.callback(self._server.stop)

    def open_server(self) -> str:
        """A server with a demo organisation is up."""
        created = demo.create_demo(self._layout)
        self._organiser = Organiser(self._layout.address, created["api_token"])
        self._shop = created["organisation"]["slug"]
        self._start_server()
        return f"server with worker on SQLite is up at {self._layout.address}"

    def announce_concert(self) -> str:
        """An organiser creates a venue with an entrance and eight seats, and an event."""
        self._concert = announce(self._organiser)
        return f"event {self._concert.name} created, with entrance {self._concert.entrance['name']} and eight seats"

    def open_doors(self) -> str:
        """The event is published and goes live."""
        status = self._announced.open_doors()
        require(status == "live", f"the event is {status}, not live")
        return "event published and live"

    def hold_seat(self) -> str:
        """A guest holds a seat, and a second guest is refused it."""
        self._announced.ticket_type(quantity=8)
        self._kim, self._lee = (Guest(self._layout.address, self._shop) for _ in range(2))
        self._seat = hold = self._kim.hold_best(self._announced.id)
        refused = self._lee.hold(self._announced.id, hold["seat_id"])
        require(refused == (409, "seat_held_by_another_user"), f"the second guest got {refused}")
        return f"row {hold['row']} seat {hold['seat_number']} hold; a second guest is refused"

    def buy_by_transfer(self) -> str:
        """The guest orders the seat in the checkout; once the transfer is noted, the order has one ticket."""
        seconds = self._kim.enter_checkout(self._announced.id)
        require(0 < seconds <= CHECKOUT_S, f"the checkout lasts {seconds} s")
        order = self._kim.order(self._announced.id, self._seat["hold_id"], buyer=BUYER)
        require((order["state"], order["due_cents"]) == ("pending", 2500), f"ordered: {order}")
        first, again = (self._announced.note_transfer(order["id"], "statement 1/1", key=KEY) for _ in range(2))
        require(first == again and first["state"] == "paid", f"after the transfer the order is {again['state']}")
        self._ticket = first["lines"][0]["ticket"]
        self._ticket["code"] = self._kim.code(order["id"], self._ticket["id"])
        return f"order {order['number']} paid by transfer, noted twice; ticket {self._ticket['number']} issued once"

    def buy_with_code(self) -> str:
        """The second guest buys another seat with a code that makes it free."""
        code, hold = self._announced.free_code(), self._lee.hold_best(self._announced.id)
        order = self._lee.order(self._announced.id, hold["hold_id"], codes=[code])
        require((order["discount_cents"], order["total_cents"]) == (2500, 0), f"ordered: {order}")
        paid = self._lee.pay(order["id"], "free")
        require(paid["state"] == "paid", f"the free order is {paid['state']}")
        ticket = paid["lines"][0]["ticket"]
        self._free = {**ticket, "code": self._lee.code(order["id"], ticket["id"])}
        return f"order {order['number']} free by code {code[:4]}-…; ticket {ticket['number']} in the answer"

    def enrol_gate(self) -> str:
        """A gate enrols with a one-time code and gets its assignment."""
        device, code = self._announced.new_device("West lane 1")
        (result,) = run_command(self._layout, self._layout.gate_command("enrol", self._layout.address, code))
        require(result["device_id"] == device, "the gate enrolled as another device")
        check = self._organiser.get(f"/api/devices/{device}/enrolment")["check_number"]
        require(check == result["check"], "gate and server show different check numbers")
        return f"gate enrolled; both sides show {check}"

    def sync_gate(self) -> str:
        """The gate downloads its snapshot."""
        result = self._sync()
        require(result["pulled"] > 0, f"the gate downloaded nothing: {result}")
        return f"gate synced: {result['pulled']} rows, revision {result['revision']}"

    def stop_server(self) -> str:
        """The server stops."""
        self._server.stop()
        require(not is_server_ready(self._layout), "the server still responds")
        return "server stopped"

    def admit(self) -> str:
        """The gate admits the guest while the server is down."""
        result = self._scan("left lane", self._ticket)
        require(result["verdict"] == "admit", f"refused: {result['reason']}, {result['message']}")
        require(result["committed"], "the verdict was not written to the journal")
        shown = (result["ticket"]["row"], result["ticket"]["seat"])
        require(shown == (self._seat["row"], str(self._seat["seat_number"])), f"the gate sent the guest to {shown}")
        return f"first scan admitted in {result['micros'] / 1000:.1f} ms to row {shown[0]} seat {shown[1]}, server down"

    def admit_second(self) -> str:
        """The gate admits the guest of the free order, too."""
        result = self._scan("left lane", self._free)
        require(result["verdict"] == "admit", f"refused: {result['reason']}, {result['message']}")
        return f"ticket {self._free['number']} admitted, server down"

    def refuse(self) -> str:
        """The gate refuses the same ticket at its second reader."""
        result = self._scan("right lane", self._ticket)
        require(result["reason"] == "already_used", f"not refused as used: {result['verdict']}, {result['reason']}")
        return f"second scan refused: {result['message']}"

    def restart_server(self) -> str:
        """The server restarts, and the gate uploads its journal."""
        self._start_server()
        result = self._sync()
        require(result["pushed"] > 0, f"the gate uploaded nothing: {result}")
        require(not result["quarantined"] and not result["conflicts"], f"the server objected: {result}")
        return f"server restarted; gate uploaded {result['pushed']} entries"

    def list_scans(self) -> str:
        """The server lists all scans, the admitted and the refused ones."""
        scans = self._organiser.get(f"{self._announced.path}/scans")["items"]
        reasons = sorted(scan["reason"] for scan in scans)
        require(reasons == ["admitted", "admitted", "already_used"], f"the server lists {reasons or 'no scans'}")
        return "the server lists all three scans, each once"

    def verify_journal(self) -> str:
        """The gate's journal verifies."""
        (result,) = run_command(self._layout, self._layout.gate_command("journal", "--verify"))
        require(result["ok"], f"broken at {result['broken_at']}")
        return f"journal of {result['entries']} entries verified"

    @property
    def _announced(self) -> Concert:
        if self._concert is None:
            raise CheckFailedError("there is no event yet")
        return self._concert

    def _start_server(self) -> None:
        self._server.start()
        self._server.wait_until(lambda: is_server_ready(self._layout))

    def _sync(self) -> dict[str, Any]:
        return run_command(self._layout, self._layout.gate_command("sync", "--once"))[0]

    def _scan(self, reader: str, ticket: dict[str, Any]) -> dict[str, Any]:
        command = self._layout.gate_command("scan", "-", "--reader", reader)
        return run_command(self._layout, command, ticket["code"] + "\n")[0]


Step = Callable[[MainJob], str]
STEPS: tuple[Step, ...] = (
    MainJob.open_server,
    MainJob.announce_concert,
    MainJob.open_doors,
    MainJob.hold_seat,
    MainJob.buy_by_transfer,
    MainJob.buy_with_code,
    MainJob.enrol_gate,
    MainJob.sync_gate,
    MainJob.stop_server,
    MainJob.admit,
    MainJob.admit_second,
    MainJob.refuse,
    MainJob.restart_server,
    MainJob.list_scans,
    MainJob.verify_journal,
)


def run_main_job(layout: StackLayout) -> bool:
    """Run and report each step; return whether all passed. Nothing is left running."""
    with ExitStack() as stack:
        job = MainJob(layout, stack)
        return all(_step(job, step) for step in STEPS)


def _step(job: MainJob, step: Step) -> bool:
    started = time.monotonic()
    try:
        progress.show_done(step(job), time.monotonic() - started)
    except FAILURES as error:
        promise = (step.__doc__ or "").strip().rstrip(".")
        progress.show_failure(f"{promise}. But: {error}")
        return False
    return True
