"""/healthz and /readyz."""

from __future__ import annotations

import threading
from typing import Final

from apiflask import APIBlueprint
from flask import Flask, Response, current_app, jsonify
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from sync_server.plumbing.database import Database
from sync_server.plumbing.parts import parts

READY_WITHIN_S: Final = 2.0
"""A database that takes longer serves nobody."""
_PROBE: Final = "database_probe"

bp = APIBlueprint("health", __name__, enable_openapi=False)


class DatabaseProbe:
    """Asks the database for an answer on a thread of its own: one that hangs does not hang whoever wants to know."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._asking: _Question | None = None

    def problem(self, within_s: float) -> str:
        """What is wrong with the database; empty if it answers in time."""
        with self._lock:
            if self._asking is None or self._asking.done.is_set():
                self._asking = _Question(self._database)
            asking = self._asking
        return asking.problem if asking.done.wait(within_s) else "no answer"


class _Question:
    """One statement, asked once for all who wait for it."""

    def __init__(self, database: Database) -> None:
        self.done = threading.Event()
        self.problem = ""
        self._database = database
        threading.Thread(target=self._ask, name="readiness", daemon=True).start()

    def _ask(self) -> None:
        try:
            with self._database.reading() as session:
                session.execute(text("SELECT 1"))
        except SQLAlchemyError as problem:
            self.problem = type(problem).__name__
        finally:
            self.done.set()


@bp.get("/healthz")
def alive() -> Response:
    """Report that the process responds."""
    return jsonify({"status": "ok"})


@bp.get("/readyz")
def ready() -> tuple[Response, int]:
    """Report whether the server goes on and the database responds; other dependencies are shown only."""
    if parts().draining.is_set():
        return jsonify({"status": "stopping"}), 503
    dependencies = {name: "ok" if works() else "lost" for name, works in parts().dependencies.items()}
    problem = _probe(current_app).problem(READY_WITHIN_S)
    if problem:
        return jsonify({"status": "unavailable", "database": problem, **dependencies}), 503
    return jsonify({"status": "ok", "database": "ok", **dependencies}), 200


def _probe(app: Flask) -> DatabaseProbe:
    probe: DatabaseProbe = app.extensions.setdefault(_PROBE, DatabaseProbe(parts().database))
    return probe
