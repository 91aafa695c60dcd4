"""What gates say of their machines reaches the organiser; what an older gate does not say changes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from shared.wire import protocol
from shared.wire.protocol import Health
from tests.app_server import AppServer, Concert
from tests.contracts.sync.gates import Gate
from tests.contracts.sync.office_gates import a_gate

HOT = Health(
    celsius=84.5,
    under_voltage=True,
    disk_free_mb=9_000,
    readers=["camera: front"],
    faults=["camera: Unplugged."],
    printer="zpl: no_paper",
)


def ask(gate: Gate, concert: Concert, **said: Any) -> None:
    """The gate asks for changes, and says this in passing."""
    at = gate.frame(event=concert.number)
    here = protocol.EventAt(event=concert.number, lineage=at.lineage, revision=at.base_revision)
    request = protocol.encode(protocol.ChangesRequest(events=[here], **said))
    gate.ask(protocol.ChangesAnswer, "POST", protocol.CHANGES, "pull", body=request)


@pytest.fixture
def gate(app_server: AppServer, concert: Concert) -> Gate:
    _, gate = a_gate(app_server, concert)
    gate.hello()
    return gate


def device_of(concert: Concert) -> dict[str, Any]:
    (device,) = concert.api.get("/api/devices")["items"]
    return dict(device)


def test_what_a_machine_says_stands_in_the_api_and_on_its_page(
    app_server: AppServer, concert: Concert, gate: Gate
) -> None:
    ask(gate, concert, health=HOT)
    device = device_of(concert)
    assert device["health"]["celsius"] == 84.5 and device["health"]["battery_percent"] is None
    assert device["health_problems"] == ["faults", "under_voltage", "hot"]
    app_server.user("owner@marquee.example", app_server.event_key(concert.number).organisation_id, "owner")
    desk = app_server.browser("owner@marquee.example").client
    page = desk.get(f"/admin/devices/{device['id']}").get_data(as_text=True)
    assert all(
        words in page
        for words in ("84 °C", "too weak", "9000 MB free", "camera: front", "camera: Unplugged.", "zpl, no paper")
    )
    assert "Battery" not in page  # it cannot tell, so nothing is said
    assert "Power too weak" in desk.get("/admin/devices").get_data(as_text=True)


def test_a_gate_that_says_nothing_of_its_machine_leaves_what_was_said(concert: Concert, gate: Gate) -> None:
    ask(gate, concert, health=HOT)
    said = device_of(concert)["health_at"]
    ask(gate, concert)
    gate.hello()
    assert (device_of(concert)["health_at"], device_of(concert)["health"]["celsius"]) == (said, 84.5)


def test_what_is_not_uploaded_is_told_with_every_request(concert: Concert, gate: Gate) -> None:
    ask(gate, concert, unsent=14)
    assert device_of(concert)["unsent"] == 14
    assert [each["unsent"] for each in concert.api.get(f"{concert.path}/counters")["gates"]] == [14]
    ask(gate, concert, unsent=0)
    assert device_of(concert)["unsent"] == 0
