"""The real transport: HTTP with persistent connections."""

from __future__ import annotations

import requests

from gate_app.sync.client import HttpRequest, HttpResponse
from shared.errors import TooLarge, Unavailable
from shared.wire.protocol import MAX_MESSAGE_BYTES

CONNECT_S = 5.0
_CHUNK = 1 << 16


class HttpTransport:
    """Sends requests over HTTP, keeping connections open."""

    def __init__(self, ca_file: str | None = None) -> None:
        self._session = requests.Session()
        # Ignore proxy settings and .netrc of this machine's user.
        self._session.trust_env = False
        self._session.verify = ca_file or True

    def send(self, request: HttpRequest) -> HttpResponse:
        """Sends a request without following redirects: the server never sends any, captive portals do."""
        try:
            with self._session.request(
                request.method,
                request.url,
                data=request.body,
                headers=request.headers,
                timeout=(CONNECT_S, request.timeout_s),
                allow_redirects=False,
                stream=True,
            ) as response:
                return HttpResponse(response.status_code, dict(response.headers), _bounded(response))
        except requests.RequestException as why:
            raise Unavailable(f"The server does not answer ({_kind(why)}). Scanning continues offline.") from why

    def close(self) -> None:
        """Safe to call twice."""
        self._session.close()


def _bounded(response: requests.Response) -> bytes:
    chunks, size = [], 0
    for chunk in response.iter_content(_CHUNK):
        size += len(chunk)
        if size > MAX_MESSAGE_BYTES:
            raise TooLarge("The response is larger than anything the server sends. It was discarded.")
        chunks.append(chunk)
    return b"".join(chunks)


def _kind(why: requests.RequestException) -> str:
    return type(why).__name__.removesuffix("Error").lower() or "no connection"
