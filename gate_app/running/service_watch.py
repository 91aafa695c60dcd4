"""Tells systemd that the gate is up and gets on with its work; elsewhere it tells nobody."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from contextlib import suppress

READY = "READY=1"
ALIVE = "WATCHDOG=1"
STOPPING = "STOPPING=1"


class ServiceWatch:
    """The service manager's socket, as sd_notify(3) describes it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        name = environment.get("NOTIFY_SOCKET", "")
        self._address = "\0" + name[1:] if name.startswith("@") else name

    @property
    def watches(self) -> bool:
        """Whether a service manager started this gate, and starts it again when it ends."""
        return bool(self._address)

    def tell(self, state: str) -> None:
        """Sends one state. A manager that cannot be reached is none of the guests' concern."""
        if self._address:
            with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as manager:
                manager.sendto(state.encode(), self._address)
