"""The list by name: everybody who has a ticket, in the order in which people are asked for, and who printed it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app_server import ApiClient, AppServer, Concert
from tests.contracts.sync.office_gates import a_gate, a_live_evening, shown


@pytest.fixture
def app_server(sqlite_url: str, tmp_path: Path) -> Iterator[AppServer]:
    made = AppServer(sqlite_url, tmp_path)
    yield made
    made.close()


@pytest.fixture
def concert(app_server: AppServer) -> Concert:
    return a_live_evening(app_server)


@pytest.fixture
def desk(app_server: AppServer, concert: Concert) -> ApiClient:
    """The owner, signed in."""
    app_server.user("owner@marquee.example", app_server.event_key(concert.number).organisation_id, "owner")
    return app_server.browser("owner@marquee.example")


def printed(desk: ApiClient, concert: Concert, query: str = "") -> str:
    """The text of the list, laid out as on paper."""
    response = desk.client.get(f"/admin/events/{concert.event['id']}/names.pdf{query}")
    assert (response.status_code, response.content_type) == (200, "application/pdf")
    return subprocess.run(
        ["pdftotext", "-layout", "-", "-"], input=response.data, stdout=-1, check=True
    ).stdout.decode()


def test_guests_stand_by_their_last_names_with_what_is_wrong(
    app_server: AppServer, concert: Concert, desk: ApiClient
) -> None:
    names = ("Zoë Abbott", "Grace Hopper", "Ada Lovelace", "Łukasz Żak", "")
    tickets = [concert.ticket(holder_name=name) for name in names]
    cancelled = concert.ticket(holder_name="Not Coming")
    concert.api.post(f"/api/tickets/{cancelled['id']}/cancel", {"reason": "asked"}, 200)
    concert.api.post(f"/api/tickets/{tickets[1]['id']}/block", {"reason": "stolen"}, 200)
    _, gate = a_gate(app_server, concert)
    gate.anchor()
    shown(gate, concert, tickets[2])
    gate.anchor()
    gate.upload()
    text = printed(desk, concert)
    found = [text.index(words) for words in ("Zoë Abbott", "Grace Hopper", "Ada Lovelace", "Łukasz Żak")]
    assert found == sorted(found) and found[-1] < text.index(tickets[4]["number"])  # who has no name comes last
    assert re.search(r"Grace Hopper.*BLOCKED", text) and re.search(r"Ada Lovelace.*in since 18:00", text)
    assert "Not Coming" not in text and "Page 1 of 1" in text
    actions = [one["action"] for one in concert.api.get("/api/audit")["items"]]
    assert actions.count("event.names_printed") == 1


def test_by_seat_row_nine_stands_before_row_ten(concert: Concert, desk: ApiClient) -> None:
    for row, name in (("10", "Ten"), ("9", "Nine"), ("B", "Letter")):
        concert.ticket(seats=[{"row": row, "number": "1"}], count=None, holder_name=name)
    text = printed(desk, concert, "?by=seat")
    assert text.index("Nine") < text.index("Ten") < text.index("Letter")


def test_every_page_has_its_number(concert: Concert, desk: ApiClient) -> None:
    concert.issue(count=100)
    text = printed(desk, concert)
    assert [f"Page {page} of 3" in text for page in (1, 2, 3)] == [True] * 3


def test_an_event_without_guests_prints_a_page_that_says_so(concert: Concert, desk: ApiClient) -> None:
    text = printed(desk, concert)
    assert "Nobody has a ticket yet." in text and "Page 1 of 1" in text
