"""An event moves to another version of its layout: first a report, then what it says, all of it or nothing."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from shared.reasons import Reason
from shared.snapshot import RowKind
from shared.tickets import ReadTicket, TicketFlags, read
from sync_server.holds import seats as held_seats
from sync_server.reseating import pieces, queries, service
from sync_server.reseating.schemas import MoveGuests
from tests.builders import a_ticket_type
from tests.contracts.seating.stage import Stage, a_layout, a_seat, a_stage, at_the_gate, floor, stalls
from tests.contracts.seating.test_tickets_on_seats import an_evening_on, on, organisation_of
from tests.office import Desk, Evening, Office


@pytest.fixture
def evening(stage: Stage) -> Evening:
    """An event on a layout of two rows of eight and a floor."""
    stage.choose()
    return an_evening_on(stage)


def next_version(stage: Stage, *zones: dict[str, Any]) -> str:
    """The next version of the layout, ready to be used; its id."""
    layouts = f"{stage.layouts}/{stage.layout['id']}/versions"
    made = stage.desk.post(layouts, a_layout(zones=list(zones)))
    stage.desk.post(f"{stage.layouts}/{made['id']}/activate", status=200)
    return str(made["id"])


def without(*gone: str, rows: str = "AB") -> dict[str, Any]:
    """The stalls, after some seats were taken out."""
    zone = stalls(rows=rows)
    zone["seats"] = [seat for seat in zone["seats"] if seat["seat_id"] not in gone]
    return zone


def planned(stage: Stage, layout_id: str, status: int = 201, **words: Any) -> Any:
    return stage.desk.post(f"{stage.path}/migrate", {"layout_id": layout_id} | words, status)


def rows(office: Office, evening: Evening) -> dict[str, Any]:
    """What gates hold of each ticket, by its number."""
    return {row.number: row for row in office.held_of(evening.number, RowKind.TICKET)}


def seats_taken(office: Office) -> dict[int, int]:
    with office.database.reading() as session:
        found = session.execute(text("SELECT seat, ticket_id FROM event_seats WHERE state = 2"))
        return {row.seat: row.ticket_id for row in found}


def test_guests_move_as_the_report_said_and_only_who_moved_has_a_new_code(
    stage: Stage, evening: Evening, office: Office
) -> None:
    stays, moves = evening.issue(**on("A-2"))["items"] + evening.issue(**on("B-1"))["items"]
    codes = {ticket["id"]: evening.code(ticket) for ticket in (stays, moves)}
    layout = next_version(stage, without("A-1", "B-1"), floor())
    report = planned(stage, layout)
    assert report["counts"] == {
        "seated": 2,
        "stay": 1,
        "move": 1,
        "unplaced": 0,
        "new_codes": 1,
        "other_price_category": 0,
        "holds": 0,
    }
    assert [(each["ticket"], each["from_seat"], each["to_seat"]) for each in report["moves"]] == [
        (moves["id"], "B-1", "B-2")
    ]
    assert stage.desk.get(stage.path)["layout_id"] != layout, "a report changes nothing"
    done = planned(stage, layout, fingerprint=report["fingerprint"], reason="a pillar came down")
    assert (done["id"], done["state"]) == (report["id"], "done")
    assert stage.desk.get(stage.path)["layout_id"] == layout
    assert evening.code(stays) == codes[stays["id"]]
    found = read(evening.code(moves), office.ring(evening.number))
    assert isinstance(found, ReadTicket) and (found.ticket.issue, found.ticket.seat) == (2, 8)
    held = rows(office, evening)
    assert (held[stays["number"]].issue, held[stays["number"]].seat_number) == (1, "2")
    moved = held[moves["number"]]
    assert (moved.issue, moved.seat_row, moved.seat_number, moved.seat) == (2, "B", "2", 8)
    assert sorted(seats_taken(office)) == [1, 8], "A-2 is the first seat of the new version"
    office.held(evening.number)  # the digest of what gates hold is right


def test_old_code_is_replaced_at_the_gate_and_the_new_one_admits(
    stage: Stage, evening: Evening, office: Office
) -> None:
    ticket = evening.issue(**on("B-1"))["items"][0]
    for step in ("publish", "go-live"):
        stage.desk.post(f"{evening.path}/{step}", {}, 200)
    old = evening.code(ticket)
    layout = next_version(stage, without("B-1"), floor())
    planned(stage, layout, fingerprint=planned(stage, layout)["fingerprint"])
    assert at_the_gate(office, evening, ticket, old) is Reason.TICKET_REPLACED
    assert at_the_gate(office, evening, ticket, evening.code(ticket)) is Reason.ADMITTED


def test_whatever_happens_after_the_report_makes_it_worthless(stage: Stage, evening: Evening) -> None:
    evening.issue(**on("A-1"))
    layout = next_version(stage, without("A-1"), floor())
    mark = planned(stage, layout)["fingerprint"]
    evening.issue(**on("B-5"))
    answer = stage.desk.ask("POST", f"{stage.path}/migrate", {"layout_id": layout, "fingerprint": mark})
    assert (answer.status_code, answer.json["error"]["code"] if answer.json else "") == (409, "report_outdated")
    mark = planned(stage, layout)["fingerprint"]
    other = {"layout_id": layout, "fingerprint": mark, "overrides": {"blocked_seat_ids": ["B-8"]}}
    assert stage.desk.refused("POST", f"{stage.path}/migrate", other) == (409, "report_outdated")
    planned(stage, layout, fingerprint=mark)
    again = {"layout_id": layout, "fingerprint": mark}
    assert stage.desk.refused("POST", f"{stage.path}/migrate", again) == (409, "already_carried_out")
    unknown = {"layout_id": layout, "fingerprint": "0" * 64}
    assert stage.desk.refused("POST", f"{stage.path}/migrate", unknown) == (409, "report_outdated")


def test_nobody_is_left_without_a_seat(stage: Stage, evening: Evening, office: Office) -> None:
    made = evening.issue(**on(*(f"A-{n}" for n in range(1, 9))))["items"]
    layout = next_version(stage, without(*(f"A-{n}" for n in range(1, 9)), "B-1"), floor())
    report = planned(stage, layout)
    assert report["counts"]["unplaced"] == 1
    assert report["unplaced"][0]["reason"] == "no_seat_of_this_price_category"
    words = {"layout_id": layout, "fingerprint": report["fingerprint"]}
    before = seats_taken(office)
    assert stage.desk.refused("POST", f"{stage.path}/migrate", words) == (409, "guests_without_seats")
    assert seats_taken(office) == before
    lost = report["unplaced"][0]["ticket"]
    stage.desk.post(f"/api/tickets/{lost}/cancel", {"reason": "no seat"}, 200)
    planned(stage, layout, fingerprint=planned(stage, layout)["fingerprint"])
    assert len(seats_taken(office)) == len(made) - 1


def test_guests_change_seats_with_one_another_where_numbers_are_swapped(
    stage: Stage, evening: Evening, office: Office
) -> None:
    """Every seat's number changes hands: no unique index may trip over what is half done."""
    made = evening.issue(**on(*(f"{row}-{n}" for row in "AB" for n in range(1, 9))))["items"]
    layout = next_version(stage, stalls(rows="BA"), floor())
    planned(stage, layout, fingerprint=planned(stage, layout)["fingerprint"])
    held = rows(office, evening)
    assert all(held[ticket["number"]].issue == 1 for ticket in made)
    assert seats_taken(office) == {row.seat: _signed(row.ticket_id) for row in held.values()}
    assert held[made[0]["number"]].seat == 9 and held[made[8]["number"]].seat == 1


