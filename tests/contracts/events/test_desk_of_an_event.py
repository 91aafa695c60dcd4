"""What the desk says of an event before anything is sold, and what it does not offer once something is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.app_server import ApiClient, AppServer, Concert, a_concert
from tests.builders import an_event

Asked = Callable[[str], str]


@pytest.fixture
def api(app_server: AppServer) -> ApiClient:
    organisation = app_server.organisation("marquee")
    app_server.user("owner@marquee.example", organisation, "owner")
    return app_server.api(organisation)


@pytest.fixture
def asked(app_server: AppServer, api: ApiClient) -> Asked:
    """The text of a page of the desk."""
    client = app_server.browser("owner@marquee.example").client

    def ask(path: str) -> str:
        return client.get(f"/admin/events{path}").get_data(as_text=True)

    return ask


def a_draft(api: ApiClient, concert: Concert) -> str:
    made = api.post("/api/events", an_event(concert.venue["id"], name="Lantern Parade", description=None))
    return f"/{made['id']}"


def test_a_draft_shows_what_it_lacks_and_the_next_step(api: ApiClient, asked: Asked) -> None:
    draft = a_draft(api, a_concert(api))
    page = asked(draft)
    assert "Visitors find nothing about what they will see." in page
    assert f'<a class="button strong" href="/admin/events{draft}/edit">Write the description</a>' in page
    assert "Publish …" not in page and "Last contact" not in page
    assert "Buyers can pay for it" not in page  # nobody can say so before anything has a price


def test_a_draft_that_lacks_nothing_needed_can_be_published(api: ApiClient, asked: Asked) -> None:
    concert = a_concert(api)
    page = asked(f"/{concert.event['id']}")
    assert f"/admin/events/{concert.event['id']}/status?target=published" in page
    assert "Publish …" in page


def test_back_to_draft_is_offered_only_before_tickets_are_issued(api: ApiClient, asked: Asked) -> None:
    concert = a_concert(api)
    api.post(f"{concert.path}/publish", {}, 200)
    here = f"/{concert.event['id']}"
    assert "Back to draft" in asked(here)
    concert.ticket()
    assert "Back to draft" not in asked(here)


def test_a_search_for_no_event_says_so_instead_of_offering_a_new_one(api: ApiClient, asked: Asked) -> None:
    a_concert(api)
    page = asked("?q=zzz")
    assert "No event matches “zzz”" in page and "Show all events" in page
    assert "No events here" not in page


def test_an_empty_form_of_a_new_event_says_all_that_it_needs_at_once(app_server: AppServer, api: ApiClient) -> None:
    browser = app_server.browser("owner@marquee.example")
    form = {"csrf_token": browser.headers["X-CSRF-Token"], "city": "Kiel"}
    answer = browser.client.post("/admin/events/new", data=form)
    page = answer.get_data(as_text=True)
    assert answer.status_code == 400
    for field, said in (("name", "What is it called?"), ("venue_name", "Where does"), ("start_at", "When does")):
        assert f'id="{field}-said">{said}' in page
    assert 'value="Kiel"' in page
    assert api.get("/api/events")["items"] == []


def test_a_draft_that_lacks_something_offers_it_instead_of_a_form(api: ApiClient, asked: Asked) -> None:
    draft = a_draft(api, a_concert(api))
    page = asked(f"{draft}/status?target=published")
    assert f'href="/admin/events{draft}/edit">Write the description</a>' in page
    assert "Publish it" not in page and 'name="reason"' not in page
