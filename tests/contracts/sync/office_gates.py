"""Gates of an app server with real tickets and keys, and the organiser's API beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flask.testing import FlaskClient

from shared.tickets import code_hash_of
from shared.wire import enrolment
from tests.app_server import AppServer, Concert, a_concert
from tests.contracts.sync.gates import Gate


@dataclass
class AppServerWorld:
    """Connects a test gate to an app server."""

    app_server: AppServer

    @property
    def now(self) -> int:
        return self.app_server.now

    @property
    def dice(self) -> Any:
        return self.app_server.entropy

    def client(self) -> FlaskClient:
        return self.app_server.app.test_client()

    def advance(self, *, seconds: float = 0, minutes: float = 0, hours: float = 0) -> None:
        self.app_server.advance(int((seconds + 60 * minutes + 3600 * hours) * 1000))


def a_live_evening(app_server: AppServer, organisation: str = "marquee") -> Concert:
    """A live event of an organisation, with a gate."""
    concert = a_concert(app_server.api(app_server.organisation(organisation)))
    gates = concert.api.get(f"/api/venues/{concert.venue['id']}/gates")["items"]
    if not gates:
        concert.api.post(f"/api/venues/{concert.venue['id']}/gates", {"code": "W", "name": "West"})
    for step in ("publish", "go-live"):
        concert.api.post(f"{concert.path}/{step}", status=200)
    return concert


def a_device(concert: Concert, **fields: Any) -> dict[str, Any]:
    """A device assigned to gate 1."""
    made: dict[str, Any] = concert.api.post("/api/devices", {"name": "West lane"} | fields)
    work = {"assignments": [{"event_id": concert.event["id"], "gate": 1}]}
    concert.api.put(f"/api/devices/{made['id']}/assignments", work)
    return made


def a_gate(app_server: AppServer, concert: Concert) -> tuple[dict[str, Any], Gate]:
    """A device and its enrolled gate."""
    device = a_device(concert)
    gate = Gate(AppServerWorld(app_server), "West lane")
    gate.enrol(enrolment.parse(concert.api.post(f"/api/devices/{device['id']}/code")["code"]))
    return device, gate


def shown(gate: Gate, concert: Concert, ticket: dict[str, Any], **fields: Any) -> None:
    """The gate admits that ticket."""
    code = code_hash_of(concert.code(ticket))
    gate.admit(int(ticket["id"], 16), **({"event": concert.number, "code_hash": code} | fields))
