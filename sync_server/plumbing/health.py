"""/healthz, /readyz and /metrics: is it alive, can it work, how is it doing."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response, jsonify
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from sync_server.plumbing.metrics import CONTENT_TYPE
from sync_server.plumbing.parts import parts

bp = APIBlueprint("health", __name__, enable_openapi=False)


@bp.get("/healthz")
def alive() -> Response:
    """The process answers."""
    return jsonify({"status": "ok"})


@bp.get("/readyz")
def ready() -> tuple[Response, int]:
    """The process can do its work: the database answers. What it can do without is named, and decides nothing."""
    lines = {name: "ok" if there() else "lost" for name, there in parts().lines.items()}
    try:
        with parts().database.reading() as session:
            session.execute(text("SELECT 1"))
    except SQLAlchemyError as problem:
        return jsonify({"status": "unavailable", "database": type(problem).__name__, **lines}), 503
    return jsonify({"status": "ok", "database": "ok", **lines}), 200


@bp.get("/metrics")
def metrics() -> Response:
    """Measures for Prometheus."""
    return Response(parts().metrics.text(), content_type=CONTENT_TYPE)
