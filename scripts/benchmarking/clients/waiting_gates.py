"""Many enrolled gates of a measured server, each of which can wait for changes with a signed request."""

from __future__ import annotations

import http.client
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from scripts.benchmarking.servers.measured_server import MeasuredServer
from scripts.processes.streams_address import streams_netloc
from shared.wire import protocol
from shared.wire.http_signatures import sign_request
from sync_server.commands.console import operator_context
from sync_server.devices import service as devices
from sync_server.devices.event_assignments import event_assignment
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.requests.principals import SYSTEM
from sync_server.revisions import queries as revisions

WAIT_S = 50


@dataclass(frozen=True, slots=True)
class WaitingGate:
    """A gate that is up to date."""

    number: int
    key: Ed25519PrivateKey
    at: protocol.EventAt

    @contextmanager
    def waits(self, netloc: str) -> Iterator[socket.socket]:
        """Its request is open during the block, at this connection."""
        connection = http.client.HTTPConnection(netloc, timeout=60)
        body = protocol.encode(protocol.ChangesRequest(events=[self.at], wait=WAIT_S))
        headers = sign_request(
            "POST", netloc, protocol.CHANGES, "", body, key=self.key, device=self.number, channel="pull", counter=1
        )
        connection.request("POST", protocol.CHANGES, body, headers | {"Content-Type": protocol.MEDIA_TYPE})
        try:
            yield connection.sock
        finally:
            connection.close()


def enrol(server: MeasuredServer, count: int) -> list[WaitingGate]:
    """Enrol so many gates at the demo event."""
    organisation, event = server.demo["organisation"]["id"], server.demo["event"]["id"]
    keys = [Ed25519PrivateKey.from_private_bytes(os.urandom(32)) for _ in range(count)]
    numbers = []
    with server.runtime() as runtime:
        context = operator_context(runtime, SYSTEM)
        with runtime.parts.database.writing() as session:
            for number, key in enumerate(keys):
                device = devices.create(session, organisation, f"Gate {number}", "gate", context)
                work = event_assignment(session, organisation, event, gate=None)
                devices.assign(session, device, [work], context)
                public = key.public_key().public_bytes_raw()
                devices.complete_enrolment(session, device, public, context)
                numbers.append(device.number)
        with runtime.parts.database.reading() as session:
            head = revisions.head(session, EventKey(organisation, event))
    if head is None:
        raise RuntimeError("the demo event has no rows for gates")
    at = protocol.EventAt(event=server.event, lineage=head.lineage, revision=head.revision, heard=head.arrivals)
    return [WaitingGate(number, key, at) for number, key in zip(numbers, keys, strict=True)]


def listener_netloc(server: MeasuredServer) -> str:
    """Host and port of the streams listener, as the server says in its redirects."""
    event = f"/api/public/events/{server.demo['event']['id']}/live"
    return streams_netloc(server.layout.address.removeprefix("http://"), event, {})
