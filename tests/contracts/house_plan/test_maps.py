"""A page draws a house from one answer, and keeps it up to date by what changed."""

from __future__ import annotations

import gzip
from typing import Any

import orjson
import zstandard

from sync_server.house_plan import service
from sync_server.revisions import service as revisions
from tests.builders import MINUTE
from tests.contracts.house_plan.house import CLOSED, FREE, HELD, TAKEN, House, a_house, forget_pictures
from tests.contracts.seating.stage import with_wheelchairs
from tests.office import Desk, Office


def test_one_answer_draws_the_house(house: House) -> None:
    page = house.page()
    seats = page.plan["seats"]
    assert (seats["first"], seats["count"]) == (1, 16)
    assert seats["rows"] == [["A", 8], ["B", 8]]
    assert seats["labels"] == [[1, 1], [1, 1]]
    assert seats["seat_ids"] == ["A-", "B-"]
    assert [(zone["name"], zone["numbered"]) for zone in page.plan["zones"]] == [("Stalls", True), ("Floor", False)]
    assert page.state["plan"] == page.plan["id"]
    assert set(page.seats) == {FREE}
    assert page.state["zones"] == [
        {"number": 1, "capacity": 16, "available": 16},
        {"number": 2, "capacity": 300, "available": 300},
    ]


def test_places_of_seats_can_be_read_back_from_their_bends(house: House) -> None:
    seats = house.page().plan["seats"]
    xs, at, step = [], 0, 0
    for place, bend in enumerate(seats["x"][:8]):
        step = bend if place < 1 else step + bend
        at = bend if place < 1 else at + step
        if place < 1:
            step = 0
        xs.append(round(seats["origin"][0] + at * seats["scale"], 2))
    assert xs == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]


def test_held_seat_shows_as_taken_once_the_relay_has_told(house: House, desk: Desk, office: Office) -> None:
    visitor, organiser = house.page(), house.page(desk)
    assert (visitor.follow(), organiser.follow()) == ([], [])
    house.hold(3)
    office.work()
    assert house.page().seat(3) == TAKEN
    assert visitor.follow() == [[3, TAKEN]]
    assert organiser.follow() == [[3, HELD]]
    assert visitor.follow() == []
    assert house.page().seat(3) == TAKEN


def test_sold_seat_is_taken_and_stays_so(house: House, office: Office) -> None:
    page = house.page()
    house.sell("A-4", "B-1")
    office.work()
    assert page.follow() == [[4, TAKEN], [9, TAKEN]]
    office.advance(60 * MINUTE)
    assert page.follow() == []
    assert house.page().seat(4) == TAKEN


def test_seat_of_a_cancelled_ticket_is_free_again(house: House, desk: Desk, office: Office) -> None:
    page = house.page()
    (ticket,) = house.sell("A-4")
    office.work()
    page.follow()
    desk.post(f"/api/tickets/{ticket['id']}/cancel", {"reason": "ill"}, status=200)
    office.work()
    assert page.follow() == [[4, FREE]]


def test_hold_over_frees_the_seat_without_anybody_sweeping(house: House, office: Office) -> None:
    page = house.page()
    house.hold(5, minutes=5)
    office.work()
    page.follow()
    office.advance(5 * MINUTE - 1)
    assert page.follow() == []
    office.advance(1)
    assert page.follow() == [[5, FREE]]
    assert house.page().seat(5) == FREE


def test_late_reader_of_another_process_hears_of_a_hold_that_ended(house: House, office: Office) -> None:
    page = house.page()
    house.hold(5, minutes=5)
    office.work()
    page.follow()
    office.advance(6 * MINUTE)
    forget_pictures(office)
    assert [5, FREE] in page.follow()


def test_seat_that_changes_hands_is_told_as_it_is_now(house: House, office: Office) -> None:
    page = house.page()
    house.hold(6, minutes=1)
    office.work()
    office.advance(2 * MINUTE)
    house.hold(6, minutes=1)
    office.work()
    assert page.follow() == [[6, TAKEN]]


def test_old_version_is_told_to_look_anew(house: House, office: Office) -> None:
    page = house.page()
    house.hold(1, minutes=60)
    office.work()
    office.advance(31 * MINUTE)
    with office.database.writing() as session:
        assert service.forget_old(session, office.deed()) == 1
    assert page.ask()["reset"] == "too_old"
    page.follow()
    assert page.seat(1) == TAKEN
    assert page.follow() == []


def test_version_that_was_never_given_out_is_told_to_look_anew(house: House) -> None:
    page = house.page()
    for strange in ("x", "1.2", "....", page.version.replace(".", ".9", 1), "0.1.2.3"):
        page.version = strange
        assert page.ask()["reset"] in {"unknown_version", "house_changed"}, strange


def test_version_of_before_a_restore_is_told_to_look_anew(house: House, office: Office) -> None:
    page = house.page()
    with office.database.writing() as session:
        revisions.renew_lineage(session, office.dice, office.now)
    assert page.ask()["reset"] == "house_changed"
    page.follow()
    assert page.follow() == []


def test_blocked_seats_are_closed_and_open_pages_look_anew(house: House, office: Office) -> None:
    page = house.page()
    drawn = page.plan["id"]
    house.stage.choose(blocked_seat_ids=["A-2"])
    office.work()
    assert page.ask()["reset"] == "house_changed"
    page.follow()
    assert page.seat(2) == CLOSED
    assert house.page().plan["id"] == drawn  # nothing need be drawn anew


