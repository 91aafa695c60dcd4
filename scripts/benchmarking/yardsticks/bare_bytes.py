"""The yardstick of `seatmap`: a bare Flask endpoint that sends the same bytes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from flask import Flask, Response

from scripts.benchmarking.yardsticks.bare_server import BareServer

FILE: Final = "BARE_BYTES_FILE"


def create_app() -> Flask:
    """The app with its one endpoint."""
    app = Flask(__name__)
    body = Path(os.environ[FILE]).read_bytes()

    @app.get("/")
    def page() -> Response:
        return Response(body, content_type="application/json", headers={"Content-Encoding": "zstd"})

    return app


class BareBytes(BareServer):
    """The endpoint in its own process."""

    def __init__(self, folder: Path, body: bytes) -> None:
        file = folder / "bare-bytes"
        file.write_bytes(body)
        super().__init__(__name__, folder, {FILE: str(file)}, settings=["--blocking-threads", "8"], ready="/")
