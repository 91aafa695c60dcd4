"""Whoever prepares events does not decide about published ones: each field and each route around an event, as staff."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from shared.lifecycle import EventStatus
from sync_server.events.permissions import FIELDS, Part
from sync_server.events.schemas import ChangeEvent
from tests.app_server import ApiClient, AppServer, Concert, a_concert
from tests.builders import DAY, EVENING, HOUR, a_gate, a_ticket_type, a_venue, a_zone

START: Final = EVENING + 3 * DAY
CHANGES: Final[dict[str, Any]] = {
    "name": "Another name",
    "slug": "another-slug",
    "code": "OTHER",
    "description": "With a choir",
    "category": "choir",
    "settings": {"stage": "north"},
    "recurrence_group_id": None,
    "participants_elsewhere": True,
    "start_at": START + HOUR,
    "end_at": START + 5 * HOUR,
    "doors_at": START - 2 * HOUR,
    "go_live_at": EVENING + HOUR,
    "end_at_auto": START + 9 * HOUR,
    "cutover_hour": 4,
    "sale_start_at": EVENING + HOUR,
    "sale_end_at": START - DAY,
    "capacity": 30,
    "cutover_empties": False,
    "anti_passback": True,
    "name_checks": True,
    "known_tickets_only": True,
    "max_snapshot_age_hours": 3,
    "clock_uncertain": "deny",
    "repeat_ms": 1,
}
"""A change of each field but the owner, who has a test of their own."""


@pytest.fixture
def app_server(sqlite_url: str, tmp_path: Path) -> Iterator[AppServer]:
    """Permissions do not depend on the database, so one kind is enough."""
    made = AppServer(sqlite_url, tmp_path)
    yield made
    made.close()


@pytest.fixture
def org(app_server: AppServer) -> str:
    return app_server.organisation("marquee")


@pytest.fixture
def stan(app_server: AppServer, org: str) -> ApiClient:
    """Staff with the default policy."""
    app_server.user("stan@marquee.example", org, "staff")
    return app_server.browser("stan@marquee.example")


@pytest.fixture
def concert(app_server: AppServer, org: str) -> Concert:
    return a_concert(app_server.api(org), start_at=START, end_at=START + 4 * HOUR, capacity=200)


def test_every_field_of_an_event_belongs_to_a_part(concert: Concert) -> None:
    """A new field fails here until `permissions.FIELDS` says what it is, and CHANGES how to change it."""
    fields = set(ChangeEvent.model_fields) - {"move_times"}
    assert fields == set(FIELDS) == {*CHANGES, "owner_id"}
    now = concert.api.get(concert.path)
    assert [name for name, value in CHANGES.items() if now[name] == value] == ["recurrence_group_id"]


def test_null_clears_every_field_that_may_be_cleared(concert: Concert) -> None:
    for field in sorted(ChangeEvent.clearable):
        concert.api.patch(concert.path, {field: CHANGES[field]})
        concert.api.patch(concert.path, {field: None})
        assert not concert.api.get(concert.path)[field], field


@pytest.mark.parametrize("field", list(CHANGES))
def test_staff_change_words_of_a_published_event_and_nothing_else(
    concert: Concert, stan: ApiClient, field: str
) -> None:
    if field == "recurrence_group_id":
        concert.api.post(f"{concert.path}/series", {"every_days": 1, "count": 1})
    change = {field: CHANGES[field]}
    concert.api.post(f"{concert.path}/publish", {}, 200)
    if FIELDS[field] is Part.DETAILS:
        stan.patch(concert.path, change)
        return
    before = concert.api.get(concert.path)
    assert stan.refused("PATCH", concert.path, change) == (403, "forbidden")
    assert concert.api.get(concert.path) == before
    stan.patch(concert.path, {"name": "New words", field: before[field]})  # a form sends all its fields
    concert.api.post(f"{concert.path}/go-live", {}, 200)
    assert stan.refused("PATCH", concert.path, change) == (403, "forbidden")


@pytest.mark.parametrize("field", list(CHANGES))
def test_staff_change_every_field_of_a_draft(concert: Concert, stan: ApiClient, field: str) -> None:
    stan.patch(concert.path, {field: CHANGES[field]})


def test_what_is_granted_to_staff_covers_planned_changes_too(
    app_server: AppServer, org: str, concert: Concert, stan: ApiClient
) -> None:
    concert.api.post(f"{concert.path}/publish", {}, 200)
    app_server.user("olga@marquee.example", org, "owner")
    app_server.browser("olga@marquee.example").patch("/api/organisation/staff-policy", {"change_status": True})
    stan.patch(concert.path, {"go_live_at": EVENING + HOUR})


def test_staff_give_an_event_to_nobody_but_themselves(
    app_server: AppServer, org: str, concert: Concert, stan: ApiClient
) -> None:
    other = app_server.user("sue@marquee.example", org, "staff")
    assert stan.refused("PATCH", concert.path, {"owner_id": other}) == (403, "forbidden")
    stan.patch(concert.path, {"owner_id": stan.get("/api/session")["id"]})


def test_staff_change_nothing_around_a_published_event(concert: Concert, stan: ApiClient) -> None:
    api, path = concert.api, concert.path
    api.post(f"/api/venues/{concert.venue['id']}/gates", a_gate())
    zone = api.post(f"{path}/zones", a_zone())["number"]
    kind = api.post(f"{path}/ticket-types", a_ticket_type(name="Early", quantity=2))["number"]
    elsewhere = api.post("/api/venues", a_venue(name="Barn"))["id"]
    requests: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", "/zones", a_zone(name="Pit")),
        ("PATCH", f"/zones/{zone}", {"capacity": 7}),
        ("PUT", "/gates/1", {"zones": [zone]}),
        ("POST", "/ticket-types", a_ticket_type(name="Late")),
        ("PATCH", f"/ticket-types/{kind}", {"price_cents": 1}),
        ("POST", "/venue", {"venue_id": elsewhere}),
        ("DELETE", "/layout", {}),
        ("PUT", "/layout", {"layout_id": concert.event["id"]}),
        ("POST", "/seatmap/blocked", {"block": [1], "open": []}),
    ]
    api.post(f"{path}/publish", {}, 200)
    answers = {(method, rest): stan.ask(method, path + rest, body).status_code for method, rest, body in requests}
    assert answers.pop(("POST", "/seatmap/blocked")) == 404  # there is no layout
    assert set(answers.values()) == {403}, answers


def test_a_part_needs_the_same_action_from_publishing_on() -> None:
    for part in Part:
        later = {part.action(status) for status in EventStatus if status is not EventStatus.DRAFT}
        assert len(later) == 1
