"""Gates that speak to a whole office's server: real tickets, real keys, an organiser's desk beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flask.testing import FlaskClient

from shared import enrolment
from shared.tickets import code_hash_of
from tests.contracts.sync.gates import Gate
from tests.office import Evening, Office, an_evening


@dataclass
class AtTheOffice:
    """Lets a gate speak to an office's server."""

    office: Office

    @property
    def now(self) -> int:
        return self.office.now

    @property
    def dice(self) -> Any:
        return self.office.dice

    def client(self) -> FlaskClient:
        return self.office.app.test_client()

    def advance(self, *, seconds: float = 0, minutes: float = 0, hours: float = 0) -> None:
        self.office.advance(int((seconds + 60 * minutes + 3600 * hours) * 1000))


def a_live_evening(office: Office) -> Evening:
    """An event of the organisation `marquee` that goes on, with a gate."""
    evening = an_evening(office.desk(office.organisation("marquee")))
    gates = evening.desk.get(f"/api/venues/{evening.venue['id']}/gates")["items"]
    if not gates:
        evening.desk.post(f"/api/venues/{evening.venue['id']}/gates", {"code": "W", "name": "West"})
    for step in ("publish", "go-live"):
        evening.desk.post(f"{evening.path}/{step}", status=200)
    return evening


def a_device(evening: Evening, **words: Any) -> dict[str, Any]:
    """A device with work at gate 1."""
    made: dict[str, Any] = evening.desk.post("/api/devices", {"name": "West lane"} | words)
    work = {"assignments": [{"event_id": evening.event["id"], "gate": 1}]}
    evening.desk.put(f"/api/devices/{made['id']}/assignments", work)
    return made


def a_gate(office: Office, evening: Evening) -> tuple[dict[str, Any], Gate]:
    """A device and the enrolled machine that it is."""
    device = a_device(evening)
    gate = Gate(AtTheOffice(office), "West lane")
    gate.enrol(enrolment.parse(evening.desk.post(f"/api/devices/{device['id']}/code")["code"]))
    return device, gate


def shown(gate: Gate, evening: Evening, ticket: dict[str, Any], **words: Any) -> None:
    """The gate admits that ticket."""
    code = code_hash_of(evening.code(ticket))
    gate.admit(int(ticket["id"], 16), **({"event": evening.number, "code_hash": code} | words))
