"""Organisers block seats and release holds on the map, and open pages follow."""

from __future__ import annotations

from typing import Any

from tests.app_server import ApiClient, AppServer
from tests.contracts.seat_maps.mapped_event import CLOSED, FREE, HELD, TAKEN, MappedEvent, a_mapped_event
from tests.contracts.seating.stage import a_layout, floor, stalls


def block(mapped: MappedEvent, *seats: int, status: int = 200, api: ApiClient | None = None) -> Any:
    """Take seats off sale."""
    return (api or mapped.stage.api).post(f"{mapped.path}/blocked", {"block": seats}, status)


def test_blocking_and_opening_a_seat_changes_nothing_else(app_server: AppServer, api: ApiClient) -> None:
    mapped = a_mapped_event(app_server, api, a_layout(zones=[stalls(), floor()]))
    mapped.stage.choose(
        blocked_seat_ids=["B-8"],
        zone_overrides={mapped.stage.zone("Floor"): {"capacity": 40}},
        pricing_zones={mapped.stage.zone("Stalls"): {"ticket_types": [1]}},
    )
    before = api.get(mapped.stage.path)
    page = mapped.page()
    assert block(mapped, 2, 3) == {"blocked": 3, "changed": 2}
    app_server.run_worker()
    page.follow()
    assert [page.seat(seat) for seat in (1, 2, 3, 16)] == [FREE, CLOSED, CLOSED, CLOSED]
    blocked = api.get(mapped.stage.path)
    assert blocked["blocked_seat_ids"] == ["A-2", "A-3", "B-8"]
    response = api.post(f"{mapped.path}/blocked", {"open": [2, 3, 4]}, 200)
    assert response == {"blocked": 1, "changed": 2}
    after = api.get(mapped.stage.path)
    edited = {"revision": 0, "updated_at": "", "etag": ""}
    assert after | edited == before | edited
    assert set(mapped.page().seats[:8]) == {FREE}


def test_sold_and_held_seats_cannot_be_blocked(mapped: MappedEvent, app_server: AppServer, api: ApiClient) -> None:
    mapped.sell("A-3")
    mapped.hold(4)
    for seat in (3, 4):
        assert api.refused("POST", f"{mapped.path}/blocked", {"block": [1, seat]}) == (409, "seats_taken")
    assert api.refused("POST", f"{mapped.path}/blocked", {"block": [99]}) == (400, "unknown_seat")
    assert api.get(mapped.stage.path)["blocked_seat_ids"] == []


def test_releasing_a_hold_frees_its_seat(mapped: MappedEvent, app_server: AppServer, api: ApiClient) -> None:
    mapped.hold(4)
    app_server.run_worker()
    page, visitor = mapped.page(api), mapped.page()
    assert (page.seat(4), visitor.seat(4)) == (HELD, TAKEN)
    assert api.ask("DELETE", f"{mapped.path}/holds/4").status_code == 204
    app_server.run_worker()
    assert (page.follow(), visitor.follow()) == ([[4, FREE]], [[4, FREE]])
    assert api.refused("DELETE", f"{mapped.path}/holds/4") == (404, "hold_not_found")
    mapped.sell("A-4")
    assert api.refused("DELETE", f"{mapped.path}/holds/4") == (404, "hold_not_found")


def test_only_organisers_of_the_event_change_its_map(mapped: MappedEvent, app_server: AppServer) -> None:
    rival = app_server.api(app_server.organisation("rivals"))
    mapped.hold(4)
    for stranger, status in ((rival, 404), (mapped.visitor, 401)):
        assert stranger.refused("POST", f"{mapped.path}/blocked", {"block": [1]})[0] == status
        assert stranger.refused("DELETE", f"{mapped.path}/holds/4")[0] == status
    app_server.run_worker()
    assert mapped.page(mapped.stage.api).seat(4) == HELD
