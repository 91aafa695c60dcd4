"""One guest sits elsewhere: the old code dies, the new one admits, and nobody gets a seat that is not theirs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson
import pytest
from jsonschema import Draft202012Validator

from shared.reasons import Reason
from shared.wire.snapshot import RowKind
from sync_server.outbox import fact_schemas
from sync_server.outbox.broker import messages as broker_messages
from tests.app_server import ApiClient, AppServer, Concert
from tests.builders import a_ticket_type
from tests.contracts.facts.test_catalogue import received
from tests.contracts.seating.stage import Stage, a_layout, a_stage, at_the_gate, floor, stalls, with_wheelchairs
from tests.contracts.seating.test_moving_guests import seats_taken
from tests.contracts.seating.test_tickets_on_seats import an_evening_on, on


@pytest.fixture
def concert(stage: Stage) -> Concert:
    """An event on a layout of two rows of eight and a floor."""
    stage.choose()
    return an_evening_on(stage)


def moves(concert: Concert, ticket: dict[str, Any], seat: str, status: int = 201, **body: Any) -> Any:
    request = {"ticket": ticket["id"], "seat_id": seat} | body
    return concert.api.post(f"{concert.path}/layout/moved-guests", request, status)


def refused(concert: Concert, ticket: dict[str, Any], seat: str) -> tuple[int, str]:
    request = {"ticket": ticket["id"], "seat_id": seat}
    return concert.api.refused("POST", f"{concert.path}/layout/moved-guests", request)


def test_old_code_dies_at_the_gate_and_the_new_one_admits(concert: Concert, app_server: AppServer) -> None:
    ticket = concert.issue(**on("A-1"))["items"][0]
    for step in ("publish", "go-live"):
        concert.api.post(f"{concert.path}/{step}", {}, 200)
    old = concert.code(ticket)
    moved = moves(concert, ticket, "B-5", reason="a pillar")
    assert (moved["seat_id"], moved["seat_row"], moved["seat_number"], moved["issue"]) == ("B-5", "B", "5", 2)
    assert at_the_gate(app_server, concert, ticket, old) is Reason.TICKET_REPLACED
    assert at_the_gate(app_server, concert, ticket, concert.code(ticket)) is Reason.ADMITTED
    (row,) = app_server.gate_rows_of(concert.number, RowKind.TICKET)
    assert (row.seat_row, row.seat_number, row.seat) == ("B", "5", 13)


def test_seat_that_was_left_is_free_and_the_new_one_is_sold(concert: Concert, app_server: AppServer) -> None:
    ticket = concert.issue(**on("A-1"))["items"][0]
    moves(concert, ticket, "B-5")
    assert list(seats_taken(app_server)) == [13]
    (fact,) = [each for each in received(app_server) if each.name == "ticket_moved"]
    assert (fact.payload["seats"], fact.payload["from"], fact.payload["to"]) == ([1, 13], "A 1", "B 5")
    Draft202012Validator(fact_schemas.schema(fact.name)).validate(orjson.loads(broker_messages.envelope(fact)))
    concert.issue(**on("A-1"))
    other = concert.issue(**on("A-2"))["items"][0]
    assert refused(concert, other, "B-5") == (409, "seat_taken")
    assert refused(concert, other, "A-2") == (409, "same_seat")
    moves(concert, ticket, "B-6")
    assert moves(concert, other, "B-5")["seat_id"] == "B-5"


def test_nobody_moves_to_a_seat_that_is_not_to_be_had(stage: Stage, concert: Concert, app_server: AppServer) -> None:
    ticket, gone = concert.issue(**on("A-1"))["items"] + concert.issue(**on("A-3"))["items"]
    concert.api.post(f"/api/tickets/{gone['id']}/cancel", {}, 200)
    stage.api.post(f"/api/events/{stage.event['id']}/seatmap/blocked", {"block": [8]}, 200)
    standing = concert.ticket()
    before = seats_taken(app_server)
    assert refused(concert, ticket, "A-8") == (409, "seat_not_for_sale")
    assert refused(concert, ticket, "Z-1") == (404, "unknown_seat")
    assert refused(concert, gone, "B-1") == (409, "ticket_cancelled")
    assert refused(concert, standing, "B-1") == (409, "ticket_has_no_seat")
    other = {"ticket": "00000000000000ff", "seat_id": "B-1"}
    assert concert.api.refused("POST", f"{concert.path}/layout/moved-guests", other) == (404, "ticket_not_found")
    concert.api.post(f"{concert.path}/publish", {}, 200)
    concert.api.post(f"{concert.path}/cancel", {}, 200)
    assert refused(concert, ticket, "B-1")[1] == "event_not_available"
    assert seats_taken(app_server) == before


def test_seat_of_another_price_is_taken_only_by_guests_who_agree(api: ApiClient, app_server: AppServer) -> None:
    zone = stalls()
    for seat in zone["seats"]:
        seat["price_category"] = "best" if seat["row"] == "A" else "good"
    zone["seats"][9]["category"] = "restricted_view"
    stage = a_stage(app_server, api, a_layout(zones=[zone, floor()]))
    stage.choose()
    concert = an_evening_on(stage)
    ticket = concert.issue(**on("B-1"))["items"][0]
    answer = concert.api.ask("POST", f"{concert.path}/layout/moved-guests", {"ticket": ticket["id"], "seat_id": "A-1"})
    assert (answer.status_code, answer.json["error"]["details"]["differs"]) == (409, ["price"])  # type: ignore[index]
    assert refused(concert, ticket, "B-2") == (409, "guest_must_agree"), "its view is restricted"
    assert moves(concert, ticket, "A-1", agreed=True)["seat_id"] == "A-1"


def test_wheelchair_place_gives_its_signs_and_takes_them_back(api: ApiClient, app_server: AppServer) -> None:
    stage = a_stage(app_server, api, with_wheelchairs())
    stage.choose()
    concert = an_evening_on(stage)
    ticket = concert.issue(**on("B-1"))["items"][0]
    assert refused(concert, ticket, "A-2") == (409, "guest_must_agree"), "kept for a companion"
    assert refused(concert, ticket, "A-1") == (409, "guest_must_agree")
    assert "wheelchair" in moves(concert, ticket, "A-1", agreed=True)["flags"]
    assert "wheelchair" not in moves(concert, ticket, "B-1", agreed=True)["flags"]


def test_two_guests_never_get_one_seat(concert: Concert, app_server: AppServer) -> None:
    guests = concert.issue(**on("A-1", "A-2", "A-3", "A-4"))["items"]

    def move(guest: dict[str, Any]) -> int:
        client = ApiClient(app_server.app.test_client(), concert.api.headers)
        body = {"ticket": guest["id"], "seat_id": "B-5"}
        return client.ask("POST", f"{concert.path}/layout/moved-guests", body).status_code

    with ThreadPoolExecutor(4) as pool:
        answers = sorted(pool.map(move, guests))
    assert answers == [201, 409, 409, 409]
    assert len(seats_taken(app_server)) == 4


def test_order_shows_where_its_guest_sits_now(concert: Concert) -> None:
    concert.api.post(f"{concert.path}/ticket-types", a_ticket_type(name="Box office"))
    concert.api.post(f"{concert.path}/publish", {}, 200)
    sale = {"seats": [{"seat_id": "A-1", "ticket_type": 1}], "method": "cash"}
    order = concert.api.post(f"{concert.path}/sales", sale)
    (line,) = order["lines"]
    assert line["seat_label"] == "A 1"
    moves(concert, line["ticket"], "B-7")
    (line,) = concert.api.get(f"/api/orders/{order['id']}")["lines"]
    assert (line["seat_id"], line["seat_label"]) == ("B-7", "B 7")
