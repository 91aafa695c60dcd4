"""A request sent twice with one Idempotency-Key holds once, and gets the same response both times."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from werkzeug.test import TestResponse

from sync_server.holds.attempts.runtime import hold_runtime
from tests.app_server import ApiClient, AppServer
from tests.builders import MINUTE
from tests.contracts.holds.at_once import guest_again
from tests.contracts.holds.seated_event import SeatedEvent

KEY = {"Idempotency-Key": "tonight"}


def send(sale: SeatedEvent, who: ApiClient, body: Any, path: str = "") -> TestResponse:
    return who.ask("POST", path or f"{sale.path}/holds", body, **KEY)


@pytest.mark.parametrize("body", [{"best": 4}, {"count": 3}])
def test_a_group_is_held_once(sale: SeatedEvent, body: dict[str, Any]) -> None:
    if "count" in body:
        body = body | {"zone_id": sale.zones["Floor"]}
    guest = sale.guest()
    first, again = send(sale, guest, body), send(sale, guest, body)
    assert (first.status_code, again.status_code) == (201, 201) and first.json == again.json
    assert again.headers["Idempotent-Replay"] == "true"
    other = send(sale, guest, body | {"source": "scanner"})
    assert (other.status_code, other.json["error"]["code"]) == (409, "idempotency_key_reused")  # type: ignore[index]
    assert sale.rows("SELECT SUM(quantity) FROM holds") == [(4 if "best" in body else 3,)]
    other_guest = send(sale, sale.guest(), body)
    assert other_guest.status_code == 201 and other_guest.json != first.json


def test_six_simultaneous_clicks_hold_once(sale: SeatedEvent) -> None:
    guest = sale.guest()
    tabs = [guest_again(guest) for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda tab: send(sale, tab, {"best": 2}), tabs))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.get_data() for answer in answers}) == 1
    assert sale.rows("SELECT COUNT(*) FROM holds") == [(2,)]


def test_the_first_response_stands_when_the_event_has_changed_since(app_server: AppServer, sale: SeatedEvent) -> None:
    """Neighbours are sold, the hold runs out, the event is cancelled: the response stays the same."""
    guest = sale.guest()
    path = sale.reserve_path("A-1")
    first = send(sale, guest, {}, path)
    assert first.status_code == 201
    other_key = guest.ask("POST", path, {}, **{"Idempotency-Key": "another"})
    assert (other_key.status_code, other_key.json) == (200, first.json)
    sale.sell("A-2", "A-3")
    assert send(sale, guest, {}, path).json == first.json
    app_server.advance(20 * MINUTE)
    app_server.run_worker()
    assert send(sale, guest, {}, path).json == first.json
    sale.api.post(f"{sale.path}/cancel", {"reason": "storm"}, 200)
    assert send(sale, guest, {}, path).json == first.json


def test_a_url_that_cannot_be_stored_does_not_lose_other_audit_lines(sale: SeatedEvent) -> None:
    sale.reserve(sale.guest(), "A-1")
    stranger = sale.guest()
    assert sale.refused(stranger, "A-1")[0] == 409
    assert stranger.refused("POST", f"{sale.path}/seats/%00/reserve", {})[0] == 400
    assert stranger.refused("POST", "/api/events/a%00b/holds", {"best": 1})[0] == 400
    hold_runtime(sale.app_server.parts).failures.flush()
    lines = sale.rows("SELECT subject_id FROM audit_lines WHERE action = 'seat_reserve_failed' ORDER BY subject_id")
    assert lines == [("",), ("",), (sale.seats["A-1"][0],)]
