"""The best seats by what the house faces: whole tables, price categories and restricted views, from file to hold."""

from __future__ import annotations

from typing import Any

import pytest

from tests.app_server import ApiClient, AppServer
from tests.builders import a_ticket_type
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.contracts.holds.test_group_holds import ask, ids
from tests.contracts.seating.stage import a_layout, a_seat, floor, stalls


def in_front(**changed: Any) -> dict[str, Any]:
    """A zone nearer to the top of the drawing than the stalls, but listed after them."""
    seats = [
        a_seat(row, number, coordinates={"x": float(number), "y": float(ord(row) - ord("P") - 5)})
        for row in "PQ"
        for number in range(1, 9)
    ]
    return {"name": "Pit", "zone_type": "reserved_seating", "seats": seats} | changed


def rows_held(sale: SeatedEvent, who: ApiClient, **body: Any) -> set[str]:
    return {each["row"] for each in ask(sale, who, **body)["holds"]}


def test_the_zone_nearest_to_the_stage_is_held_first(app_server: AppServer) -> None:
    focus = {"x": 4.5, "y": -9.0}
    sale = a_seated_event(app_server, layout=a_layout(zones=[stalls(), in_front(), floor()], focus=focus))
    assert rows_held(sale, sale.guest(), best=4) == {"P"}
    backwards = a_layout(zones=[in_front(), stalls(), floor()], focus={"x": 4.5, "y": 9.0})
    sale = a_seated_event(app_server, slug="backwards", layout=backwards)
    assert rows_held(sale, sale.guest(), best=4) == {"B"}
    assert rows_held(sale, sale.guest(), best=4, zone_ids=[sale.zones["Pit"]]) == {"Q"}
    assert sale.api.get(f"{sale.path}/seatmap")["plan"]["focus"] == [4.5, 9.0]


FILES = {
    "csv": "zone,row,number,x,y,layout_focus_x,layout_focus_y\nStalls,A,1,0,0,3,-7\nStalls,A,2,1,0,,\n",
    "svg": """<svg xmlns="http://www.w3.org/2000/svg"><circle data-focus="yes" cx="3" cy="-7"/>
        <circle data-zone="Stalls" data-seat="A-1" data-row="A" data-number="1" cx="0" cy="0"/></svg>""",
    "pretix": """{"name": "Hall", "categories": [{"name": "Front"}], "zones": [{"name": "Stalls",
        "position": {"x": 0, "y": 0}, "areas": [{"shape": "text", "position": {"x": 3, "y": -7}, "text": "Stage"}],
        "rows": [{"row_number": "A", "seats": [
            {"seat_guid": "A-1", "seat_number": "1", "position": {"x": 0, "y": 0}, "category": "Front"}]}]}]}""",
    "gatehouse": """{"name": "Hall", "focus": {"x": 3, "y": -7}, "zones": [{"name": "Stalls",
        "zone_type": "reserved_seating", "seats": [{"row": "A", "number": 1, "coordinates": {"x": 0, "y": 0}}]}]}""",
}


@pytest.mark.parametrize("file_format", FILES)
def test_every_file_says_where_the_stage_is_and_is_written_as_it_was_read(
    app_server: AppServer, file_format: str
) -> None:
    sale = a_seated_event(app_server)
    layouts = f"/api/venues/{sale.event['venue_id']}/layouts"

    def imported(body: bytes, **query: Any) -> Any:
        answer = sale.api.client.post(
            f"{layouts}/import", query_string={"format": file_format} | query, data=body, headers=sale.api.headers
        )
        assert answer.status_code == 201, answer.get_data(as_text=True)
        return answer.json

    first = imported(FILES[file_format].encode())
    assert first["focus"] == [3.0, -7.0]
    path = f"{layouts}/{first['id']}/export"
    again = sale.api.client.get(path, query_string={"format": file_format}, headers=sale.api.headers).data
    assert imported(again)["focus"] == [3.0, -7.0]
    assert imported(FILES[file_format].encode(), focus_x=1, focus_y=2)["focus"] == [1.0, 2.0]


