"""Clients of the streams listener of a server under test: open streams, and requests that wait."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass
from typing import Any

from tests.app_server import ApiClient, AppServer

PATIENCE_S = 30
MAX_FRAMES = 40


@dataclass
class Frame:
    """One message of a stream."""

    name: str
    id: str
    data: Any


def ask_listener(
    app_server: AppServer, api: ApiClient, path: str, method: str = "GET", **headers: str
) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
    """The listener's response to a GET with the headers and cookies of this client."""
    connection = http.client.HTTPConnection("127.0.0.1", app_server.listener.port, timeout=PATIENCE_S)
    cookies = "; ".join(f"{cookie.key}={cookie.value}" for cookie in (api.client._cookies or {}).values())
    connection.request(method, path, headers=api.headers | ({"Cookie": cookies} if cookies else {}) | headers)
    return connection, connection.getresponse()


class StreamClient:
    """A client with an open stream; close it, or use it as a context."""

    def __init__(self, app_server: AppServer, api: ApiClient, path: str, last_seen: str = "", **headers: str) -> None:
        more = headers | ({"Last-Event-ID": last_seen} if last_seen else {})
        self._connection, self.response = ask_listener(app_server, api, path, **more)
        assert self.response.status == 200, self.response.read()

    def next(self) -> Frame:
        """The next frame that is not a heartbeat."""
        found = self.next_or_end()
        assert found is not None, "the stream has ended"
        return found

    def next_or_end(self) -> Frame | None:
        """The next frame; None at the end of the stream."""
        fields: dict[str, str] = {}
        while line := self.response.readline().decode():
            name, _, value = line.strip().partition(": ")
            if name:
                fields[name] = value
            elif "event" in fields:
                return Frame(fields["event"], fields.get("id", ""), json.loads(fields["data"]))
        return None

    def until(self, name: str) -> Frame:
        """The next frame with this name, skipping a limited number of others."""
        skipped = []
        for _ in range(MAX_FRAMES):
            frame = self.next()
            if frame.name == name:
                return frame
            skipped.append(frame.name)
        raise AssertionError(f"no {name}, only {skipped}")

    def rest(self) -> list[Frame]:
        """The remaining frames; the stream must end properly."""
        frames = []
        while (frame := self.next_or_end()) is not None:
            frames.append(frame)
        return frames

    def close(self) -> None:
        self.response.close()
        self._connection.close()

    def __enter__(self) -> StreamClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
