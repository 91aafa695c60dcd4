"""The network between a gate and the server: real requests and responses that tests can lose or alter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from flask import Flask

from gate_app.sync.client import HttpRequest, HttpResponse
from shared.errors import Unavailable
from shared.wire import protocol

Deliver = Callable[[HttpRequest], HttpResponse]
Fault = Callable[[HttpRequest, Deliver], HttpResponse]


@dataclass
class NetworkLink:
    """Sends one gate's requests to the running server, if there is one."""

    server: Callable[[], Flask | None]
    connected: bool = True
    fault: Fault | None = None
    requested_paths: list[str] = field(default_factory=list)

    def send(self, request: HttpRequest) -> HttpResponse:
        """Send one request; Unavailable if the network or the server is down."""
        if not self.connected:
            raise Unavailable("The network is down.")
        self.requested_paths.append(urlsplit(request.url).path)
        return self.fault(request, self._deliver) if self.fault else self._deliver(request)

    def _deliver(self, request: HttpRequest) -> HttpResponse:
        app = self.server()
        if app is None:
            raise Unavailable("The server is down.")
        parts = urlsplit(request.url)
        response = app.test_client().open(
            parts.path,
            method=request.method,
            query_string=parts.query,
            data=request.body,
            headers=request.headers,
            base_url=f"{parts.scheme}://{parts.netloc}",
        )
        return HttpResponse(response.status_code, dict(response.headers), response.data)


def captive_portal(_letter: HttpRequest, _deliver: Deliver) -> HttpResponse:
    """The venue's Wi-Fi shows a login page with status 200."""
    return HttpResponse(200, {"Content-Type": "text/html"}, b"<html><h1>Welcome! Please accept our terms.</h1></html>")


def response_lost(request: HttpRequest, deliver: Deliver) -> HttpResponse:
    """The server processes the request, but its response is lost."""
    deliver(request)
    raise Unavailable("The connection was lost.")


def after(count: int, fault: Fault, *, path: str = "") -> Fault:
    """Inject the fault after so many requests to `path`."""
    left = [count]

    def sometimes(request: HttpRequest, deliver: Deliver) -> HttpResponse:
        if not urlsplit(request.url).path.endswith(path):
            return deliver(request)
        left[0] -= 1
        return deliver(request) if left[0] >= 0 else fault(request, deliver)

    return sometimes


def journal_only(fault: Fault) -> Fault:
    """Inject the fault into uploads only."""
    return after(0, fault, path=protocol.JOURNAL)


def error_page(_letter: HttpRequest, _deliver: Deliver) -> HttpResponse:
    """A proxy responds without its server."""
    return HttpResponse(500, {"Content-Type": "text/html"}, b"<html>Internal Server Error</html>")