def _signed(ticket_id: int) -> int:
    return ticket_id - (1 << 64) if ticket_id >> 63 else ticket_id


def test_holds_are_refused_or_released_as_the_organiser_says(stage: Stage, evening: Evening, office: Office) -> None:
    evening.issue(**on("A-1"))
    layout = next_version(stage, without("A-1"), floor())
    hold(office, evening, 5)
    report = planned(stage, layout)
    assert report["counts"]["holds"] == 1
    words = {"layout_id": layout, "fingerprint": report["fingerprint"]}
    assert stage.desk.refused("POST", f"{stage.path}/migrate", words) == (409, "holds_active")
    assert stage.desk.get(f"{stage.path}/migrations/{report['id']}")["state"] == "planned", "and the house is open"
    planned(stage, layout, fingerprint=report["fingerprint"], holds="release")
    with office.database.reading() as session:
        assert session.execute(text("SELECT status FROM holds")).scalars().all() == ["cancelled"]
        assert session.execute(text("SELECT count(*) FROM event_seats WHERE state = 1")).scalar_one() == 0


def hold(office: Office, evening: Evening, seat: int) -> None:
    """Somebody holds a seat, as the table has it."""
    organisation, until = organisation_of(office), office.now + 300_000
    row = {"id": "a hold", "o": organisation, "e": evening.event["id"], "seat": seat, "until": until, "now": office.now}
    with office.database.writing() as session:
        held_seats.hold(session, organisation, evening.event["id"], {seat: "a hold"}, until=until, now=office.now)
        session.execute(
            text(
                "INSERT INTO holds (id, organisation_id, event_id, kind, seat, zone, quantity, bearer_kind, bearer_id,"
                " status, held_until, extended, source, created_at, updated_at) VALUES (:id, :o, :e, 'seat', :seat, 1,"
                " 1, 'guest', 'g', 'active', :until, 0, 'web', :now, :now)"
            ),
            row,
        )