def with_tables() -> dict[str, Any]:
    """Two tables of four in row A, the first of them sold whole, and a view behind a pillar in row B."""
    zone = stalls()
    for seat in zone["seats"]:
        seat["price_category"] = "Front" if seat["row"] == "A" else "Back"
    zone["seats"][8] |= {"category": "restricted_view"}
    zone["seats"][9] |= {"category": "restricted_view"}
    names = [[f"A-{number}" for number in some] for some in (range(1, 5), range(5, 9))]
    groups = [
        {"group_type": "vip_table", "seat_ids": names[0], "metadata": {"name": "Table 1"}, "sold_whole": True},
        {"group_type": "vip_table", "seat_ids": names[1], "metadata": {"name": "Table 2"}},
    ]
    return a_layout(zones=[zone, floor()], groups=groups)


def test_a_table_is_sold_whole_on_every_path(app_server: AppServer) -> None:
    sale = a_seated_event(app_server, layout=with_tables())
    guest = sale.guest()
    assert sale.refused(guest, "A-2") == (409, "sold_whole")
    refused = ask(sale, guest, 409, seat_ids=ids(sale, "A-1", "A-2"))["error"]
    assert refused["code"] == "sold_whole" and "Table 1" in refused["message"] and "A-3, A-4" in refused["message"]
    with_key = guest.ask("POST", sale.reserve_path("A-2"), {}, **{"Idempotency-Key": "k"}).json
    assert with_key is not None and with_key["error"]["code"] == "sold_whole"
    held = ask(sale, guest, seat_ids=ids(sale, "A-1", "A-2", "A-3", "A-4"))["holds"]
    sale.api.post(f"{sale.path}/ticket-types", a_ticket_type())
    bought = {"ticket_type": 1, "seats": [{"seat_id": f"A-{number}"} for number in (1, 2)]}
    bought["holds"] = [each["hold_id"] for each in held[:2]]
    assert sale.api.refused("POST", f"{sale.path}/tickets", bought) == (409, "sold_whole")
    bought["seats"] = [{"seat_id": each["seat_name"]} for each in held]
    sale.api.post(f"{sale.path}/tickets", bought | {"holds": [each["hold_id"] for each in held]})
    groups = sale.api.get(f"{sale.path}/seatmap")["plan"]["groups"]
    assert [(group["name"], group["sold_whole"]) for group in groups] == [("Table 1", True), ("Table 2", False)]


def test_a_party_of_four_gets_a_table_and_a_pair_does_not_break_one(app_server: AppServer) -> None:
    sale = a_seated_event(app_server, layout=with_tables())
    pair = ask(sale, sale.guest(), best=2)["holds"]
    assert {each["row"] for each in pair} == {"B"} and {each["category"] for each in pair} == {"standard"}
    tables = [{each["seat_name"] for each in ask(sale, sale.guest(), best=4)["holds"]} for _ in range(2)]
    assert {"A-1", "A-2", "A-3", "A-4"} in tables and {"A-5", "A-6", "A-7", "A-8"} in tables


def test_a_wished_price_category_is_the_only_one(app_server: AppServer) -> None:
    sale = a_seated_event(app_server, layout=with_tables())
    held = ask(sale, sale.guest(), best=2, price_category="Front")["holds"]
    assert {(each["price_category"], each["seat_name"] in {"A-5", "A-6", "A-7", "A-8"}) for each in held} == {
        ("Front", True)
    }
    assert ask(sale, sale.guest(), 409, best=6, price_category="Front")["error"]["code"] == "not_together"
    unknown = ask(sale, sale.guest(), 400, best=2, price_category="Gold")["error"]
    assert unknown["code"] == "unknown_price_category" and "“Front”, “Back”" in unknown["message"]
    assert ask(sale, sale.guest(), 400, count=2, price_category="Front")["error"]["code"] == "invalid_request"


def test_a_restricted_view_comes_last_and_is_said_in_the_answer(app_server: AppServer) -> None:
    sale = a_seated_event(app_server, layout=with_tables())
    sale.sell(*(f"A-{number}" for number in range(1, 9)))
    for _ in range(3):
        held = ask(sale, sale.guest(), best=2)["holds"]
        assert {each["category"] for each in held} == {"standard"}
    last = ask(sale, sale.guest(), best=2)["holds"]
    assert [(each["category"], "restricted" in each["message"]) for each in last] == [("restricted_view", True)] * 2
