"""A page draws a map from one response, and keeps it up to date with changes."""

from __future__ import annotations

import gzip
from typing import Any

import orjson
import zstandard

from sync_server.revisions import service as revisions
from sync_server.seat_maps import service
from tests.app_server import ApiClient, AppServer
from tests.builders import MINUTE
from tests.contracts.seat_maps.mapped_event import (
    CLOSED,
    FREE,
    HELD,
    TAKEN,
    MappedEvent,
    a_mapped_event,
    clear_map_cache,
)
from tests.contracts.seating.stage import with_wheelchairs


def test_one_response_is_enough_to_draw_the_map(mapped: MappedEvent) -> None:
    page = mapped.page()
    seats = page.plan["seats"]
    assert (seats["first"], seats["count"]) == (1, 16)
    assert seats["rows"] == [["A", 8], ["B", 8]]
    assert seats["labels"] == [[1, 1], [1, 1]]
    assert seats["seat_ids"] == ["A-", "B-"]
    assert [(zone["name"], zone["numbered"]) for zone in page.plan["zones"]] == [("Stalls", True), ("Floor", False)]
    assert page.state["plan"] == page.plan["id"]
    assert set(page.seats) == {FREE}
    assert page.state["zones"] == [
        {"zone": 1, "total": 16, "available": 16, "taken": 0},
        {"zone": 2, "total": 300, "available": 300, "taken": 0},
    ]


def test_seat_positions_can_be_decoded(mapped: MappedEvent) -> None:
    seats = mapped.page().plan["seats"]
    xs, at, step = [], 0, 0
    for index, delta in enumerate(seats["x"][:8]):
        step = delta if index < 1 else step + delta
        at = delta if index < 1 else at + step
        if index < 1:
            step = 0
        xs.append(round(seats["origin"][0] + at * seats["scale"], 2))
    assert xs == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]


def test_held_seat_shows_as_taken_once_the_fact_is_delivered(
    mapped: MappedEvent, api: ApiClient, app_server: AppServer
) -> None:
    visitor, organiser = mapped.page(), mapped.page(api)
    assert (visitor.follow(), organiser.follow()) == ([], [])
    mapped.hold(3)
    app_server.run_worker()
    assert mapped.page().seat(3) == TAKEN
    assert visitor.follow() == [[3, TAKEN]]
    assert organiser.follow() == [[3, HELD]]
    assert visitor.follow() == []
    assert mapped.page().seat(3) == TAKEN


def test_sold_seat_is_taken_and_stays_so(mapped: MappedEvent, app_server: AppServer) -> None:
    page = mapped.page()
    mapped.sell("A-4", "B-1")
    app_server.run_worker()
    assert page.follow() == [[4, TAKEN], [9, TAKEN]]
    app_server.advance(60 * MINUTE)
    assert page.follow() == []
    assert mapped.page().seat(4) == TAKEN


def test_seat_of_a_cancelled_ticket_is_free_again(mapped: MappedEvent, api: ApiClient, app_server: AppServer) -> None:
    page = mapped.page()
    (ticket,) = mapped.sell("A-4")
    app_server.run_worker()
    page.follow()
    api.post(f"/api/tickets/{ticket['id']}/cancel", {"reason": "ill"}, status=200)
    app_server.run_worker()
    assert page.follow() == [[4, FREE]]


def test_expired_hold_frees_its_seat_before_the_sweeper_runs(mapped: MappedEvent, app_server: AppServer) -> None:
    page = mapped.page()
    mapped.hold(5, minutes=5)
    app_server.run_worker()
    page.follow()
    app_server.advance(5 * MINUTE - 1)
    assert page.follow() == []
    app_server.advance(1)
    assert page.follow() == [[5, FREE]]
    assert mapped.page().seat(5) == FREE


