"""Views are found as Flask finds them, whatever host a request names."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from werkzeug.exceptions import HTTPException
from werkzeug.routing import RequestRedirect, WebsocketMismatch

from sync_server.plumbing.requests import url_adapters
from tests.builders import an_id

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

RULES = [
    "/seats/<seat>",
    "/events",
    "/events/<event_id>",
    "/events/<event_id>/",
    "/events/<event_id>/seats/<seat_id>",
    "/events/<event_id>/seats/best",
    "/events/<event_id>/days/<int:day>",
    "/pages/<path:name>",
    "/holds/<hold_id>",
    "/*/<event_id>",
]
"""Rules whose addresses are easily taken for one another's."""
METHODS = ["GET", "POST", "HEAD", "DELETE", "PUT"]
ONE, OTHER = an_id("one"), an_id("other")
ADDRESSES = [
    "/events",
    "/events/",
    *(f"/events/{id}{rest}" for rest in ("", "/", "/seats", "/seats/best", "/days/1") for id in (ONE, OTHER)),
    f"/events/{ONE}/seats/{OTHER}",
    f"/events/{OTHER}/seats/{ONE}",
    f"/events/{ONE}/seats/{ONE}",
    f"/events/{ONE}/seats/*",
    f"/events/*/seats/{ONE}",
    "/events/*/seats/*",
    f"/events//{ONE}",
    f"//events/{ONE}",
    f"/events/{ONE}//",
    f"/events/{ONE.upper()}",
    f"/events/{ONE}\n",
    f"/events/{ONE}x",
    f"/events/x{ONE}",
    f"/*/{ONE}",
    f"/{ONE}/*",
    f"/holds/{ONE}",
    f"/pages/{ONE}",
    f"/pages/{ONE}/{OTHER}",
    f"/pages/{OTHER}/more",
    f"/seats/{OTHER}",
    "/seats/A-1",
    f"/{ONE}",
    ONE,
    "/",
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
    seen = {name: value for name, value in vars(adapter).items() if name not in {"map", "ways"}}
    return seen | {"host": request.host, "redirect": adapter.get_host(None), "rule": rule.rule, "values": values}


def led(app: Flask, environ: dict[str, Any]) -> object:
    """The rule that the request follows and its arguments, or where it is sent, or what refuses it."""
    adapter = app.create_url_adapter(app.request_class(environ))
    assert adapter is not None
    try:
        rule, values = adapter.match(return_rule=True)
    except RequestRedirect as elsewhere:
        return elsewhere.new_url
    except HTTPException as refused:
        return type(refused)
    return rule.rule, values


def apps() -> tuple[Flask, Flask]:
    """The same application with our adapters, and with Flask's."""
    made = Flask("ours"), Flask("flask's")
    for app in made:
        for rule in RULES:
            app.add_url_rule(rule, view_func=str, endpoint=rule, methods=["GET", "POST"])
        app.add_url_rule("/holds/<hold_id>", view_func=str, endpoint="release", methods=["DELETE"])
    url_adapters.install(made[0])
    return made


def a_request(host: str, scheme: str = "http", *, method: str = "POST", path: str = "/seats/A-é") -> dict[str, Any]:
    """The WSGI environment of a request that names this host."""
    return {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "/shop",
        "PATH_INFO": path.encode().decode("latin1"),
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


@pytest.mark.parametrize("addresses", [ADDRESSES, ADDRESSES[::-1]], ids=["in turn", "the other way round"])
def test_an_address_leads_to_the_same_view_whatever_was_asked_for_before(addresses: list[str]) -> None:
    """Twice each, so that whatever one of them leaves behind may mislead the next."""
    ours, flasks = apps()
    for path in addresses * 2:
        for method in METHODS:
            environ = a_request("tickets.example", method=method, path=path)
            assert led(ours, environ) == led(flasks, environ), (method, path)


def test_ids_of_an_address_are_the_views_to_change() -> None:
    """What reads the ids puts its own values in their place, for one request."""
    ours, _ = apps()
    for id in (ONE, OTHER, ONE):
        adapter = ours.create_url_adapter(ours.request_class(a_request("a", path=f"/events/{id}")))
        assert adapter is not None
        arguments: Any = adapter.match(return_rule=True)[1]
        assert arguments == {"event_id": id}
        arguments["event_id"] = "read"


def test_no_way_is_kept_for_names_of_which_there_is_no_end() -> None:
    ours, _ = apps()

    def ways_kept() -> int:
        adapter: Any = ours.create_url_adapter(ours.request_class(a_request("a")))
        return len(adapter.ways)

    for id in (ONE, OTHER):
        bound(ours, a_request("a", path=f"/events/{id}"))
    assert ways_kept() == 1
    for n in range(100):
        for path in (f"/seats/{n}", f"/pages/{ONE}/{n}", f"/events/{ONE}/days/{n}", f"/nothing/{n}"):
            bound(ours, a_request("a", path=path))
    assert ways_kept() == 1
