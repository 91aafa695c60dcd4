"""Binds the application's URLs to a request as Flask does, but reads and checks the host that it names only once."""

from __future__ import annotations

from functools import lru_cache

from flask import Flask, Request
from werkzeug.exceptions import BadHost
from werkzeug.routing import MapAdapter
from werkzeug.sansio.utils import get_host


def install(app: Flask) -> None:
    """Find views this way; requests without a host, or for another protocol, go Flask's."""
    by_flask = app.create_url_adapter

    def create_url_adapter(request: Request | None) -> MapAdapter | None:
        if request is None or "HTTP_HOST" not in request.environ or "HTTP_UPGRADE" in request.environ:
            return by_flask(request)
        request.host, server = _checked(request.scheme, request.environ["HTTP_HOST"])
        query = request.query_string.decode(errors="replace")
        return MapAdapter(
            app.url_map, server, request.root_path, "", request.scheme, request.path, request.method, query
        )

    app.create_url_adapter = create_url_adapter  # type: ignore[method-assign]


@lru_cache(64)
def _checked(scheme: str, host: str) -> tuple[str, str]:
    """The host as the request shows it, and as redirects name it; BadHost for one that is none."""
    shown = get_host(scheme, host)
    name, colon, port = shown.lower().partition(":")
    try:
        return shown, f"{name.encode('idna').decode('ascii')}{colon}{port}"
    except UnicodeError as wrong:
        raise BadHost from wrong