def test_another_process_reports_holds_that_expired_meanwhile(mapped: MappedEvent, app_server: AppServer) -> None:
    page = mapped.page()
    mapped.hold(5, minutes=5)
    app_server.run_worker()
    page.follow()
    app_server.advance(6 * MINUTE)
    clear_map_cache(app_server)
    assert [5, FREE] in page.follow()


def test_changes_give_the_present_state_of_a_seat(mapped: MappedEvent, app_server: AppServer) -> None:
    page = mapped.page()
    mapped.hold(6, minutes=1)
    app_server.run_worker()
    app_server.advance(2 * MINUTE)
    mapped.hold(6, minutes=1)
    app_server.run_worker()
    assert page.follow() == [[6, TAKEN]]


def test_old_version_is_reset(mapped: MappedEvent, app_server: AppServer) -> None:
    page = mapped.page()
    mapped.hold(1, minutes=60)
    app_server.run_worker()
    app_server.advance(31 * MINUTE)
    with app_server.database.writing() as session:
        assert service.delete_old_changes(session, app_server.context()) == 1
    assert page.changes()["reset"] == "too_old"
    page.follow()
    assert page.seat(1) == TAKEN
    assert page.follow() == []


def test_unknown_version_is_reset(mapped: MappedEvent) -> None:
    page = mapped.page()
    for strange in ("x", "1.2", "....", page.version.replace(".", ".9", 1), "0.1.2.3"):
        page.version = strange
        assert page.changes()["reset"] in {"unknown_version", "house_changed"}, strange


def test_version_from_before_a_restore_is_reset(mapped: MappedEvent, app_server: AppServer) -> None:
    page = mapped.page()
    with app_server.database.writing() as session:
        revisions.renew_lineage(session, app_server.entropy, app_server.now)
    assert page.changes()["reset"] == "house_changed"
    page.follow()
    assert page.follow() == []


def test_blocked_seats_are_closed_and_open_pages_are_reset(mapped: MappedEvent, app_server: AppServer) -> None:
    page = mapped.page()
    drawn = page.plan["id"]
    mapped.stage.choose(blocked_seat_ids=["A-2"])
    app_server.run_worker()
    assert page.changes()["reset"] == "house_changed"
    page.follow()
    assert page.seat(2) == CLOSED
    assert mapped.page().plan["id"] == drawn  # the plan is the same


def test_overridden_zone_changes_the_plan(mapped: MappedEvent) -> None:
    before = mapped.page().plan["id"]
    mapped.stage.choose(zone_overrides={mapped.stage.zone("Stalls"): {"zone_type": "ga_standing", "capacity": 40}})
    page = mapped.page()
    assert page.plan["id"] != before
    assert set(page.seats) == {CLOSED}


def test_companion_seat_is_closed_until_its_zone_is_nearly_full(app_server: AppServer, api: ApiClient) -> None:
    mapped = a_mapped_event(app_server, api, with_wheelchairs())
    page = mapped.page()
    assert page.plan["companions"] == [[1, 2]]
    assert (page.seat(1), page.seat(2)) == (FREE, CLOSED)
    for seat in range(3, 17):
        mapped.hold(seat, minutes=5)
    app_server.run_worker()
    assert [2, FREE] in page.follow()
    app_server.advance(5 * MINUTE)
    assert [2, CLOSED] in page.follow()


def test_draft_is_visible_to_its_organisers_only(app_server: AppServer, api: ApiClient) -> None:
    mapped = a_mapped_event(app_server, api, published=False)
    rival = app_server.api(app_server.organisation("rivals"))
    for address in ("", "/plan", "/state", "/bits", "/changes?since=1.1.1.1"):
        for stranger in (mapped.visitor, rival):
            assert stranger.refused("GET", mapped.path + address) == (404, "event_not_found")
        assert api.ask("GET", mapped.path + address).status_code == 200
    assert rival.refused("GET", f"/api/events/{mapped.id}/occupancy") == (404, "event_not_found")
    missing = mapped.visitor.refused("GET", "/api/events/nowhere/seatmap")
    assert missing == (404, "event_not_found")


