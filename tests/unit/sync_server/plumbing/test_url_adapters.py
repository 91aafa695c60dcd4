"""Views are found as Flask finds them, whatever host a request names."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from werkzeug.exceptions import HTTPException
from werkzeug.routing import WebsocketMismatch

from sync_server.plumbing.requests import url_adapters

HOSTS = [
    "tickets.example",
    "Tickets.Example:8000",
    "tickets.example:80",
    "bücher.example",
    "[::1]:8000",
    "203.0.113.7",
    "a b",
    f"{'a' * 64}.example",
    "tickets..example",
    "",
]


def bound(app: Flask, environ: dict[str, Any]) -> object:
    """What the application knows of the request's URL, or the status that refuses it."""
    request = app.request_class(environ)
    try:
        adapter = app.create_url_adapter(request)
        assert adapter is not None
        rule, values = adapter.match(return_rule=True)
    except HTTPException as refused:
        return type(refused), refused.code
    seen = {name: value for name, value in vars(adapter).items() if name != "map"}
    return seen | {"host": request.host, "redirect": adapter.get_host(None), "rule": rule.rule, "values": values}


def apps() -> tuple[Flask, Flask]:
    """The same application with our adapters, and with Flask's."""
    made = Flask("ours"), Flask("flask's")
    for app in made:
        app.add_url_rule("/seats/<seat>", view_func=lambda seat: seat, endpoint="seat", methods=["POST"])
    url_adapters.install(made[0])
    return made


def a_request(host: str, scheme: str = "http") -> dict[str, Any]:
    """The WSGI environment of a request that names this host."""
    return {
        "REQUEST_METHOD": "POST",
        "SCRIPT_NAME": "/shop",
        "PATH_INFO": "/seats/A-é".encode().decode("latin1"),
        "QUERY_STRING": "day=é".encode().decode("latin1"),
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8000",
        "HTTP_HOST": host.encode().decode("latin1"),
        "wsgi.url_scheme": scheme,
    }


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("host", HOSTS)
def test_a_request_is_bound_as_flask_binds_it(host: str, scheme: str) -> None:
    ours, flasks = apps()
    assert bound(ours, a_request(host, scheme)) == bound(flasks, a_request(host, scheme))


def test_another_protocol_is_refused_as_flask_refuses_it() -> None:
    environ = a_request("tickets.example") | {"HTTP_CONNECTION": "Upgrade", "HTTP_UPGRADE": "websocket"}
    ours, flasks = apps()
    assert bound(ours, environ) == bound(flasks, environ) == (WebsocketMismatch, 400)


def test_a_request_without_a_host_is_bound_to_the_servers_address() -> None:
    environ = a_request("") | {"SERVER_NAME": "192.0.2.1"}
    del environ["HTTP_HOST"]
    ours, flasks = apps()
    assert bound(ours, environ) == bound(flasks, environ)
    assert "192.0.2.1:8000" in str(bound(ours, environ))
