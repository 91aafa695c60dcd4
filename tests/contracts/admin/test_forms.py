"""Forms of the desk: what is wrong is said beside the field, and what stands beside a form only looks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app_server import ApiClient, AppServer
from tests.builders import HOUR, a_venue
from tests.contracts.admin.desk_client import Desk, a_desk, mistakes_of, words_of
from tests.contracts.sync.office_gates import a_gate

SPACES = " \u00a0\u200b "


@pytest.fixture
def app_server(sqlite_url: str, tmp_path: Path) -> Iterator[AppServer]:
    made = AppServer(sqlite_url, tmp_path)
    yield made
    made.close()


@pytest.fixture
def desk(app_server: AppServer) -> Desk:
    return a_desk(app_server)


def an_order(desk: Desk) -> str:
    sale = {"places": [{"ticket_type": 1, "count": 1}], "method": "cash"}
    return str(desk.concert.api.post(f"{desk.concert.path}/sales", sale)["id"])


def an_unpaid_order(desk: Desk) -> str:
    """Of somebody in the shop."""
    client = desk.server.app.test_client()
    session = client.post("/api/o/marquee/session").json
    assert session is not None
    guest = ApiClient(client, {"X-CSRF-Token": session["csrf_token"]})
    held = guest.post(f"{desk.concert.path}/holds", {"count": 1})["data"]["holds"][0]["hold_id"]
    lines = [{"hold_id": held, "ticket_type": 1}]
    buyer = {"name": "Grace Sommer", "email": "grace@example.org"}
    shop = f"/api/o/marquee/events/{desk.concert.event['id']}"
    return str(guest.post(f"{shop}/orders", {"holds": lines, "buyer": buyer})["id"])


@pytest.mark.parametrize(
    ("where", "field"),
    [
        ("/admin/devices", "name"),
        ("{event}/screens", "name"),
        ("{event}/zones", "name"),
        ("{event}/types/new", "name"),
        ("/admin/orders/{order}/notes", "note"),
        ("/admin/venues", "name"),
        ("/admin/settings/general", "name"),
        ("/admin/settings/tokens", "name"),
    ],
)
def test_names_and_notes_of_spaces_are_refused_beside_the_field(desk: Desk, where: str, field: str) -> None:
    answer = desk.send(where.format(event=desk.event, order=an_order(desk)), **{field: SPACES})
    assert answer.status_code == 400
    assert mistakes_of(answer).get(field), words_of(answer)
    assert "Give this number when you ask for help" not in words_of(answer)


def test_a_conflict_is_not_resolved_by_a_note_of_spaces(desk: Desk) -> None:
    _, gate = a_gate(desk.server, desk.concert)
    gate.admit(404, event=desk.concert.number)
    gate.upload()
    (conflict,) = desk.concert.api.get(f"{desk.concert.path}/conflicts")["items"]
    answer = desk.send(f"/admin/conflicts/{conflict['id']}/resolve", note=SPACES)
    assert answer.status_code == 400 and mistakes_of(answer) == {"note": "Explain in a note what happened."}
    assert desk.send(f"/admin/conflicts/{conflict['id']}/resolve", note="A print-shop test.").status_code == 302


def test_a_payment_of_no_amount_is_not_taken_for_all_that_is_due(desk: Desk) -> None:
    order = an_unpaid_order(desk)
    answer = desk.send(f"/admin/orders/{order}/paid", method="cash", amount="twelve")
    assert answer.status_code == 400 and "must be an amount" in mistakes_of(answer)["amount"].lower()
    assert desk.concert.api.get(f"/api/orders/{order}")["paid_cents"] == 0


@pytest.mark.parametrize(
    ("where", "typed", "said"),
    [
        ("/admin/events/new", {"name": "Serenade", "start_at": "2026-09-12T20:00"}, "12 Sept 2026, 20:00 · Harbour"),
        ("{event}/edit", {"name": "Night Music, again", "start_at": "2026-07-04T20:30"}, "Sat, 4 Jul 2026, 20:30"),
        ("{event}/types/new", {"name": "Balcony", "price": "12,50", "fee": "1"}, "Balcony €13.50"),
        ("{event}/types/1", {"name": "Regular", "price": "30"}, "Regular €30.00"),
        ("{event}/codes", {"kind": "discount", "worth": "15", "unit": "percent"}, "Regular €35.00 €29.75"),
        ("{event}/codes", {"kind": "discount", "worth": "5", "unit": "money", "per": "order"}, "€5.00 off the order"),
        ("{event}/codes", {"kind": "presale"}, "Tick what the codes open"),
        ("{event}/series", {"weekday": "fr", "count": "3"}, "The series adds 3 drafts Fri, 10 Jul 2026"),
        ("{event}/series", {"weekday": "fr"}, "They appear here as soon as"),
    ],
)
def test_what_stands_beside_a_form_follows_it_and_stores_nothing(
    desk: Desk, where: str, typed: dict[str, str], said: str
) -> None:
    before = desk.concert.api.get("/api/events?limit=50"), desk.concert.api.get(desk.concert.path)
    seen = desk.send(where.format(event=desk.event), looks="1", **typed)
    assert seen.status_code == 200 and said in words_of(seen), words_of(seen)
    assert "Some fields need another look" not in words_of(seen)
    assert (desk.concert.api.get("/api/events?limit=50"), desk.concert.api.get(desk.concert.path)) == before
    types = desk.concert.api.get(f"{desk.concert.path}/ticket-types")["items"]
    assert [(each["name"], each["price_cents"]) for each in types] == [("Regular", 3_500)]
    assert desk.concert.api.get(f"{desk.concert.path}/code-batches")["items"] == []


def test_times_of_alerts_are_those_of_the_venue_and_say_so(desk: Desk) -> None:
    desk.server.advance(5 * HOUR)
    said = desk.open("/admin/alerts")
    assert "Since Sat, 4 Jul 2026, 20:00 CEST." in said and "UTC" not in said, said
    assert "go_live" not in said and "end_at_auto" not in said


def test_times_of_no_event_are_those_of_most_venues(desk: Desk) -> None:
    device = desk.concert.api.post("/api/devices", {"name": "West door"})["id"]
    assert "18:15 CEST" in words_of(desk.send(f"/admin/devices/{device}/code"))
    for name in ("Pier 9", "Pier 10"):
        desk.concert.api.post("/api/venues", a_venue(name=name, timezone="America/New_York"))
    assert "12:15 EDT" in words_of(desk.send(f"/admin/devices/{device}/code"))
    assert "4 Jul 2026, 12:00 EDT" in desk.open("/admin/account")


def test_tickets_that_nobody_has_ordered_are_said_instead_of_an_empty_chart(desk: Desk) -> None:
    desk.concert.ticket()
    home = desk.owner.client.get("/admin/")
    assert "1 ticket is issued, and nobody has ordered it" in words_of(home)
    assert "#curve" not in home.get_data(as_text=True)
    assert "1 ticket is issued, and nobody has ordered it" in desk.open(f"{desk.event}/sales")
    an_order(desk)
    assert "#curve" in desk.owner.client.get("/admin/").get_data(as_text=True)