def test_zone_used_otherwise_is_another_drawing(house: House) -> None:
    before = house.page().plan["id"]
    house.stage.choose(zone_overrides={house.stage.zone("Stalls"): {"zone_type": "ga_standing", "capacity": 40}})
    page = house.page()
    assert page.plan["id"] != before
    assert set(page.seats) == {CLOSED}


def test_companion_seat_is_closed_until_its_zone_is_nearly_full(office: Office, desk: Desk) -> None:
    house = a_house(office, desk, with_wheelchairs())
    page = house.page()
    assert page.plan["companions"] == [[1, 2]]
    assert (page.seat(1), page.seat(2)) == (FREE, CLOSED)
    for seat in range(3, 17):
        house.hold(seat, minutes=5)
    office.work()
    assert [2, FREE] in page.follow()
    office.advance(5 * MINUTE)
    assert [2, CLOSED] in page.follow()


def test_draft_is_for_its_organisers_only(office: Office, desk: Desk) -> None:
    house = a_house(office, desk, published=False)
    rival = office.desk(office.organisation("rivals"))
    for address in ("", "/plan", "/state", "/bits", "/changes?since=1.1.1.1"):
        for stranger in (house.visitor, rival):
            assert stranger.refused("GET", house.path + address) == (404, "event_not_found")
        assert desk.ask("GET", house.path + address).status_code == 200
    assert rival.refused("GET", f"/api/events/{house.id}/occupancy") == (404, "event_not_found")
    missing = house.visitor.refused("GET", "/api/events/nowhere/seatmap")
    assert missing == (404, "event_not_found")


def test_organisers_of_another_house_see_what_every_visitor_sees(house: House, office: Office) -> None:
    rival = office.desk(office.organisation("rivals"))
    house.hold(3)
    office.work()
    page = house.page(rival)
    assert page.seat(3) == TAKEN
    assert "held" not in page.state["zones"][0]


def test_event_without_a_layout_has_no_map(office: Office, desk: Desk, house: House) -> None:
    house.stage.desk.ask("DELETE", house.stage.path)
    assert house.visitor.refused("GET", house.path) == (404, "event_layout_not_found")


def test_who_holds_is_told_to_nobody(house: House, office: Office, desk: Desk) -> None:
    hold = house.hold(3)
    office.work()
    for asking in (desk, house.visitor):
        for address in ("", "/state", "/changes?since=a.0.0.0"):
            text = asking.ask("GET", house.path + address).get_data(as_text=True)
            assert hold not in text and "guest" not in text


def _decoded(answer: Any) -> Any:
    packed = answer.get_data()
    if answer.headers["Content-Encoding"] == "zstd":
        return orjson.loads(zstandard.ZstdDecompressor().decompress(packed))
    return orjson.loads(gzip.decompress(packed))


def test_answers_are_packed_as_browsers_take_them_and_kept_by_their_names(house: House) -> None:
    plain = house.visitor.get(house.path)
    for takes, packed in (("gzip, deflate, br", "gzip"), ("gzip, br, zstd", "zstd")):
        answer = house.visitor.ask("GET", house.path, **{"Accept-Encoding": takes})
        assert answer.headers["Content-Encoding"] == packed
        assert _decoded(answer) == plain
        again = house.visitor.ask(
            "GET", house.path, **{"Accept-Encoding": takes, "If-None-Match": answer.headers["ETag"]}
        )
        assert again.status_code == 304 and not again.get_data()
    named = house.visitor.ask("GET", f"{house.path}/plan?v={plain['plan']['id']}")
    assert named.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert house.visitor.ask("GET", f"{house.path}/plan?v=old").headers["Cache-Control"] == "public, no-cache"
    assert house.stage.desk.ask("GET", house.path).headers["Cache-Control"] == "private, no-cache"


def test_map_packed_from_behind_the_plan_on_is_whole(house: House, office: Office) -> None:
    """What nine browsers of ten ask for: the plan is packed once, each state goes on from there."""
    for seat in (1, 2, 3):
        house.hold(seat)
        office.work()
        answer = house.visitor.ask("GET", house.path, **{"Accept-Encoding": "gzip"})
        assert _decoded(answer) == house.visitor.get(house.path)
        assert _decoded(answer)["state"]["zones"][0]["available"] == 16 - seat


def test_what_one_process_has_sent_is_not_sent_again_by_another(house: House, office: Office) -> None:
    known = house.visitor.ask("GET", house.path).headers["ETag"]
    office.advance(1_000)
    forget_pictures(office)
    again = house.visitor.ask("GET", house.path, **{"If-None-Match": known})
    assert (again.status_code, again.headers["ETag"]) == (304, known)
    house.hold(3)
    office.work()
    assert house.visitor.ask("GET", house.path, **{"If-None-Match": known}).status_code == 200


def test_machines_read_bare_bits(house: House, office: Office) -> None:
    house.hold(2)
    office.work()
    answer = house.visitor.ask("GET", f"{house.path}/bits")
    assert answer.get_data() == bytes([0b00001000, 0, 0, 0])
    assert (answer.headers["X-Seatmap-First"], answer.headers["X-Seatmap-Count"]) == ("1", "16")
