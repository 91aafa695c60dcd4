"""Addresses of the API: `/api/v1/…` beside `/api/…`, and `Location` of what was made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from flask import Flask, Response

from sync_server.plumbing.web import current_request

VERSIONED: Final = "/api/v1/"
UNVERSIONED: Final = "/api/"

StartResponse = Callable[..., Any]
Wsgi = Callable[[dict[str, Any], StartResponse], Iterable[bytes]]


def install(app: Flask) -> None:
    """Serve the versioned addresses too, and say where what was made is shown."""
    app.wsgi_app = _either_version(app.wsgi_app)  # type: ignore[assignment, method-assign]
    shown: dict[str, Mapping[str, str]] = {}

    def add_location(response: Response) -> Response:
        if response.status_code == 201:
            if not shown:
                shown.update(made=_shown_by_itself(app))
            current = current_request()
            field = shown["made"].get(current.endpoint or "")
            made = response.get_json(silent=True) if field else None
            if isinstance(made, dict) and field in made:
                response.headers["Location"] = f"{current.path}/{made[field]}"
        return response

    app.after_request(add_location)


def _either_version(app: Wsgi) -> Wsgi:
    def routed(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path.startswith(VERSIONED):
            environ["PATH_INFO"] = UNVERSIONED + path.removeprefix(VERSIONED)
        return app(environ, start_response)

    return routed


def _shown_by_itself(app: Flask) -> dict[str, str]:
    """The endpoints that make something with an address below their own, and the field that completes it."""
    below: dict[str, str] = {}
    for rule in app.url_map.iter_rules():
        above, _, last = rule.rule.rpartition("/")
        if last.startswith("<") and "GET" in (rule.methods or ()):
            below[above] = "number" if last.endswith("number>") else "id"
    return {
        rule.endpoint: below[rule.rule]
        for rule in app.url_map.iter_rules()
        if rule.rule in below and "POST" in (rule.methods or ())
    }