def test_other_organisers_see_what_visitors_see(mapped: MappedEvent, app_server: AppServer) -> None:
    rival = app_server.api(app_server.organisation("rivals"))
    mapped.hold(3)
    app_server.run_worker()
    page = mapped.page(rival)
    assert page.seat(3) == TAKEN
    assert "held" not in page.state["zones"][0]


def test_event_without_a_layout_has_no_map(app_server: AppServer, api: ApiClient, mapped: MappedEvent) -> None:
    mapped.stage.api.ask("DELETE", mapped.stage.path)
    assert mapped.visitor.refused("GET", mapped.path) == (404, "event_layout_not_found")


def test_nobody_learns_who_holds_a_seat(mapped: MappedEvent, app_server: AppServer, api: ApiClient) -> None:
    hold = mapped.hold(3)
    app_server.run_worker()
    for client in (api, mapped.visitor):
        for address in ("", "/state", "/changes?since=a.0.0.0"):
            text = client.ask("GET", mapped.path + address).get_data(as_text=True)
            assert hold not in text and "guest" not in text


def _decoded(response: Any) -> Any:
    packed = response.get_data()
    if response.headers["Content-Encoding"] == "zstd":
        return orjson.loads(zstandard.ZstdDecompressor().decompress(packed))
    return orjson.loads(gzip.decompress(packed))


def test_responses_are_compressed_and_cached_as_browsers_ask(mapped: MappedEvent) -> None:
    plain = mapped.visitor.get(mapped.path)
    for accepted, encoding in (("gzip, deflate, br", "gzip"), ("gzip, br, zstd", "zstd")):
        response = mapped.visitor.ask("GET", mapped.path, **{"Accept-Encoding": accepted})
        assert response.headers["Content-Encoding"] == encoding
        assert _decoded(response) == plain
        again = mapped.visitor.ask(
            "GET", mapped.path, **{"Accept-Encoding": accepted, "If-None-Match": response.headers["ETag"]}
        )
        assert again.status_code == 304 and not again.get_data()
    named = mapped.visitor.ask("GET", f"{mapped.path}/plan?v={plain['plan']['id']}")
    assert named.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    assert mapped.visitor.ask("GET", f"{mapped.path}/plan?v=old").headers["Cache-Control"] == "private, no-cache"
    assert mapped.stage.api.ask("GET", mapped.path).headers["Cache-Control"] == "private, no-cache"


def test_gzip_continued_from_the_plan_is_valid(mapped: MappedEvent, app_server: AppServer) -> None:
    """The plan is compressed once, and each state continues its stream."""
    for seat in (1, 2, 3):
        mapped.hold(seat)
        app_server.run_worker()
        response = mapped.visitor.ask("GET", mapped.path, **{"Accept-Encoding": "gzip"})
        assert _decoded(response) == mapped.visitor.get(mapped.path)
        assert _decoded(response)["state"]["zones"][0]["available"] == 16 - seat


def test_etag_of_one_process_is_valid_in_another(mapped: MappedEvent, app_server: AppServer) -> None:
    etag = mapped.visitor.ask("GET", mapped.path).headers["ETag"]
    app_server.advance(1_000)
    clear_map_cache(app_server)
    again = mapped.visitor.ask("GET", mapped.path, **{"If-None-Match": etag})
    assert (again.status_code, again.headers["ETag"]) == (304, etag)
    mapped.hold(3)
    app_server.run_worker()
    assert mapped.visitor.ask("GET", mapped.path, **{"If-None-Match": etag}).status_code == 200


def test_raw_bits(mapped: MappedEvent, app_server: AppServer) -> None:
    mapped.hold(2)
    app_server.run_worker()
    response = mapped.visitor.ask("GET", f"{mapped.path}/bits")
    assert response.get_data() == bytes([0b00001000, 0, 0, 0])
    assert (response.headers["X-Seatmap-First"], response.headers["X-Seatmap-Count"]) == ("1", "16")
