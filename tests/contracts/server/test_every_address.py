"""What holds for every address of the API, also for those that are added tomorrow."""

from __future__ import annotations

import re
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from werkzeug.routing import Rule

from sync_server.accounts.doors import DOORS, OPEN_TOO, Who
from tests.builders import a_gate, a_zone
from tests.office import Desk, Evening, Office

OPEN_TO_ALL = {*OPEN_TOO, *(name for name, door in DOORS.items() if door.who is Who.ANYBODY)}
"""By endpoint; each with its reason beside it."""
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def addresses(office: Office) -> list[tuple[str, Rule]]:
    rules = [rule for rule in office.app.url_map.iter_rules() if rule.rule.startswith("/api/")]
    return [(method, rule) for rule in rules for method in METHODS if method in (rule.methods or ())]


def filled(rule: Rule) -> str:
    """The address with something in every gap."""
    return re.sub(r"<[^>]+>", "1", rule.rule)


def test_nobody_gets_anything_without_signing_in(office: Office) -> None:
    stranger = office.app.test_client()
    found = addresses(office)
    assert len(found) > 50
    for method, rule in found:
        if rule.endpoint not in OPEN_TO_ALL:
            answer = stranger.open(filled(rule), method=method, json={})
            assert answer.status_code == 401, (method, rule.rule, answer.status_code)


ONLY_ASK = {"/api/events/<event_id>/layout/best-seats", "/api/events/<event_id>/layout/picked-seats"}
"""Questions too long for an address: whoever may read may ask them."""


def test_a_token_without_scopes_of_use_changes_nothing(office: Office) -> None:
    weak = office.desk(office.organisation("marquee"), ["read"])
    for method, rule in addresses(office):
        if method != "GET" and rule.rule not in ONLY_ASK and not rule.rule.startswith(("/api/session", "/api/o/")):
            status = weak.ask(method, filled(rule), {}).status_code
            assert status in {403, 404}, (method, rule.rule, status)


def test_a_request_from_another_site_signs_nobody_in(office: Office) -> None:
    client = office.app.test_client()
    answer = client.post("/api/session", json={"email": "x", "password": "y"}, headers={"Sec-Fetch-Site": "cross-site"})
    assert (answer.status_code, answer.json["error"]["code"] if answer.json else "") == (403, "bad_origin")


def _prepared(desk: Desk, evening: Evening) -> None:
    desk.post(f"/api/venues/{evening.venue['id']}/gates", a_gate())
    desk.post(f"{evening.path}/zones", a_zone())
    evening.issue(count=2)


ROOMS = (
    "Venues",
    "Events",
    "Seats of events",
    "Guest lists",
    "Moving guests",
    "Figures of houses",
    "Tickets",
    "Memberships",
    "Keys",
    "Accounts",
    "Audit",
    "Devices",
    "Scans",
    "Programme",
)


@pytest.mark.parametrize("room", ROOMS)
def test_whatever_is_sent_the_server_does_not_break(office: Office, desk: Desk, evening: Evening, room: str) -> None:
    """Requests made from the description of the API, good and bad ones: answers are answers, never 500."""
    _prepared(desk, evening)
    described = schemathesis.openapi.from_wsgi("/openapi.json", office.app)
    known = {"event_id": evening.event["id"], "venue_id": evening.venue["id"]}
    chosen = described.include(tag=room).exclude(path_regex="live")

    for operation in chosen.get_all_operations():
        _try(operation.ok(), known, desk)


def _try(operation: Any, known: dict[str, str], desk: Desk) -> None:
    @settings(
        max_examples=10,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy())
    def ask(case: Any) -> None:
        for name in known.keys() & (case.path_parameters or {}).keys():
            case.path_parameters[name] = known[name]
        answer = case.call(headers=desk.headers)
        assert answer.status_code < 500, f"{case.method} {case.path} {case.body!r}: {answer.text[:300]}"
        if answer.status_code >= 400:
            assert set(answer.json()) == {"error"}

    ask()