def test_those_who_stand_stay_in_their_zone_where_there_is_room(stage: Stage, office: Office) -> None:
    number = next(zone["event_zone"] for zone in stage.choose()["zones"] if zone["name"] == "Floor")
    evening = an_evening_on(stage, zone=number)
    evening.issue(count=40)
    small = next_version(stage, floor(capacity=30), stalls())
    report = planned(stage, small)
    assert report["zones"] == [{"zone": "Floor", "sold": 40, "capacity": 30, "fits": False}]
    words = {"layout_id": small, "fingerprint": report["fingerprint"]}
    assert stage.desk.refused("POST", f"{stage.path}/migrate", words) == (409, "guests_without_seats")
    roomy = next_version(stage, floor(capacity=45), stalls())
    planned(stage, roomy, fingerprint=planned(stage, roomy)["fingerprint"])
    body = {"ticket_type": 1, "count": 6}
    assert stage.desk.refused("POST", f"{evening.path}/tickets", body) == (409, "zone_full")
    evening.issue(count=5)
    with office.database.reading() as session:
        sold = session.execute(text("SELECT zone, sold FROM event_places WHERE sold > 0")).all()
    assert [tuple(row) for row in sold] == [(1, 45)], "the floor is the first zone now"


def test_reports_are_kept_and_read_page_by_page_by_their_own_organisation(
    stage: Stage, evening: Evening, office: Office
) -> None:
    evening.issue(**on(*(f"A-{n}" for n in range(1, 6))))
    layout = next_version(stage, without(*(f"A-{n}" for n in range(1, 6))), floor())
    report = planned(stage, layout)
    path = f"{stage.path}/migrations/{report['id']}"
    first = stage.desk.get(f"{path}?limit=3")
    rest = stage.desk.get(f"{path}?limit=3&after={first['next']}")
    assert first["moves"] + rest["moves"] == report["moves"] and rest["next"] is None
    assert [each["id"] for each in stage.desk.get(f"{stage.path}/migrations")["items"]] == [report["id"]]
    stranger = office.desk(office.organisation("rival"))
    assert stranger.refused("GET", path) == (404, "migration_not_found")
    assert stranger.refused("POST", f"{stage.path}/migrate", {"layout_id": layout})[0] == 404
    editor = office.desk(organisation_of(office), ["read", "edit_events"])
    words = {"layout_id": layout, "fingerprint": report["fingerprint"]}
    assert editor.refused("POST", f"{stage.path}/migrate", words)[0] == 403


def test_move_is_in_the_audit_log_and_told(stage: Stage, evening: Evening, office: Office) -> None:
    evening.issue(**on("A-1"))
    layout = next_version(stage, without("A-1"), floor())
    planned(stage, layout, fingerprint=planned(stage, layout)["fingerprint"], reason="a pillar")
    with office.database.reading() as session:
        said = session.execute(text("SELECT action FROM audit_lines ORDER BY id")).scalars().all()
        told = session.execute(text("SELECT name FROM outbox ORDER BY id")).scalars().all()
    assert "reseating_planned" in said and "event_reseated" in said
    assert told.count("event_reseated") == 1


