"""The yardstick of an answer that is ready: a bare Flask endpoint that sends the very same bytes."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

import requests
from flask import Flask, Response

from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, free_port

ROOT: Final = Path(__file__).parents[2]
FILE: Final = "BARE_BYTES_FILE"


def create_app() -> Flask:
    """One endpoint."""
    app = Flask(__name__)
    ready = Path(os.environ[FILE]).read_bytes()

    @app.get("/")
    def page() -> Response:
        return Response(ready, content_type="application/json", headers={"Content-Encoding": "zstd"})

    return app


class BareBytes:
    """The endpoint in a process of its own, behind the same kind of server as the product's."""

    def __init__(self, folder: Path, ready: bytes) -> None:
        self.address = f"http://{LOOPBACK}:{free_port()}"
        file = folder / "bare-bytes"
        file.write_bytes(ready)
        command = [
            sys.executable, "-m", "granian", "--interface", "wsgi", "--factory", "--port", self.address.rsplit(":")[-1],
            "--blocking-threads", "8", "--log-level", "warning", "scripts.measuring.bare_bytes:create_app",
        ]  # fmt: skip
        self._child = Child("The bare bytes", command, folder / "bare-bytes.log", {FILE: str(file)}, folder=ROOT)

    def start(self) -> None:
        """Until it answers."""
        self._child.start()
        self._child.wait_until(self._answers)

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._child.pid

    def stop(self) -> None:
        """For good."""
        self._child.stop()

    def _answers(self) -> bool:
        try:
            return requests.get(self.address, timeout=2).ok
        except requests.RequestException:
            return False
