"""Where a running server's streams are: it redirects there, as it does for browsers."""

from __future__ import annotations

import http.client
from collections.abc import Mapping
from urllib.parse import urlsplit


def opened_stream(
    netloc: str, path: str, headers: Mapping[str, str], timeout_s: float
) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
    """The response to a GET that may wait, from the address to which the server redirects."""
    for _ in range(2):
        connection = http.client.HTTPConnection(netloc, timeout=timeout_s)
        connection.request("GET", path, headers=dict(headers))
        response = connection.getresponse()
        if response.status != http.client.TEMPORARY_REDIRECT:
            break
        netloc = urlsplit(response.headers["Location"]).netloc
        connection.close()
    return connection, response


def streams_netloc(netloc: str, path: str, headers: Mapping[str, str]) -> str:
    """Host and port to which the server redirects requests that wait."""
    connection = http.client.HTTPConnection(netloc, timeout=30)
    try:
        connection.request("GET", path, headers=dict(headers))
        response = connection.getresponse()
        response.read()
        if response.status != http.client.TEMPORARY_REDIRECT:
            raise RuntimeError(f"{path}: {response.status}, not a redirect to the streams")
        return urlsplit(response.headers["Location"]).netloc
    finally:
        connection.close()