def chairs(places: dict[str, str | None], **changed: Any) -> dict[str, Any]:
    """The stalls with wheelchair places, each with its companion seat or without one."""
    zone = stalls(**changed)
    for seat in zone["seats"]:
        if seat["seat_id"] in places:
            seat |= {"category": "wheelchair", "companion_seat_id": places[seat["seat_id"]]}
        elif seat["seat_id"] in places.values():
            seat["category"] = "companion"
    return zone


def test_gates_are_told_anew_who_comes_along_where_a_seat_is_another(office: Office, desk: Desk) -> None:
    """The place in row A loses its companion seat, the guest of A-8 gets one, and nothing changes for B-1 and B-2."""
    stage = a_stage(office, desk, a_layout(zones=[chairs({"A-1": "A-2", "A-8": None, "B-1": "B-2"})]))
    stage.choose()
    evening = an_evening_on(stage)
    made = [evening.issue(**on(seat))["items"][0] for seat in ("A-1", "A-8", "B-1")]
    made += evening.issue(joins=made[2]["id"], **on("B-2"))["items"]
    assert [set(each["flags"]) for each in made] == [
        {"wheelchair", "companion_reserved"},
        {"wheelchair"},
        {"wheelchair", "companion_reserved"},
        {"companion"},
    ]
    layout = next_version(stage, chairs({"A-1": None, "A-6": "A-7", "B-1": "B-2"}))
    report = planned(stage, layout)
    assert [(each["from_seat"], each["to_seat"]) for each in report["moves"]] == [("A-8", "A-6")]
    assert report["counts"]["new_codes"] == 2, "A-1 is the same chair, and says otherwise"
    planned(stage, layout, fingerprint=report["fingerprint"])
    now = [desk.get(f"/api/tickets/{each['id']}") for each in made]
    assert [set(each["flags"]) for each in now] == [
        {"wheelchair"},
        {"wheelchair", "companion_reserved"},
        {"wheelchair", "companion_reserved"},
        {"companion"},
    ]
    assert [each["issue"] for each in now] == [2, 2, 1, 1]
    with office.database.reading() as session:
        found = session.execute(text("SELECT seat, seat_key FROM tickets")).all()
    assert all(row.seat_key == f"#{row.seat}" for row in found), "the last guard is in its place again, for all"
    assert [rows(office, evening)[each["number"]].flags for each in made] == [
        TicketFlags.WHEELCHAIR,
        TicketFlags.WHEELCHAIR | TicketFlags.COMPANION_RESERVED,
        TicketFlags.WHEELCHAIR | TicketFlags.COMPANION_RESERVED,
        TicketFlags.COMPANION,
    ]


def test_server_killed_between_closing_the_house_and_moving_anybody_has_begun_nothing(
    stage: Stage, evening: Evening, office: Office
) -> None:
    evening.issue(**on("A-1"))
    layout = next_version(stage, without("A-1"), floor())
    report = planned(stage, layout)
    words = {"layout_id": layout, "fingerprint": report["fingerprint"]}
    where = organisation_of(office), evening.event["id"]
    with office.database.writing() as session:
        service.close(session, *where, MoveGuests(**words).move(), office.deed())
    # Here the server is killed.
    body = {"ticket_type": 1, **on("B-8")}
    assert stage.desk.refused("POST", f"{evening.path}/tickets", body) == (503, "guests_being_moved")
    assert stage.desk.refused("POST", f"{stage.path}/migrate", words) == (503, "guests_being_moved")
    office.advance(pieces.LEFT_ALONE_MS)
    office.work()
    assert stage.desk.get(f"{stage.path}/migrations/{report['id']}")["state"] == "planned"
    assert planned(stage, layout, fingerprint=report["fingerprint"])["state"] == "done"


