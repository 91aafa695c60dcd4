"""What is sent twice with one Idempotency-Key is held once, and answered the same both times."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from werkzeug.test import TestResponse

from sync_server.holds.box_office import box_office
from tests.builders import MINUTE
from tests.contracts.holds.house import House
from tests.contracts.holds.test_at_once import guest_again
from tests.office import Desk, Office

KEY = {"Idempotency-Key": "tonight"}


def send(house: House, who: Desk, body: Any, path: str = "") -> TestResponse:
    return who.ask("POST", path or f"{house.path}/holds", body, **KEY)


@pytest.mark.parametrize("party", [{"best": 4}, {"count": 3}])
def test_a_party_is_held_once(house: House, party: dict[str, Any]) -> None:
    if "count" in party:
        party = party | {"zone_id": house.zones["Floor"]}
    guest = house.guest()
    first, again = send(house, guest, party), send(house, guest, party)
    assert (first.status_code, again.status_code) == (201, 201) and first.json == again.json
    assert again.headers["Idempotent-Replay"] == "true"
    other = send(house, guest, party | {"source": "scanner"})
    assert (other.status_code, other.json["error"]["code"]) == (409, "idempotency_key_reused")  # type: ignore[index]
    assert house.rows("SELECT SUM(quantity) FROM holds") == [(4 if "best" in party else 3,)]
    somebody_else = send(house, house.guest(), party)
    assert somebody_else.status_code == 201 and somebody_else.json != first.json


def test_six_clicks_at_once_hold_one_party(house: House) -> None:
    guest = house.guest()
    tabs = [guest_again(guest) for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda tab: send(house, tab, {"best": 2}), tabs))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.get_data() for answer in answers}) == 1
    assert house.rows("SELECT COUNT(*) FROM holds") == [(2,)]


def test_the_first_answer_stands_when_the_house_has_changed_since(office: Office, house: House) -> None:
    """The seat next to it went, the time ran out, the event was called off: what was answered stays answered."""
    guest = house.guest()
    path = house.reserve_path("A-1")
    first = send(house, guest, {}, path)
    assert first.status_code == 201
    other_key = guest.ask("POST", path, {}, **{"Idempotency-Key": "another"})
    assert (other_key.status_code, other_key.json) == (200, first.json)
    house.sell("A-2", "A-3")
    assert send(house, guest, {}, path).json == first.json
    office.advance(20 * MINUTE)
    office.work()
    assert send(house, guest, {}, path).json == first.json
    house.desk.post(f"{house.path}/cancel", {"reason": "storm"}, 200)
    assert send(house, guest, {}, path).json == first.json


def test_an_address_that_no_database_keeps_does_not_wipe_out_what_else_went_wrong(house: House) -> None:
    house.reserve(house.guest(), "A-1")
    stranger = house.guest()
    assert house.refused(stranger, "A-1")[0] == 409
    assert stranger.refused("POST", f"{house.path}/seats/%00/reserve", {})[0] == 400
    assert stranger.refused("POST", "/api/events/a%00b/holds", {"best": 1})[0] == 400
    box_office(house.office.parts).failures.flush()
    told = house.rows("SELECT subject_id FROM audit_lines WHERE action = 'seat_reserve_failed' ORDER BY subject_id")
    assert told == [("",), ("",), (house.seats["A-1"][0],)]
