"""A response goes out as Flask would send it, with less work."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Response
from werkzeug.test import create_environ, run_wsgi_app

from sync_server.plumbing.requests.fast_responses import FastResponse

MAKE: dict[str, Callable[[type[Response]], Response]] = {
    "bytes": lambda kind: kind(b"{}", 201, content_type="application/json"),
    "text": lambda kind: kind("é", 200),
    "pieces": lambda kind: kind(iter([b"one", b"two"])),
    "several": lambda kind: kind([b"one", b"two"]),
    "pieces of text": lambda kind: kind(["é"]),
    "nothing": lambda kind: kind("", 204),
    "unchanged": lambda kind: kind(b"left out", 304),
    "elsewhere": lambda kind: kind(b"there", 303, headers={"Location": "/é"}),
}


def sent(response: Response, method: str) -> object:
    """Body, status and headers of the response to a request of this method."""
    body, status, headers = run_wsgi_app(response, create_environ(method=method))
    return b"".join(body), status, sorted(headers)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("kind", MAKE)
def test_it_is_sent_as_flask_sends_it(kind: str, method: str) -> None:
    make = MAKE[kind]
    assert sent(make(FastResponse), method) == sent(make(Response), method)


def test_what_shall_happen_at_its_end_happens() -> None:
    ended: list[str] = []
    response = FastResponse(b"{}")
    response.call_on_close(lambda: ended.append("yes"))
    body, _, _ = run_wsgi_app(response, create_environ(), buffered=True)
    assert b"".join(body) == b"{}" and ended == ["yes"]


def test_usual_headers_are_added_unless_the_view_has_set_them() -> None:
    response = FastResponse(b"{}", headers={"Cache-Control": "max-age=60"})
    response.usual = (("cache-control", "Cache-Control", "no-store"), ("x-frame-options", "X-Frame-Options", "DENY"))
    _, _, headers = run_wsgi_app(response, create_environ())
    assert headers.getlist("Cache-Control") == ["max-age=60"] and headers["X-Frame-Options"] == "DENY"
