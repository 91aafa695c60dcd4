"""The two programs of the house, running: started until they answer, stopped in order."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import requests

from scripts.house.place import ROOT, Place
from scripts.processes.child import Child

#: The server ends its open streams when asked to stop; that may take it a few seconds.
SERVER_PATIENCE = 15.0


class CommandFailedError(RuntimeError):
    """A command of the house ended badly; its own words are the message."""


def server(place: Place) -> Child:
    """The server with its worker, not yet started."""
    command = place.server_command("serve", "--port", str(place.port))
    return _child("server", place, command, patience=SERVER_PATIENCE)


def gate(place: Place, *readers: str) -> Child:
    """The gate with its screen, not yet started."""
    return _child("gate", place, place.gate_command("run", "--screen", str(place.gate_port), *readers))


def _child(name: str, place: Place, command: list[str], patience: float = 10.0) -> Child:
    log = place.folder / f"{name}.log"
    return Child(f"The {name}", command, log, place.environment, folder=ROOT, patience=patience)


@contextmanager
def running(child: Child, ready: Callable[[], bool]) -> Iterator[Child]:
    """The program, once it is ready, until the block ends."""
    child.start()
    try:
        child.wait_until(ready)
        yield child
    finally:
        child.stop()


def is_ready(place: Place) -> bool:
    """Whether the server takes requests."""
    return _answers(f"{place.address}/readyz")


def is_shown(place: Place) -> bool:
    """Whether the gate's screen is there."""
    return _answers(place.gate_address)


def _answers(address: str) -> bool:
    try:
        return requests.get(address, timeout=2).ok
    except requests.RequestException:
        return False


def ask(place: Place, command: Sequence[str], words: str | None = None) -> list[dict[str, Any]]:
    """Run one command to its end; the JSON lines that it printed. CommandFailedError with its words if it fails."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **place.environment},
        input=words or "",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode:
        raise CommandFailedError(done.stderr.strip() or f"{' '.join(command[2:])} ended with status {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.strip()]
