"""An event moves to another version of its layout: first a report, then exactly what it says."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from shared.ids import NIL_ID
from shared.reasons import Reason
from shared.tickets import ReadTicket, TicketFlags, read
from shared.wire.snapshot import RowKind
from sync_server.holds.taking import seats as held_seats
from sync_server.reseating import batches, queries, service
from sync_server.reseating.schemas import MoveGuests
from tests.app_server import ApiClient, AppServer, Concert
from tests.builders import a_ticket_type
from tests.contracts.seating.stage import Stage, a_layout, a_seat, a_stage, at_the_gate, floor, stalls
from tests.contracts.seating.test_tickets_on_seats import an_evening_on, on, organisation_of


@pytest.fixture
def concert(stage: Stage) -> Concert:
    """An event on a layout of two rows of eight and a floor."""
    stage.choose()
    return an_evening_on(stage)


def next_version(stage: Stage, *zones: dict[str, Any]) -> str:
    """Activate the next version of the layout; returns its id."""
    layouts = f"{stage.layouts}/{stage.layout['id']}/versions"
    made = stage.api.post(layouts, a_layout(zones=list(zones)))
    stage.api.post(f"{stage.layouts}/{made['id']}/activate", status=200)
    return str(made["id"])


def without(*removed: str, rows: str = "AB") -> dict[str, Any]:
    """The stalls without some seats."""
    zone = stalls(rows=rows)
    zone["seats"] = [seat for seat in zone["seats"] if seat["seat_id"] not in removed]
    return zone


def planned(stage: Stage, layout_id: str, status: int = 201, **body: Any) -> Any:
    return stage.api.post(f"{stage.path}/migrate", {"layout_id": layout_id} | body, status)


def rows(app_server: AppServer, concert: Concert) -> dict[str, Any]:
    """The rows of tickets on gates, by ticket number."""
    return {row.number: row for row in app_server.gate_rows_of(concert.number, RowKind.TICKET)}


def seats_taken(app_server: AppServer) -> dict[int, int]:
    with app_server.database.reading() as session:
        found = session.execute(text("SELECT seat, ticket_id FROM event_seats WHERE state = 2"))
        return {row.seat: row.ticket_id for row in found}


def test_guests_move_as_reported_and_only_movers_get_new_codes(
    stage: Stage, concert: Concert, app_server: AppServer
) -> None:
    stays, moves = concert.issue(**on("A-2"))["items"] + concert.issue(**on("B-1"))["items"]
    codes = {ticket["id"]: concert.code(ticket) for ticket in (stays, moves)}
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
    assert stage.api.get(stage.path)["layout_id"] != layout, "a report changes nothing"
    done = planned(stage, layout, fingerprint=report["fingerprint"], reason="a pillar came down")
    assert (done["id"], done["state"]) == (report["id"], "done")
    assert stage.api.get(stage.path)["layout_id"] == layout
    assert concert.code(stays) == codes[stays["id"]]
    found = read(concert.code(moves), app_server.key_ring(concert.number))
    assert isinstance(found, ReadTicket) and (found.ticket.issue, found.ticket.seat) == (2, 8)
    held = rows(app_server, concert)
    assert (held[stays["number"]].issue, held[stays["number"]].seat_number) == (1, "2")
    moved = held[moves["number"]]
    assert (moved.issue, moved.seat_row, moved.seat_number, moved.seat) == (2, "B", "2", 8)
    assert sorted(seats_taken(app_server)) == [1, 8], "A-2 is the first seat of the new version"
    app_server.gate_rows(concert.number)  # checks the digest


def test_old_code_is_replaced_at_the_gate_and_the_new_one_admits(
    stage: Stage, concert: Concert, app_server: AppServer
) -> None:
    ticket = concert.issue(**on("B-1"))["items"][0]
    for step in ("publish", "go-live"):
        stage.api.post(f"{concert.path}/{step}", {}, 200)
    old = concert.code(ticket)
    layout = next_version(stage, without("B-1"), floor())
    planned(stage, layout, fingerprint=planned(stage, layout)["fingerprint"])
    assert at_the_gate(app_server, concert, ticket, old) is Reason.TICKET_REPLACED
    assert at_the_gate(app_server, concert, ticket, concert.code(ticket)) is Reason.ADMITTED


def test_any_change_after_the_report_makes_it_outdated(stage: Stage, concert: Concert) -> None:
    concert.issue(**on("A-1"))
    layout = next_version(stage, without("A-1"), floor())
    fingerprint = planned(stage, layout)["fingerprint"]
    concert.issue(**on("B-5"))
    answer = stage.api.ask("POST", f"{stage.path}/migrate", {"layout_id": layout, "fingerprint": fingerprint})
    assert (answer.status_code, answer.json["error"]["code"] if answer.json else "") == (409, "report_outdated")
    fingerprint = planned(stage, layout)["fingerprint"]
    other = {"layout_id": layout, "fingerprint": fingerprint, "overrides": {"blocked_seat_ids": ["B-8"]}}
    assert stage.api.refused("POST", f"{stage.path}/migrate", other) == (409, "report_outdated")
    planned(stage, layout, fingerprint=fingerprint)
    again = {"layout_id": layout, "fingerprint": fingerprint}
    assert stage.api.refused("POST", f"{stage.path}/migrate", again) == (409, "already_carried_out")
    unknown = {"layout_id": layout, "fingerprint": "0" * 64}
    assert stage.api.refused("POST", f"{stage.path}/migrate", unknown) == (409, "report_outdated")


def test_nobody_is_left_without_a_seat(stage: Stage, concert: Concert, app_server: AppServer) -> None:
    made = concert.issue(**on(*(f"A-{n}" for n in range(1, 9))))["items"]
    layout = next_version(stage, without(*(f"A-{n}" for n in range(1, 9)), "B-1"), floor())
    report = planned(stage, layout)
    assert report["counts"]["unplaced"] == 1
    assert report["unplaced"][0]["reason"] == "no_seat_of_this_price_category"
    body = {"layout_id": layout, "fingerprint": report["fingerprint"]}
    before = seats_taken(app_server)
    assert stage.api.refused("POST", f"{stage.path}/migrate", body) == (409, "guests_without_seats")
    assert seats_taken(app_server) == before
    lost = report["unplaced"][0]["ticket"]
    stage.api.post(f"/api/tickets/{lost}/cancel", {"reason": "no seat"}, 200)
    planned(stage, layout, fingerprint=planned(stage, layout)["fingerprint"])
    assert len(seats_taken(app_server)) == len(made) - 1


def test_guests_swap_seat_numbers(stage: Stage, concert: Concert, app_server: AppServer) -> None:
    """Every seat number changes hands: no unique index may fail halfway."""
    made = concert.issue(**on(*(f"{row}-{n}" for row in "AB" for n in range(1, 9))))["items"]
    layout = next_version(stage, stalls(rows="BA"), floor())
    planned(stage, layout, fingerprint=planned(stage, layout)["fingerprint"])
    held = rows(app_server, concert)
    assert all(held[ticket["number"]].issue == 1 for ticket in made)
    assert seats_taken(app_server) == {row.seat: _signed(row.ticket_id) for row in held.values()}
    assert held[made[0]["number"]].seat == 9 and held[made[8]["number"]].seat == 1


def _signed(ticket_id: int) -> int:
    return ticket_id - (1 << 64) if ticket_id >> 63 else ticket_id


def test_holds_refuse_the_move_or_are_released(stage: Stage, concert: Concert, app_server: AppServer) -> None:
    concert.issue(**on("A-1"))
    layout = next_version(stage, without("A-1"), floor())
    hold(app_server, concert, 5)
    report = planned(stage, layout)
    assert report["counts"]["holds"] == 1
    body = {"layout_id": layout, "fingerprint": report["fingerprint"]}
    assert stage.api.refused("POST", f"{stage.path}/migrate", body) == (409, "holds_active")
    assert stage.api.get(f"{stage.path}/migrations/{report['id']}")["state"] == "planned", "and sales have resumed"
    planned(stage, layout, fingerprint=report["fingerprint"], holds="release")
    with app_server.database.reading() as session:
        assert session.execute(text("SELECT status FROM holds")).scalars().all() == ["cancelled"]
        assert session.execute(text("SELECT count(*) FROM event_seats WHERE state = 1")).scalar_one() == 0


def hold(app_server: AppServer, concert: Concert, seat: int) -> None:
    """Insert a hold of this seat."""
    organisation, until = organisation_of(app_server), app_server.now + 300_000
    row = {
        "id": NIL_ID,
        "o": organisation,
        "e": concert.event["id"],
        "seat": seat,
        "until": until,
        "now": app_server.now,
    }
    with app_server.database.writing() as session:
        held_seats.hold(
            session, organisation, concert.event["id"], {(seat, 0): NIL_ID}, until=until, now=app_server.now
        )
        session.execute(
            text(
                "INSERT INTO holds (id, organisation_id, event_id, days, kind, seat, zone, quantity, bearer_kind,"
                " bearer_id, status, held_until, extended, source, created_at, updated_at)"
                " VALUES (:id, :o, :e, '0', 'seat', :seat, 1, 1, 'guest', :id, 'active', :until, 0, 'web', :now, :now)"
            ),
            row,
        )


def test_standing_guests_stay_in_their_zone_if_there_is_room(stage: Stage, app_server: AppServer) -> None:
    number = next(zone["event_zone"] for zone in stage.choose()["zones"] if zone["name"] == "Floor")
    concert = an_evening_on(stage, zone=number)
    concert.issue(count=40)
    small = next_version(stage, floor(capacity=30), stalls())
    report = planned(stage, small)
    assert report["zones"] == [{"zone": "Floor", "sold": 40, "capacity": 30, "fits": False}]
    body = {"layout_id": small, "fingerprint": report["fingerprint"]}
    assert stage.api.refused("POST", f"{stage.path}/migrate", body) == (409, "guests_without_seats")
    roomy = next_version(stage, floor(capacity=45), stalls())
    planned(stage, roomy, fingerprint=planned(stage, roomy)["fingerprint"])
    body = {"ticket_type": 1, "count": 6}
    assert stage.api.refused("POST", f"{concert.path}/tickets", body) == (409, "zone_full")
    concert.issue(count=5)
    with app_server.database.reading() as session:
        sold = session.execute(text("SELECT zone, sold FROM event_places WHERE sold > 0")).all()
    assert [tuple(row) for row in sold] == [(1, 45)], "the floor is the first zone now"


def test_reports_have_pages_and_belong_to_their_organisation(
    stage: Stage, concert: Concert, app_server: AppServer
) -> None:
    concert.issue(**on(*(f"A-{n}" for n in range(1, 6))))
    layout = next_version(stage, without(*(f"A-{n}" for n in range(1, 6))), floor())
    report = planned(stage, layout)
    path = f"{stage.path}/migrations/{report['id']}"
    first = stage.api.get(f"{path}?limit=3")
    rest = stage.api.get(f"{path}?limit=3&after={first['next']}")
    assert first["moves"] + rest["moves"] == report["moves"] and rest["next"] is None
    assert [each["id"] for each in stage.api.get(f"{stage.path}/migrations")["items"]] == [report["id"]]
    stranger = app_server.api(app_server.organisation("rival"))
    assert stranger.refused("GET", path) == (404, "migration_not_found")
    assert stranger.refused("POST", f"{stage.path}/migrate", {"layout_id": layout})[0] == 404
    editor = app_server.api(organisation_of(app_server), ["read", "edit_events"])
    body = {"layout_id": layout, "fingerprint": report["fingerprint"]}
    assert editor.refused("POST", f"{stage.path}/migrate", body)[0] == 403


def test_move_is_audited_and_published(stage: Stage, concert: Concert, app_server: AppServer) -> None:
    concert.issue(**on("A-1"))
    layout = next_version(stage, without("A-1"), floor())
    planned(stage, layout, fingerprint=planned(stage, layout)["fingerprint"], reason="a pillar")
    with app_server.database.reading() as session:
        recorded = session.execute(text("SELECT action FROM audit_lines ORDER BY id")).scalars().all()
        published = session.execute(text("SELECT name FROM outbox ORDER BY message_id")).scalars().all()
    assert "reseating_planned" in recorded and "event_reseated" in recorded
    assert published.count("event_reseated") == 1


def wheelchair_stalls(places: dict[str, str | None], **changed: Any) -> dict[str, Any]:
    """The stalls with wheelchair places, each with its companion seat or without one."""
    zone = stalls(**changed)
    for seat in zone["seats"]:
        if seat["seat_id"] in places:
            seat |= {"category": "wheelchair", "companion_seat_id": places[seat["seat_id"]]}
        elif seat["seat_id"] in places.values():
            seat["category"] = "companion"
    return zone


def test_flags_and_codes_follow_the_companion_seats(app_server: AppServer, api: ApiClient) -> None:
    """The place in row A loses its companion seat, the guest of A-8 gets one, and nothing changes for B-1 and B-2."""
    stage = a_stage(app_server, api, a_layout(zones=[wheelchair_stalls({"A-1": "A-2", "A-8": None, "B-1": "B-2"})]))
    stage.choose()
    concert = an_evening_on(stage)
    made = [concert.issue(**on(seat))["items"][0] for seat in ("A-1", "A-8", "B-1")]
    made += concert.issue(joins=made[2]["id"], **on("B-2"))["items"]
    assert [set(each["flags"]) for each in made] == [
        {"wheelchair", "companion_reserved"},
        {"wheelchair"},
        {"wheelchair", "companion_reserved"},
        {"companion"},
    ]
    layout = next_version(stage, wheelchair_stalls({"A-1": None, "A-6": "A-7", "B-1": "B-2"}))
    report = planned(stage, layout)
    assert [(each["from_seat"], each["to_seat"]) for each in report["moves"]] == [("A-8", "A-6")]
    assert report["counts"]["new_codes"] == 2, "A-1 is the same seat with other flags"
    planned(stage, layout, fingerprint=report["fingerprint"])
    now = [api.get(f"/api/tickets/{each['id']}") for each in made]
    assert [set(each["flags"]) for each in now] == [
        {"wheelchair"},
        {"wheelchair", "companion_reserved"},
        {"wheelchair", "companion_reserved"},
        {"companion"},
    ]
    assert [each["issue"] for each in now] == [2, 2, 1, 1]
    with app_server.database.reading() as session:
        found = session.execute(text("SELECT seat, seat_key FROM tickets")).all()
    assert all(row.seat_key == f"#{row.seat}" for row in found), "the unique key is set again for all"
    assert [rows(app_server, concert)[each["number"]].flags for each in made] == [
        TicketFlags.WHEELCHAIR,
        TicketFlags.WHEELCHAIR | TicketFlags.COMPANION_RESERVED,
        TicketFlags.WHEELCHAIR | TicketFlags.COMPANION_RESERVED,
        TicketFlags.COMPANION,
    ]


def test_server_killed_before_the_move_begins_changes_nothing(
    stage: Stage, concert: Concert, app_server: AppServer
) -> None:
    concert.issue(**on("A-1"))
    layout = next_version(stage, without("A-1"), floor())
    report = planned(stage, layout)
    migration = {"layout_id": layout, "fingerprint": report["fingerprint"]}
    where = organisation_of(app_server), concert.event["id"]
    with app_server.database.writing() as session:
        service.close(session, *where, MoveGuests(**migration).move(), app_server.context())
    # Here the server is killed.
    body = {"ticket_type": 1, **on("B-8")}
    assert stage.api.refused("POST", f"{concert.path}/tickets", body) == (503, "guests_being_moved")
    assert stage.api.refused("POST", f"{stage.path}/migrate", migration) == (503, "guests_being_moved")
    app_server.advance(batches.ABANDONED_AFTER_MS)
    app_server.run_worker()
    assert stage.api.get(f"{stage.path}/migrations/{report['id']}")["state"] == "planned"
    assert planned(stage, layout, fingerprint=report["fingerprint"])["state"] == "done"


def test_sales_stop_during_a_move_and_a_worker_finishes_it_when_the_server_dies(
    stage: Stage, concert: Concert, app_server: AppServer
) -> None:
    first, second = (concert.issue(**on(seat))["items"][0] for seat in ("A-1", "A-2"))
    for step in ("publish", "go-live"):
        stage.api.post(f"{concert.path}/{step}", {}, 200)
    old = {each["id"]: concert.code(each) for each in (first, second)}
    layout = next_version(stage, without("A-1", "A-2"), floor())
    report = planned(stage, layout)
    fingerprint = report["fingerprint"]
    move = MoveGuests(layout_id=layout, fingerprint=fingerprint).move()
    where = organisation_of(app_server), concert.event["id"]
    for act in (service.close, service.begin):
        with app_server.database.writing() as session:
            act(session, *where, move, app_server.context())
    with app_server.database.writing() as session:
        assert batches.move_next_batch(
            session, queries.reseating(session, *where, report["id"]), app_server.context(), limit=1
        )
    # Here the server is killed.
    assert stage.api.get(f"{stage.path}/migrations/{report['id']}")["state"] == "moving"
    assert at_the_gate(app_server, concert, first, old[first["id"]]) is Reason.TICKET_REPLACED
    assert at_the_gate(app_server, concert, second, old[second["id"]]) is Reason.ADMITTED, (
        "one of the two codes is always valid"
    )
    with app_server.database.reading() as session:
        seat = session.execute(text("SELECT id FROM layout_seats WHERE seat_id = 'B-8'")).scalar()
    for path, body in (
        (f"{concert.path}/tickets", {"ticket_type": 1, **on("B-8")}),
        (f"{concert.path}/seats/{seat}/reserve", {}),
        (f"{concert.path}/holds", {"best": 2}),
        (f"/api/tickets/{second['id']}/cancel", {}),
        (f"{stage.path}/migrate", {"layout_id": layout}),
    ):
        answer = stage.api.ask("POST", path, body)
        assert (answer.status_code, answer.json["error"]["code"]) == (503, "guests_being_moved"), path  # type: ignore[index]
        assert int(answer.headers["Retry-After"]) > 0
    assert stage.api.refused("PUT", stage.path, {"layout_id": layout}) == (503, "guests_being_moved")
    app_server.run_worker()
    assert stage.api.get(f"{stage.path}/migrations/{report['id']}")["state"] == "moving", (
        "its server may still be working"
    )
    app_server.advance(batches.ABANDONED_AFTER_MS)
    app_server.run_worker()
    assert stage.api.get(f"{stage.path}/migrations/{report['id']}")["state"] == "done"
    assert set(seats_taken(app_server).values()) == {_signed(int(each, 16)) for each in old}
    assert [each["issue"] for each in (stage.api.get(f"/api/tickets/{id}") for id in old)] == [2, 2]
    assert at_the_gate(app_server, concert, second, concert.code(second)) is Reason.ADMITTED
    concert.issue(**on("B-8"))
    again = {"layout_id": layout, "fingerprint": report["fingerprint"]}
    assert stage.api.refused("POST", f"{stage.path}/migrate", again) == (409, "already_carried_out")


def test_guests_keep_their_access_and_price_category(app_server: AppServer, api: ApiClient) -> None:
    api.patch("/api/organisation/seating-policy", {"allow_vip_zones": True})
    lounge = {"name": "Lounge", "zone_type": "vip_reserved", "access_mode": "membership_tier"}
    zone = lounge | {"membership_tier": "friends", "seats": [a_seat("L", n) for n in (1, 2)]}
    stage = a_stage(app_server, api, a_layout(zones=[stalls(), zone]))
    stage.choose()
    concert = an_evening_on(stage)
    api.post(f"{concert.path}/ticket-types", a_ticket_type(name="Member"))
    api.post("/api/memberships", {"id": "m-1", "tier": "friends"})
    member = concert.issue(ticket_type=2, membership={"id": "m-1"}, **on("L-1"))["items"][0]
    smaller = lounge | {"membership_tier": "friends", "seats": [a_seat("L", 2)]}
    layout = next_version(stage, stalls(), smaller)
    report = planned(stage, layout)
    assert [(each["ticket"], each["to_seat"]) for each in report["moves"]] == [(member["id"], "L-2")]
    open_to_all = {"name": "Lounge", "zone_type": "reserved_seating", "seats": [a_seat("L", n) for n in (1, 2, 3)]}
    guests = {"guests": [{"email": "friend@example.org"}]}
    api.post(f"{stage.path}/zones/{stage.zone('Lounge')}/guests", guests)
    friend = concert.issue(ticket_type=2, guest=guests["guests"][0], **on("L-2"))["items"][0]
    layout = next_version(stage, stalls(), open_to_all)
    done = planned(stage, layout, fingerprint=planned(stage, layout)["fingerprint"])
    assert (done["counts"]["stay"], done["counts"]["new_codes"]) == (2, 2)
    recorded = [set(api.get(f"/api/tickets/{each['id']}")["flags"]) for each in (member, friend)]
    assert recorded == [{"membership"}, set()], "the zone needs no membership, but the ticket stays bound to it"
