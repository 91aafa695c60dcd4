"""The demo: created once per concert night, kept under var/, restarted where it was left."""

from __future__ import annotations

import json
import os
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from scripts.local_stack import progress, scanner
from scripts.local_stack.layout import StackLayout
from scripts.local_stack.programs import (
    gate_child,
    is_gate_ready,
    is_server_ready,
    run_command,
    running,
    server_child,
)

#: After that the demo's concert is over and a new demo is created.
DEMO_LIFETIME_S = 12 * 3600

Demo = dict[str, Any]


def create_demo(layout: StackLayout) -> Demo:
    """A demo organisation with a live event, tickets, a login, a token and a device code."""
    run_command(layout, layout.server_command("migrate"))
    return run_command(layout, layout.server_command("demo", "--json"))[0]


def load_demo(layout: StackLayout) -> Demo | None:
    """The saved demo, unless it is too old or was for another server address."""
    try:
        created: Demo = json.loads(_file(layout).read_text())
        age = time.time() - _file(layout).stat().st_mtime
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return created if created.get("address") == layout.address and age < DEMO_LIFETIME_S else None


def save_demo(layout: StackLayout, created: Demo) -> None:
    """Save the demo for the next start, readable by its owner only: it contains a password."""
    with os.fdopen(os.open(_file(layout), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump({**created, "address": layout.address}, file)


def _file(layout: StackLayout) -> Path:
    return layout.folder / "demo.json"


def run(layout: StackLayout) -> None:
    """Run server, worker and gate until they are stopped."""
    created = load_demo(layout)
    fresh = created is None
    if created is None:
        progress.show_step("Creating a demo under var/")
        created = create_demo(layout)
    with ExitStack() as stack:
        progress.show_step("Starting the server with its worker")
        server = stack.enter_context(running(server_child(layout), lambda: is_server_ready(layout)))
        if fresh:
            enrol_gate(layout, created)
        progress.show_step("Starting the gate")
        gate = stack.enter_context(running(gate_child(layout, "--reader", "fake"), lambda: is_gate_ready(layout)))
        print_demo(layout, created)
        scanner.scan_typed_codes(layout, [ticket["code"] for ticket in created["tickets"]], (server, gate))


def enrol_gate(layout: StackLayout, created: Demo) -> None:
    """Enrol the gate with a new demo; its journal is kept."""
    progress.show_step("Enrolling the demo gate and downloading its tickets")
    run_command(layout, layout.gate_command("enrol", layout.address, created["device_code"]))
    run_command(layout, layout.gate_command("sync", "--once"))
    save_demo(layout, created)


def print_demo(layout: StackLayout, created: Demo) -> None:
    """Print the addresses and the logins."""
    login, supervisor = created["login"], created["supervisor"]
    lines = {
        "Admin": f"{layout.address}/admin",
        "sign in as": f"{login['email']}  {login['password']}",
        "Shop": f"{layout.address}/o/{created['organisation']['slug']}",
        "Gate screen": layout.gate_address,
        "supervisor": f"number {supervisor['number']}, PIN {supervisor['pin']}",
        "API": f"{layout.address}/docs",
        "API token": created["api_token"],
        "Logs": str(layout.folder / "server.log") + ", gate.log",
    }
    progress.console.print("\n[bold green]Gatehouse is running.[/bold green]")
    for name, value in lines.items():
        progress.console.print(f"  {name:>12}  ", end="")
        progress.console.print(value, markup=False)
