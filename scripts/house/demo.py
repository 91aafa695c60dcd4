"""The demo house: made once, kept under var/, started again as it was left."""

from __future__ import annotations

import json
import signal
from contextlib import ExitStack
from typing import Any

from scripts.house import words
from scripts.house.place import Place
from scripts.house.programs import ask, gate, is_ready, is_shown, running, server


def make(place: Place) -> dict[str, Any]:
    """The demo organisation with its logins, token and device code; made the first time, remembered from then on."""
    remembered = place.folder / "demo.json"
    if remembered.is_file():
        return dict(json.loads(remembered.read_text()))
    ask(place, place.server_command("migrate"))
    (made,) = ask(place, place.server_command("demo", "--json"))
    remembered.touch(mode=0o600)
    remembered.write_text(json.dumps(made))
    return made


def enrol(place: Place, made: dict[str, Any]) -> None:
    """Bring the demo gate to the server, unless it has been there."""
    if not (place.gate_home / "identity.json").is_file():
        words.doing("Enrolling the demo gate")
        ask(place, place.gate_command("enrol", place.address, made["device_code"]))


def serve(place: Place) -> None:
    """Server, worker and gate, until somebody ends them."""
    words.doing("Making the demo under var/ (a moment the first time)")
    made = make(place)
    with ExitStack() as ends:
        words.doing("Starting the server")
        ends.enter_context(running(server(place), lambda: is_ready(place)))
        enrol(place, made)
        words.doing("Starting the gate")
        ends.enter_context(running(gate(place, "--reader", "fake"), lambda: is_shown(place)))
        _tell(place, made)
        signal.pause()


def _tell(place: Place, made: dict[str, Any]) -> None:
    words.console.print(f"\n[bold]Gatehouse is open.[/bold]  admin {place.address}/admin   gate {place.gate_address}")
    words.console.print(json.dumps(made, indent=2))
    words.console.print("Ctrl-C stops everything; scripts/run starts it again as it was left.")
