"""Starts the server and the gate, waits until they are ready, and stops them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import requests

from scripts.local_stack.layout import ROOT, StackLayout
from scripts.processes.child import Child

#: On shutdown the server closes its open streams, which may take a few seconds.
SERVER_STOP_S = 15.0


class CommandFailedError(RuntimeError):
    """A command failed; the message is what it printed on standard error."""


def server_child(layout: StackLayout) -> Child:
    """The server with its worker, not started yet."""
    command = layout.server_command("serve", "--port", str(layout.port))
    return _child("server", layout, command, stop_timeout=SERVER_STOP_S)


def gate_child(layout: StackLayout, *readers: str) -> Child:
    """The gate with its screen, not started yet."""
    return _child("gate", layout, layout.gate_command("run", "--screen", str(layout.gate_port), *readers))


def _child(name: str, layout: StackLayout, command: list[str], stop_timeout: float = 10.0) -> Child:
    log = layout.folder / f"{name}.log"
    return Child(f"The {name}", command, log, layout.environment, folder=ROOT, stop_timeout=stop_timeout)


@contextmanager
def running(child: Child, ready: Callable[[], bool]) -> Iterator[Child]:
    """Start the program, wait until it is ready, and stop it at the end of the block."""
    child.start()
    try:
        child.wait_until(ready)
        yield child
    finally:
        child.stop()


def is_server_ready(layout: StackLayout) -> bool:
    """Whether the server accepts requests."""
    return _responds(f"{layout.address}/readyz")


def is_gate_ready(layout: StackLayout) -> bool:
    """Whether the gate serves its screen."""
    return _responds(layout.gate_address)


def _responds(address: str) -> bool:
    try:
        return requests.get(address, timeout=2).ok
    except requests.RequestException:
        return False


def run_command(layout: StackLayout, command: Sequence[str], stdin: str | None = None) -> list[dict[str, Any]]:
    """Run one command and return the JSON lines that it printed. CommandFailedError if it fails."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **layout.environment},
        input=stdin or "",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode:
        raise CommandFailedError(done.stderr.strip() or f"{' '.join(command[2:])} ended with status {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.strip()]
