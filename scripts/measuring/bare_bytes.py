"""The yardstick of an answer that is ready: a bare Flask endpoint that sends the very same bytes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from flask import Flask, Response

from scripts.measuring.bare_server import BareServer

FILE: Final = "BARE_BYTES_FILE"


def create_app() -> Flask:
    """One endpoint."""
    app = Flask(__name__)
    ready = Path(os.environ[FILE]).read_bytes()

    @app.get("/")
    def page() -> Response:
        return Response(ready, content_type="application/json", headers={"Content-Encoding": "zstd"})

    return app


class BareBytes(BareServer):
    """The endpoint in a process of its own."""

    def __init__(self, folder: Path, ready: bytes) -> None:
        file = folder / "bare-bytes"
        file.write_bytes(ready)
        super().__init__(__name__, folder, {FILE: str(file)}, settings=["--blocking-threads", "8"], ready="/")
