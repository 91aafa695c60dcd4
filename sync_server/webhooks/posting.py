"""Posts one message by HTTP: to an address that was checked, within a deadline, and without following redirects."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import h11

from sync_server.config import Config
from sync_server.plumbing.requests.addresses import leads_inside, within
from sync_server.webhooks.rules import Problem

ANSWER_BYTES: Final = 1_000
"""How much of an answer is kept; the rest is not read."""
_HEADER_BYTES: Final = 16 * 1024
_PIECE: Final = 4 * 1024
_CLOSE_S: Final = 1.0


class UndeliverableError(Exception):
    """Nothing has answered."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.value)
        self.problem = problem


@dataclass(slots=True)
class Answer:
    """What a receiver answers; its status once it is known."""

    status: int | None = None
    start: bytes = b""
    retry_after: str = ""


class Poster:
    """Posts to receivers outside; to those inside the server's own network only where the settings list them."""

    def __init__(self, config: Config, resolver: Executor) -> None:
        """Names are looked up on the threads of `resolver`."""
        self._resolver, self._seconds = resolver, config.webhook_seconds
        self._open_networks = config.open_networks
        self._tls = ssl.create_default_context()
        if config.webhook_ca_file is not None:
            self._tls.load_verify_locations(config.webhook_ca_file)

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Post a body; the answer has a status. Raises UndeliverableError where there is none in time."""
        answer = Answer()
        try:
            async with asyncio.timeout(self._seconds):
                await self._exchange(urlsplit(url), headers, body, answer)
        except (TimeoutError, OSError, h11.RemoteProtocolError) as failure:
            if answer.status is None:
                raise UndeliverableError(_problem(failure)) from None
        return answer

    async def _exchange(self, url: SplitResult, headers: Mapping[str, str], body: bytes, answer: Answer) -> None:
        reader, writer = await self._connected(url)
        try:
            await _converse(reader, writer, _request(url, headers, body), body, answer)
        finally:
            writer.close()
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(_CLOSE_S):
                    await writer.wait_closed()

    async def _connected(self, url: SplitResult) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to one of the addresses that the name has at this moment, each of which was checked."""
        host, encrypted = url.hostname or "", url.scheme == "https"
        port = url.port or (443 if encrypted else 80)
        addresses = await self._addresses(host, port)
        if not addresses:
            raise UndeliverableError(Problem.NO_SUCH_HOST)
        if any(leads_inside(each) and not within(each, self._open_networks) for each in addresses):
            raise UndeliverableError(Problem.INSIDE_ADDRESS)
        tls = {"ssl": self._tls, "server_hostname": host, "ssl_shutdown_timeout": _CLOSE_S}
        options: dict[str, Any] = tls if encrypted else {}
        for address in addresses:
            try:
                return await asyncio.open_connection(address, port, **options)
            except ssl.SSLError:
                raise
            except OSError:
                continue
        raise UndeliverableError(Problem.NO_CONNECTION)

    async def _addresses(self, host: str, port: int) -> Sequence[str]:
        loop = asyncio.get_running_loop()
        lookup = loop.run_in_executor(self._resolver, _resolved, host, port)
        return await lookup


def _resolved(host: str, port: int) -> Sequence[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return ()
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _request(url: SplitResult, headers: Mapping[str, str], body: bytes) -> h11.Request:
    target = (url.path or "/") + (f"?{url.query}" if url.query else "")
    own = {"host": url.netloc, "content-length": str(len(body)), "connection": "close"}
    return h11.Request(method="POST", target=target, headers=list((own | dict(headers)).items()))


async def _converse(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: h11.Request, body: bytes, answer: Answer
) -> None:
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEADER_BYTES)
    for part in (request, h11.Data(data=body), h11.EndOfMessage()):
        writer.write(connection.send(part) or b"")
    await writer.drain()
    while len(answer.start) < ANSWER_BYTES:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(_PIECE))
        elif isinstance(event, h11.Response):
            answer.status = event.status_code
            answer.retry_after = dict(event.headers).get(b"retry-after", b"").decode("ascii", "replace")
        elif isinstance(event, h11.Data):
            answer.start += bytes(event.data)[: ANSWER_BYTES - len(answer.start)]
        elif not isinstance(event, h11.InformationalResponse):
            return


def _problem(failure: Exception) -> Problem:
    if isinstance(failure, TimeoutError):
        return Problem.SLOW
    if isinstance(failure, ssl.SSLCertVerificationError):
        return Problem.NO_TRUST
    return Problem.BAD_ANSWER if isinstance(failure, h11.RemoteProtocolError) else Problem.NO_CONNECTION
