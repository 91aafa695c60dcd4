"""Two editors do not overwrite each other: an edit that insists on what its editor saw is refused after another."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import pytest

from tests.app_server import ApiClient, AppServer, Concert
from tests.builders import a_gate, a_ticket_type, a_zone
from tests.contracts.seating.stage import Stage, a_stage

Body = dict[str, Any]


class Edited(NamedTuple):
    """Something that can be edited: where it is shown, where it is changed, and two different edits of it."""

    shown: str
    path: str
    first: Body
    second: Body
    method: str = "PATCH"


def venue(stage: Stage) -> Edited:
    path = f"/api/venues/{stage.venue['id']}"
    return Edited(path, path, {"address": "Quay 1"}, {"address": "Quay 2"})


def gate(stage: Stage) -> Edited:
    path = f"/api/venues/{stage.venue['id']}/gates"
    stage.api.post(path, a_gate())
    return Edited(path, f"{path}/1", {"name": "North"}, {"capacity": 400})


def event(stage: Stage) -> Edited:
    path = f"/api/events/{stage.event['id']}"
    return Edited(path, path, {"description": "With a choir"}, {"description": "Without a choir"})


def zone(stage: Stage) -> Edited:
    concert = Concert(stage.api, stage.venue, stage.event)
    stage.api.post(f"{concert.path}/zones", a_zone(name="Balcony"))
    zones = stage.api.get(f"{concert.path}/zones")["items"]
    number = next(one["number"] for one in zones if one["name"] == "Balcony")
    return Edited(f"{concert.path}/zones", f"{concert.path}/zones/{number}", {"capacity": 5}, {"capacity": 6})


def ticket_type(stage: Stage) -> Edited:
    path = f"/api/events/{stage.event['id']}/ticket-types"
    number = stage.api.get(path)["items"][0]["number"]
    return Edited(path, f"{path}/{number}", {"quantity": 90}, {"name": "Full price"})


def badge(stage: Stage) -> Edited:
    types = f"/api/events/{stage.event['id']}/ticket-types"
    path = f"{types}/{stage.api.get(types)['items'][0]['number']}/badge"
    return Edited(path, path, {"ready_made": "badge"}, {"ready_made": "label"}, "PUT")


def seating_policy(_stage: Stage) -> Edited:
    path = "/api/organisation/seating-policy"
    return Edited(path, path, {"max_seats_per_booking": 4}, {"max_seats_per_booking": 5})


def own_organisation(_stage: Stage) -> Edited:
    path = "/api/organisation"
    return Edited(path, path, {"name": "Marquee & Sons"}, {"language": "de"})


def staff_policy(_stage: Stage) -> Edited:
    path = "/api/organisation/staff-policy"
    return Edited(path, path, {"issue_tickets": False}, {"change_status": True})


def waiting_list(stage: Stage) -> Edited:
    path = f"/api/events/{stage.event['id']}/waiting-list"
    stage.api.put(path, {"open": True})
    return Edited(path, path, {"open": False}, {"open": True, "offer_minutes": 30}, "PUT")


def self_service(_stage: Stage) -> Edited:
    path = "/api/organisation/self-service"
    return Edited(path, path, {"cancellations": True}, {"max_transfers": 2})


def checkout_settings(_stage: Stage) -> Edited:
    path = "/api/organisation/checkout"
    return Edited(path, path, {"order_minutes": 15}, {"invoice_days": 7})


def ticket_design(_stage: Stage) -> Edited:
    path = "/api/organisation/ticket-design"
    return Edited(path, path, {"colour": "#0f766e"}, {"terms": "No returns."})


def device(stage: Stage) -> Edited:
    made = stage.api.post("/api/devices", {"name": "West 1"})
    path = f"/api/devices/{made['id']}"
    return Edited("/api/devices", path, {"name": "West 2"}, {"name": "West 3"})


def supervisor(stage: Stage) -> Edited:
    stage.api.post("/api/supervisors", {"name": "Ada", "pin": "739164"})
    return Edited("/api/supervisors", "/api/supervisors/1", {"active": False}, {"active": True})


def event_layout(stage: Stage) -> Edited:
    path = f"/api/events/{stage.event['id']}/layout"
    return Edited(path, path, stage.choice(blocked_seat_ids=["A-1"]), stage.choice(), "PUT")


def retention(_stage: Stage) -> Edited:
    return Edited("/api/retention", "/api/retention", {"days": {"names": 20}}, {"days": {"names": 40}})


def webhook(stage: Stage) -> Edited:
    made = stage.api.post("/api/webhooks", {"url": "https://shop.example.org/", "facts": ["*"]})
    path = f"/api/webhooks/{made['id']}"
    return Edited(path, path, {"description": "Till"}, {"description": "Ledger"})


def queue(stage: Stage) -> Edited:
    path = f"/api/events/{stage.event['id']}/queue"
    stage.api.put(path, {"per_minute": 10})
    return Edited(path, path, {"per_minute": 20}, {"per_minute": 30}, "PUT")


def checkout_limit(stage: Stage) -> Edited:
    path = f"/api/events/{stage.event['id']}/checkout"
    return Edited(path, path, {"sessions": 20}, {"sessions": 30}, "PUT")


EVERYTHING: list[Callable[[Stage], Edited]] = [
    venue,
    gate,
    event,
    zone,
    ticket_type,
    badge,
    seating_policy,
    own_organisation,
    staff_policy,
    checkout_settings,
    self_service,
    waiting_list,
    ticket_design,
    device,
    supervisor,
    event_layout,
    retention,
    webhook,
    queue,
    checkout_limit,
]

ALIKE = {
    "devices.assign",  # as the device
    "events.covers.arrange",  # these two as the event
    "events.covers.describe",
    "events.event_places.replace",
    "events.serve_zones",  # as the zones
    "seating.redraw",  # a draft, by the time of its last change
    "accounts.give_role",
    "ticket_files.put_logo",  # as the design
    "account.change",  # by its customer alone: tests/contracts/customers/test_signing_in.py
    "queue.set_beacon",  # once: told again it is refused
}
"""Edits that check in the same words, and are not tried one by one."""


@pytest.fixture
def stage(app_server: AppServer, api: ApiClient) -> Stage:
    stage = a_stage(app_server, api)
    stage.choose()
    api.post(f"/api/events/{stage.event['id']}/ticket-types", a_ticket_type())
    return stage


def etag_of(api: ApiClient, edited: Edited) -> str:
    """From the list, or from the page of the thing itself, whose header says the same."""
    response = api.ask("GET", edited.shown)
    assert response.status_code == 200 and response.json is not None
    if "items" not in response.json:
        assert response.headers["ETag"] == f'"{response.json["etag"]}"'
        return str(response.json["etag"])
    key = edited.path.rsplit("/", 1)[1]
    (found,) = [one for one in response.json["items"] if key in {str(one.get("number")), one.get("id")}]
    return str(found["etag"])


def edit(api: ApiClient, edited: Edited, body: Body, etag: str | None) -> tuple[int, Any]:
    insisting = ApiClient(api.client, {**api.headers, **({} if etag is None else {"If-Match": f'"{etag}"'})})
    response = insisting.ask(edited.method, edited.path, body)
    return response.status_code, response.json


@pytest.mark.parametrize("thing", EVERYTHING, ids=lambda thing: thing.__name__)
def test_the_second_editor_is_told_instead_of_overwriting(stage: Stage, thing: Callable[[Stage], Edited]) -> None:
    edited = thing(stage)
    seen = etag_of(stage.api, edited)
    assert seen == etag_of(stage.api, edited)
    status, answer = edit(stage.api, edited, edited.first, seen)
    assert status == 200, answer
    assert answer["etag"] == etag_of(stage.api, edited) != seen
    status, refusal = edit(stage.api, edited, edited.second, seen)
    assert (status, refusal["error"]["code"]) == (412, "changed_meanwhile")
    assert refusal["error"]["details"]["etag"] == answer["etag"]
    assert edit(stage.api, edited, edited.second, answer["etag"])[0] == 200
    assert edit(stage.api, edited, edited.first, None)[0] == 200  # whoever does not insist still may


def test_every_edit_can_be_guarded(app_server: AppServer, stage: Stage) -> None:
    """A new route that edits something belongs into the list above."""
    urls = app_server.app.url_map.bind("localhost")
    tried = {urls.match(edited.path, method=edited.method)[0] for edited in (thing(stage) for thing in EVERYTHING)}
    edits = {
        rule.endpoint for rule in app_server.app.url_map.iter_rules() if {"PATCH", "PUT"} & (rule.methods or set())
    }
    assert edits - tried == ALIKE


def test_sales_are_no_edits(stage: Stage) -> None:
    edited = event(stage)
    seen = etag_of(stage.api, edited), etag_of(stage.api, ticket_type(stage))
    stage.api.post(f"{edited.path}/tickets", {"ticket_type": 1, "seats": [{"seat_id": "A-1"}]})
    assert (etag_of(stage.api, edited), etag_of(stage.api, ticket_type(stage))) == seen


def test_of_editors_at_the_same_moment_one_wins(app_server: AppServer, stage: Stage) -> None:
    edited = event(stage)
    seen = etag_of(stage.api, edited)

    def change(n: int) -> int:
        api = ApiClient(app_server.app.test_client(), stage.api.headers)
        return edit(api, edited, {"description": f"Version {n}"}, seen)[0]

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(change, range(6))) == [200, *[412] * 5]
