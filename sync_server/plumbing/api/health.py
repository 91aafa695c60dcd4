"""/healthz and /readyz."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response, jsonify
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from sync_server.plumbing.parts import parts

bp = APIBlueprint("health", __name__, enable_openapi=False)


@bp.get("/healthz")
def alive() -> Response:
    """Report that the process responds."""
    return jsonify({"status": "ok"})


@bp.get("/readyz")
def ready() -> tuple[Response, int]:
    """Report whether the database responds; the state of optional dependencies is shown, but does not count."""
    dependencies = {name: "ok" if works() else "lost" for name, works in parts().dependencies.items()}
    try:
        with parts().database.reading() as session:
            session.execute(text("SELECT 1"))
    except SQLAlchemyError as problem:
        return jsonify({"status": "unavailable", "database": type(problem).__name__, **dependencies}), 503
    return jsonify({"status": "ok", "database": "ok", **dependencies}), 200