def test_house_is_closed_in_words_while_guests_are_on_their_way_and_workers_finish_what_a_dead_server_began(
    stage: Stage, evening: Evening, office: Office
) -> None:
    first, second = (evening.issue(**on(seat))["items"][0] for seat in ("A-1", "A-2"))
    for step in ("publish", "go-live"):
        stage.desk.post(f"{evening.path}/{step}", {}, 200)
    old = {each["id"]: evening.code(each) for each in (first, second)}
    layout = next_version(stage, without("A-1", "A-2"), floor())
    report = planned(stage, layout)
    mark = report["fingerprint"]
    asked = MoveGuests(layout_id=layout, fingerprint=mark).move()
    where = organisation_of(office), evening.event["id"]
    for act in (service.close, service.begin):
        with office.database.writing() as session:
            act(session, *where, asked, office.deed())
    with office.database.writing() as session:
        assert pieces.go_on(session, queries.reseating(session, *where, report["id"]), office.deed(), limit=1)
    # Here the server is killed.
    assert stage.desk.get(f"{stage.path}/migrations/{report['id']}")["state"] == "moving"
    assert at_the_gate(office, evening, first, old[first["id"]]) is Reason.TICKET_REPLACED
    assert at_the_gate(office, evening, second, old[second["id"]]) is Reason.ADMITTED, "nobody stands between two codes"
    with office.database.reading() as session:
        seat = session.execute(text("SELECT id FROM layout_seats WHERE seat_id = 'B-8'")).scalar()
    for path, body in (
        (f"{evening.path}/tickets", {"ticket_type": 1, **on("B-8")}),
        (f"{evening.path}/seats/{seat}/reserve", {}),
        (f"{evening.path}/holds", {"best": 2}),
        (f"/api/tickets/{second['id']}/cancel", {}),
        (f"{stage.path}/migrate", {"layout_id": layout}),
    ):
        answer = stage.desk.ask("POST", path, body)
        assert (answer.status_code, answer.json["error"]["code"]) == (503, "guests_being_moved"), path  # type: ignore[index]
        assert int(answer.headers["Retry-After"]) > 0
    assert stage.desk.refused("PUT", stage.path, {"layout_id": layout}) == (503, "guests_being_moved")
    office.work()
    assert stage.desk.get(f"{stage.path}/migrations/{report['id']}")["state"] == "moving", "it may be at work still"
    office.advance(pieces.LEFT_ALONE_MS)
    office.work()
    assert stage.desk.get(f"{stage.path}/migrations/{report['id']}")["state"] == "done"
    assert set(seats_taken(office).values()) == {_signed(int(each, 16)) for each in old}
    assert [each["issue"] for each in (stage.desk.get(f"/api/tickets/{id}") for id in old)] == [2, 2]
    assert at_the_gate(office, evening, second, evening.code(second)) is Reason.ADMITTED
    evening.issue(**on("B-8"))
    again = {"layout_id": layout, "fingerprint": report["fingerprint"]}
    assert stage.desk.refused("POST", f"{stage.path}/migrate", again) == (409, "already_carried_out")


def test_guests_keep_their_doors_and_their_prices(office: Office, desk: Desk) -> None:
    desk.patch("/api/organisation/seating-policy", {"allow_vip_zones": True})
    lounge = {"name": "Lounge", "zone_type": "vip_reserved", "access_mode": "membership_tier"}
    zone = lounge | {"membership_tier": "friends", "seats": [a_seat("L", n) for n in (1, 2)]}
    stage = a_stage(office, desk, a_layout(zones=[stalls(), zone]))
    stage.choose()
    evening = an_evening_on(stage)
    desk.post(f"{evening.path}/ticket-types", a_ticket_type(name="Member"))
    desk.post("/api/memberships", {"id": "m-1", "tier": "friends"})
    member = evening.issue(ticket_type=2, membership={"id": "m-1"}, **on("L-1"))["items"][0]
    smaller = lounge | {"membership_tier": "friends", "seats": [a_seat("L", 2)]}
    layout = next_version(stage, stalls(), smaller)
    report = planned(stage, layout)
    assert [(each["ticket"], each["to_seat"]) for each in report["moves"]] == [(member["id"], "L-2")]
    open_to_all = {"name": "Lounge", "zone_type": "reserved_seating", "seats": [a_seat("L", n) for n in (1, 2, 3)]}
    guests = {"guests": [{"email": "friend@example.org"}]}
    desk.post(f"{stage.path}/zones/{stage.zone('Lounge')}/guests", guests)
    friend = evening.issue(ticket_type=2, guest=guests["guests"][0], **on("L-2"))["items"][0]
    layout = next_version(stage, stalls(), open_to_all)
    done = planned(stage, layout, fingerprint=planned(stage, layout)["fingerprint"])
    assert (done["counts"]["stay"], done["counts"]["new_codes"]) == (2, 2)
    said = [set(desk.get(f"/api/tickets/{each['id']}")["flags"]) for each in (member, friend)]
    assert said == [{"membership"}, set()], "nobody asks there, and a member's ticket hangs on the membership as ever"
