"""Lets commands talk to the running gate: a port of this machine alone, and a token that only its owner reads."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from datetime import UTC
from pathlib import Path

from flask import Flask, Response, request

from gate_app.screen.desk_routes import answered, as_json, fields_sent, with_pictures
from gate_app.screen.server import LocalServer
from gate_app.supervision.desk import Desk
from gate_app.supervision.screens import OWNER, same
from gate_app.words import say
from shared.errors import Forbidden
from shared.ids import Entropy
from shared.words.wording import DEFAULT

THREADS = 2


class Control(LocalServer):
    """Answers the commands of this machine until it is closed."""

    def __init__(self, desk: Desk, file: Path, entropy: Entropy, screens_at: str) -> None:
        """`file` tells commands where to ask; `screens_at` is where others find the screens."""
        super().__init__("127.0.0.1", 0, THREADS)
        self._desk = desk
        self._file = file
        self._token = entropy(24).hex()
        self._screens_at = screens_at

    def open(self) -> Control:
        """Starts answering. On a disk that cannot be written nobody can be told where."""
        self.serve(self._app())
        with suppress(OSError):
            self._file.unlink(missing_ok=True)
            written = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(written, "w") as file:
                json.dump({"port": self.port, "token": self._token}, file)
        return self

    def close(self) -> None:
        """Stops answering, and says so."""
        with suppress(OSError):
            self._file.unlink(missing_ok=True)
        super().close()

    def _app(self) -> Flask:
        app = Flask("gate_control", static_folder=None)

        @app.post("/desk/<action>")
        def act(action: str) -> Response:
            def done() -> Response:
                if not same(request.headers.get("Authorization", ""), f"Bearer {self._token}"):
                    raise Forbidden(say("pairing.not_paired"), code="not_paired")
                answer = self._desk.perform(action, fields_sent(), OWNER)
                return as_json(with_pictures(answer, UTC, DEFAULT, self._screens_at), DEFAULT)

            return answered(done, DEFAULT)

        return app
