"""The demo house: made once an evening, kept under var/, started again as it was left."""

from __future__ import annotations

import json
import os
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from scripts.house import scanner, words
from scripts.house.place import Place
from scripts.house.programs import ask, gate, is_ready, is_shown, running, server

#: After that its concert is over; then there is another one.
EVENING_S = 12 * 3600

Made = dict[str, Any]


def make(place: Place) -> Made:
    """A demo organisation with a live event, tickets, a login, a token and a device code."""
    ask(place, place.server_command("migrate"))
    return ask(place, place.server_command("demo", "--json"))[0]


def remembered(place: Place) -> Made | None:
    """The demo that the gate is enrolled at, unless its evening is over or the server has moved since."""
    try:
        made: Made = json.loads(_memory(place).read_text())
        age = time.time() - _memory(place).stat().st_mtime
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return made if made.get("address") == place.address and age < EVENING_S else None


def remember(place: Place, made: Made) -> None:
    """Keep it for the next start, readable by its owner alone: there is a password in it."""
    with os.fdopen(os.open(_memory(place), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump({**made, "address": place.address}, file)


def _memory(place: Place) -> Path:
    return place.folder / "demo.json"


def serve(place: Place) -> None:
    """Server, worker and gate, until somebody ends them."""
    made = remembered(place)
    fresh = made is None
    if made is None:
        words.doing("Making a demo under var/")
        made = make(place)
    with ExitStack() as ends:
        words.doing("Starting the server with its worker")
        serving = ends.enter_context(running(server(place), lambda: is_ready(place)))
        if fresh:
            enrol(place, made)
        words.doing("Starting the gate")
        watching = ends.enter_context(running(gate(place, "--reader", "fake"), lambda: is_shown(place)))
        tell(place, made)
        scanner.hold_tickets(place, [ticket["code"] for ticket in made["tickets"]], (serving, watching))


def enrol(place: Place, made: Made) -> None:
    """Bring the gate to a new demo; it keeps its journal."""
    words.doing("Enrolling the demo gate and fetching its tickets")
    ask(place, place.gate_command("enrol", place.address, made["device_code"]))
    ask(place, place.gate_command("sync", "--once"))
    remember(place, made)


def tell(place: Place, made: Made) -> None:
    """Where to look and how to sign in."""
    login, supervisor = made["login"], made["supervisor"]
    lines = {
        "Admin": f"{place.address}/admin",
        "sign in as": f"{login['email']}  {login['password']}",
        "Gate screen": place.gate_address,
        "supervisor": f"number {supervisor['number']}, PIN {supervisor['pin']}",
        "API": f"{place.address}/docs",
        "API token": made["api_token"],
        "Logs": str(place.folder / "server.log") + ", gate.log",
    }
    words.console.print("\n[bold green]Gatehouse is open.[/bold green]")
    for name, value in lines.items():
        words.console.print(f"  {name:>12}  ", end="")
        words.console.print(value, markup=False)
