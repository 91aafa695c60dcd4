"""What organisers write about a venue at the desk, and which gate leads where; mistakes stand beside their fields."""

from __future__ import annotations

import re

import pytest
from werkzeug.test import TestResponse

from tests.app_server import ApiClient, AppServer, Concert, a_concert
from tests.builders import a_gate, a_zone

OWNER = "olga@marquee.example"
WRITTEN = {
    "name": "Harbour Hall",
    "timezone": "Europe/Berlin",
    "city": "Berlin",
    "country": "DE",
    "address": "Hafenstraße 1, 10245 Berlin",
    "position": "53.5413, 9.9841",
    "website": "https://harbour.example",
    "max_capacity": "800",
    "directions": "Tram 12 to the quay.",
    "accessibility": "A lift at the quay side.",
    "house_rules": "No large bags.",
    "access_rules": "Under 16 only with an adult\n\nNo glass",
    "doors_minutes_before": "90",
    "age_limit": "6",
}


class Desk:
    """The owner's browser, and a concert with two gates and two zones."""

    def __init__(self, app_server: AppServer) -> None:
        organisation = app_server.organisation("marquee")
        app_server.user(OWNER, organisation, "owner")
        self.owner: ApiClient = app_server.browser(OWNER)
        self.concert: Concert = a_concert(app_server.api(organisation))
        self.venue = str(self.concert.venue["id"])
        for code in ("A", "B"):
            self.concert.api.post(f"/api/venues/{self.venue}/gates", a_gate(code=code))
        for name in ("Floor", "Balcony"):
            self.concert.api.post(f"{self.concert.path}/zones", a_zone(name=name))

    def send(self, path: str, **fields: object) -> TestResponse:
        """Send a form."""
        token = self.owner.headers["X-CSRF-Token"]
        return self.owner.client.post(f"/admin{path}", data={"csrf_token": token, **fields})

    def served(self) -> dict[str, list[int]]:
        """The zones of each gate."""
        gates = self.concert.api.get(f"{self.concert.path}/gates")["items"]
        return {gate["code"]: gate["zones"] for gate in gates}


@pytest.fixture
def desk(app_server: AppServer) -> Desk:
    return Desk(app_server)


def said_beside(answer: TestResponse, field: str) -> str:
    """What a page says beside a field."""
    found = re.search(rf'id="{field}-said">([^<]*)<', answer.get_data(as_text=True))
    return found[1] if found else ""


def test_house_rules_access_and_the_place_are_written_at_the_desk_and_read_in_the_shop(desk: Desk) -> None:
    assert desk.send(f"/venues/{desk.venue}", **WRITTEN).status_code == 302
    stored = desk.concert.api.get(f"/api/venues/{desk.venue}")
    assert (stored["latitude"], stored["longitude"], stored["max_capacity"]) == (53.5413, 9.9841, 800)
    assert stored["settings"]["doors_minutes_before"] == 90
    desk.concert.api.post(f"{desk.concert.path}/publish", {}, 200)
    shop = desk.owner.client.get(f"/o/marquee/events/{desk.concert.event['slug']}").get_data(as_text=True)
    for words in ("Tram 12 to the quay.", "A lift at the quay side.", "No large bags.", "No glass", "from 6"):
        assert words.lower() in shop.lower(), words


def test_a_venue_that_a_draft_lacks_leads_back_to_the_draft(desk: Desk) -> None:
    draft = desk.concert.event["id"]
    answer = desk.send(f"/venues/{desk.venue}?event={draft}", **WRITTEN)
    page = desk.owner.client.get(answer.location).get_data(as_text=True)
    assert "Saved." in page
    assert f'href="/admin/events/{draft}">Back to the draft</a>' in page


def test_what_is_left_empty_is_cleared(desk: Desk) -> None:
    desk.send(f"/venues/{desk.venue}", **WRITTEN)
    assert desk.send(f"/venues/{desk.venue}", name="Harbour Hall", timezone="Europe/Berlin").status_code == 302
    stored = desk.concert.api.get(f"/api/venues/{desk.venue}")
    assert (stored["latitude"], stored["website"], stored["settings"]) == (None, "", {})


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("name", "", "must not be empty"),
        ("timezone", "Berlin", "time zone"),
        ("position", "north of here", "must be a number"),
        ("position", "53.5", "give both"),
        ("max_capacity", "many", "must be a whole number"),
        ("age_limit", "six", "must be a whole number"),
        ("website", "harbour", "must be an address"),
    ],
)
def test_a_mistake_stands_beside_its_field_and_nothing_typed_is_lost(
    desk: Desk, field: str, typed: str, said: str
) -> None:
    answer = desk.send(f"/venues/{desk.venue}", **WRITTEN | {field: typed})
    assert answer.status_code == 400
    assert said in said_beside(answer, field).lower()
    assert "A lift at the quay side." in answer.get_data(as_text=True)
    assert desk.concert.api.get(f"/api/venues/{desk.venue}")["settings"] == {}


def test_a_venue_without_a_name_is_asked_for_it(desk: Desk) -> None:
    answer = desk.send("/venues", timezone="Europe/Berlin", city="Kiel")
    assert answer.status_code == 400
    assert said_beside(answer, "name") == "Is missing"
    assert 'value="Kiel"' in answer.get_data(as_text=True)


def test_gates_lead_to_the_zones_that_are_ticked(desk: Desk) -> None:
    here = f"/events/{desk.concert.event['id']}/gates"
    assert desk.send(here, **{"gate-1": ["2", "nonsense"]}).status_code == 302
    assert desk.served() == {"A": [2], "B": []}
    assert desk.send(here, **{"gate-2": ["1", "2"]}).status_code == 302
    assert desk.served() == {"A": [], "B": [1, 2]}


def test_a_zone_is_added_and_a_wrong_one_is_refused_beside_its_field(desk: Desk) -> None:
    here = f"/events/{desk.concert.event['id']}/zones"
    answer = desk.send(here, name="Gallery", kind="ga_seated", capacity="few")
    assert answer.status_code == 400
    assert "must be a whole number" in said_beside(answer, "capacity").lower()
    assert desk.send(here, name="Gallery", kind="ga_seated", capacity="40").status_code == 302
    zones = desk.concert.api.get(f"{desk.concert.path}/zones")["items"]
    assert [(zone["name"], zone["capacity"]) for zone in zones][-1] == ("Gallery", 40)


@pytest.mark.parametrize(("field", "beside"), [("price", "price"), ("fee", "fee"), ("tax_percent", "tax_percent")])
def test_an_amount_that_is_none_is_never_dropped_in_silence(desk: Desk, field: str, beside: str) -> None:
    form = {"name": "Regular", "price": "35.00", "quantity": "100", "min_per_order": "1", "max_per_order": "10"}
    answer = desk.send(f"/events/{desk.concert.event['id']}/types/1", **form | {field: "twelve"})
    assert answer.status_code == 400
    assert "must be an amount" in said_beside(answer, beside).lower()
