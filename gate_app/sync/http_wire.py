"""The real wire: HTTP over one connection that is kept open."""

from __future__ import annotations

import requests

from gate_app.sync.client import Letter, Reply
from shared.errors import TooLarge, Unavailable
from shared.protocol import MAX_MESSAGE_BYTES

CONNECT_S = 5.0
_CHUNK = 1 << 16


class HttpWire:
    """The real one: HTTP, one connection kept open for each thread that uses it."""

    def __init__(self, ca_file: str | None = None) -> None:
        """Opens nothing yet."""
        self._session = requests.Session()
        # Neither a proxy nor a password file of this machine's user has any say in where a gate's words go.
        self._session.trust_env = False
        self._session.verify = ca_file or True

    def carry(self, letter: Letter) -> Reply:
        """Follows no redirection: the server never sends one, captive portals do."""
        try:
            with self._session.request(
                letter.method,
                letter.url,
                data=letter.body,
                headers=letter.headers,
                timeout=(CONNECT_S, letter.timeout_s),
                allow_redirects=False,
                stream=True,
            ) as response:
                return Reply(response.status_code, dict(response.headers), _bounded(response))
        except requests.RequestException as why:
            raise Unavailable(
                f"The server does not answer ({_kind(why)}). This gate goes on with what it has."
            ) from why

    def close(self) -> None:
        """Safe to call twice."""
        self._session.close()


def _bounded(response: requests.Response) -> bytes:
    chunks, size = [], 0
    for chunk in response.iter_content(_CHUNK):
        size += len(chunk)
        if size > MAX_MESSAGE_BYTES:
            raise TooLarge("The answer is larger than any of the server's. It was thrown away.")
        chunks.append(chunk)
    return b"".join(chunks)


def _kind(why: requests.RequestException) -> str:
    return type(why).__name__.removesuffix("Error").lower() or "no connection"
