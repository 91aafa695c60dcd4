"""Tickets are issued, changed and read; no seat or place is sold twice."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from shared.errors import Conflict
from shared.reasons import Reason
from shared.tickets import Entitlement, ReadTicket, Refusal, TicketFlags, read
from shared.wire.snapshot import RowKind, TicketRow, TicketState
from sync_server.revisions import service as revisions
from sync_server.tickets import queries, service
from sync_server.tickets.issuance import issuing
from sync_server.tickets.models import TicketRecord
from tests.app_server import ApiClient, AppServer, Concert, a_concert
from tests.builders import DAY, a_ticket_type, a_zone


def row_of(app_server: AppServer, concert: Concert, ticket_id: str) -> TicketRow:
    return {row.ticket_id: row for row in app_server.gate_rows_of(concert.number, RowKind.TICKET)}[int(ticket_id, 16)]


def test_an_issued_ticket_is_read_correctly_at_the_gate(app_server: AppServer, api: ApiClient) -> None:
    kind = a_ticket_type(entitlement="limited_reentry_per_day", entry_limit=3, flags=["vip"], check_words="ID", zone=0)
    concert = a_concert(api, kind=kind)
    ticket = concert.ticket(flags=["wheelchair"], holder_name="Nobody Sees")
    found = read(concert.code(ticket), app_server.key_ring(concert.number))
    assert isinstance(found, ReadTicket)
    claims = found.ticket
    assert (claims.event_number, f"{claims.ticket_id:016x}", claims.issue) == (concert.number, ticket["id"], 1)
    assert (claims.entitlement, claims.limit) == (Entitlement.LIMITED_REENTRY_PER_DAY, 3)
    assert claims.flags == TicketFlags.VIP | TicketFlags.WHEELCHAIR
    row = row_of(app_server, concert, ticket["id"])
    assert (row.number, row.confirmation_code, row.limit) == (ticket["number"], ticket["confirmation_code"], 3)
    assert ticket["number"] == f"{concert.event['code']}-1" and len(ticket["confirmation_code"]) == 8
    assert row.name == ""  # names come down only where the event asks for name checks
    assert app_server.gate_rows_of(concert.number, RowKind.TICKET_TYPE)[0].check == "ID"


def test_holder_names_reach_gates_only_with_name_checks(app_server: AppServer, concert: Concert) -> None:
    ticket = concert.ticket(holder_name="Ada L.")
    concert.api.patch(concert.path, {"name_checks": True})
    assert row_of(app_server, concert, ticket["id"]).name == "Ada L."
    concert.api.patch(concert.path, {"name_checks": False})
    assert row_of(app_server, concert, ticket["id"]).name == ""


def test_the_code_as_text_svg_and_png(concert: Concert) -> None:
    path = f"/api/tickets/{concert.ticket()['id']}/code"
    text = concert.api.ask("GET", f"{path}?format=text")
    assert text.get_data(as_text=True).strip() == concert.api.get(path)["code"]
    assert text.headers["Cache-Control"] == "no-store"
    assert concert.api.ask("GET", f"{path}?format=svg").data.startswith(b"<svg")
    assert concert.api.ask("GET", f"{path}?format=png").data.startswith(b"\x89PNG")


def test_codes_of_all_valid_tickets_are_listed_in_pages(concert: Concert) -> None:
    made = concert.issue(count=5)["items"]
    concert.api.post(f"/api/tickets/{made[1]['id']}/cancel", {}, 200)
    first = concert.api.get(f"{concert.path}/codes?limit=3")
    rest = concert.api.get(f"{concert.path}/codes?limit=3&after={first['next']}")
    printed = {item["ticket_id"]: item["code"] for item in first["items"] + rest["items"]}
    assert printed == {ticket["id"]: concert.code(ticket) for ticket in made if ticket is not made[1]}
    assert rest["next"] is None


def test_a_seat_is_the_same_in_any_spelling(concert: Concert) -> None:
    concert.issue(seats=[{"row": "C", "number": "12"}])
    body = {"ticket_type": 1, "seats": [{"row": " c ", "number": "12"}]}
    assert concert.api.refused("POST", f"{concert.path}/tickets", body) == (409, "seat_taken")
    twice = {"ticket_type": 1, "seats": [{"row": "D", "number": "1"}, {"row": "d", "number": "1"}]}
    assert concert.api.refused("POST", f"{concert.path}/tickets", twice)[0] == 400


def test_the_same_seat_number_in_two_zones_is_two_seats(concert: Concert) -> None:
    concert.api.post(f"{concert.path}/zones", a_zone(name="Balcony", kind="reserved_seating"))
    concert.api.post(f"{concert.path}/ticket-types", a_ticket_type(name="Balcony", zone=1))
    concert.issue(seats=[{"row": "A", "number": "1"}])
    concert.issue(ticket_type=2, seats=[{"row": "A", "number": "1"}])


def race(app_server: AppServer, event_id: str, request: service.IssueRequest, times: int) -> list[bool]:
    """Concurrent requests, and whether each succeeded."""
    with app_server.database.reading() as session:
        from sync_server.events.models import EventRecord

        organisation = session.execute(select(EventRecord.organisation_id)).scalar_one()
    together = threading.Barrier(times)

    def grab(_: int) -> bool:
        together.wait(30)
        try:
            with app_server.database.writing() as session:
                service.issue(session, organisation, event_id, request, app_server.context())
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(grab, range(times)))


def test_eight_people_grab_one_seat(app_server: AppServer, concert: Concert) -> None:
    from sync_server.tickets.rules import Seat

    got = race(app_server, concert.event["id"], service.IssueRequest(1, seats=[Seat("A", "1")]), 8)
    assert got.count(True) == 1
    assert len(app_server.gate_rows_of(concert.number, RowKind.TICKET)) == 1
    assert concert.api.get(concert.path)["tickets_issued"] == 1


def test_eight_people_grab_the_last_places(app_server: AppServer, api: ApiClient) -> None:
    concert = a_concert(api, kind=a_ticket_type(quantity=10), capacity=10)
    got = race(app_server, concert.event["id"], service.IssueRequest(1, count=3), 8)
    assert got.count(True) == 3
    numbers = sorted(row.number for row in app_server.gate_rows_of(concert.number, RowKind.TICKET))
    assert len(set(numbers)) == 9 and api.get(concert.path)["tickets_issued"] == 9
    assert api.get(f"{concert.path}/ticket-types")["items"][0]["issued"] == 9


def test_the_database_itself_refuses_a_second_ticket_for_a_seat(app_server: AppServer, concert: Concert) -> None:
    """The last guard holds even if the code above has a bug."""
    concert.issue(seats=[{"row": "A", "number": "1"}])
    with app_server.database.reading() as session:
        row = session.execute(select(TicketRecord)).scalar_one()
        words = {c.key: getattr(row, c.key) for c in TicketRecord.__table__.columns}
    copy = TicketRecord(**words | {"id": 5, "sequence": 99, "confirmation_code": "OTHER234"})
    with pytest.raises(Conflict), app_server.database.writing() as session:
        issuing._insert(session, [copy])


def test_a_request_is_issued_completely_or_not_at_all(app_server: AppServer, concert: Concert) -> None:
    concert.issue(seats=[{"row": "A", "number": "2"}])
    seats = [{"row": "A", "number": str(number)} for number in (1, 2, 3)]
    assert concert.api.refused("POST", f"{concert.path}/tickets", {"ticket_type": 1, "seats": seats})[0] == 409
    assert concert.api.refused("POST", f"{concert.path}/tickets", {"ticket_type": 1, "count": 100})[0] == 409
    assert len(app_server.gate_rows_of(concert.number, RowKind.TICKET)) == 1


def test_ticket_types_together_do_not_exceed_the_events_capacity(api: ApiClient) -> None:
    concert = a_concert(api, kind=a_ticket_type(quantity=60), capacity=100)
    more = a_ticket_type(name="More", quantity=41)
    assert api.refused("POST", f"{concert.path}/ticket-types", more) == (409, "capacity_exceeded")
    concert.issue(count=5)
    assert api.refused("PATCH", concert.path, {"capacity": 4}) == (409, "capacity_below_issued")
    less = {"quantity": 4}
    assert api.refused("PATCH", f"{concert.path}/ticket-types/1", less) == (409, "quantity_below_issued")


def test_a_cancelled_ticket_keeps_its_row_and_releases_seat_and_capacity(app_server: AppServer, api: ApiClient) -> None:
    concert = a_concert(api, kind=a_ticket_type(quantity=1), capacity=1)
    first = concert.ticket(seats=[{"row": "A", "number": "1"}])
    api.post(f"/api/tickets/{first['id']}/cancel", {"reason": "refund"}, 200)
    assert row_of(app_server, concert, first["id"]).state is TicketState.CANCELLED
    assert api.refused("GET", f"/api/tickets/{first['id']}/code") == (409, "ticket_cancelled")
    second = concert.ticket(seats=[{"row": "A", "number": "1"}])
    assert second["number"].endswith("-2")  # numbers are never given twice
    assert api.refused("POST", f"/api/tickets/{first['id']}/cancel", {}) == (409, "invalid_ticket_state")


def test_block_unblock_unpaid_and_settle(app_server: AppServer, concert: Concert) -> None:
    ticket, unpaid = concert.ticket(), concert.ticket(unpaid=True)
    change = concert.api.post
    assert change(f"/api/tickets/{ticket['id']}/block", {"reason": "stolen"}, 200)["state"] == "blocked"
    assert row_of(app_server, concert, ticket["id"]).state is TicketState.BLOCKED
    assert change(f"/api/tickets/{ticket['id']}/unblock", {}, 200)["state"] == "valid"
    assert row_of(app_server, concert, unpaid["id"]).state is TicketState.UNPAID
    assert concert.api.refused("POST", f"/api/tickets/{unpaid['id']}/unblock", {})[0] == 409
    assert change(f"/api/tickets/{unpaid['id']}/settle", {}, 200)["state"] == "valid"


def test_a_reissued_ticket_keeps_its_id_and_gets_a_new_code(app_server: AppServer, concert: Concert) -> None:
    ticket = concert.ticket()
    before = concert.code(ticket)
    again = concert.api.post(f"/api/tickets/{ticket['id']}/reissue", {}, 200)
    found = read(concert.code(ticket), app_server.key_ring(concert.number))
    assert isinstance(found, ReadTicket) and found.ticket.issue == again["issue"] == 2
    assert concert.code(ticket) != before and row_of(app_server, concert, ticket["id"]).issue == 2


def test_the_same_idempotency_key_issues_once(app_server: AppServer, concert: Concert) -> None:
    body = {"ticket_type": 1, "count": 2}
    answers = [concert.api.ask("POST", f"{concert.path}/tickets", body, **{"Idempotency-Key": "k"}) for _ in range(2)]
    assert answers[0].json == answers[1].json and answers[1].headers["Idempotent-Replay"] == "true"
    assert len(app_server.gate_rows_of(concert.number, RowKind.TICKET)) == 2
    other = concert.api.ask("POST", f"{concert.path}/tickets", body | {"count": 3}, **{"Idempotency-Key": "k"})
    assert (other.status_code, other.json["error"]["code"]) == (409, "idempotency_key_reused")
    # a refusal is not remembered: the same key may succeed later
    refused = concert.api.ask("POST", f"{concert.path}/tickets", body | {"count": 99}, **{"Idempotency-Key": "r"})
    assert refused.status_code == 409
    concert.api.patch(f"{concert.path}/ticket-types/1", {"quantity": 500})
    again = concert.api.ask("POST", f"{concert.path}/tickets", body | {"count": 99}, **{"Idempotency-Key": "r"})
    assert again.status_code == 201


def test_eight_concurrent_repetitions_of_one_request_issue_once(app_server: AppServer, concert: Concert) -> None:
    together = threading.Barrier(8)

    def send(_: int) -> str:
        client = app_server.app.test_client()
        together.wait(30)
        headers = concert.api.headers | {"Idempotency-Key": "same"}
        answer = client.post(f"{concert.path}/tickets", json={"ticket_type": 1, "count": 1}, headers=headers)
        assert answer.status_code == 201, answer.get_data(as_text=True)
        return str(answer.json["items"][0]["id"]) if answer.json else ""

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(send, range(8)))) == 1
    assert len(app_server.gate_rows_of(concert.number, RowKind.TICKET)) == 1


def test_no_tickets_for_an_event_that_is_over(concert: Concert) -> None:
    concert.api.post(f"{concert.path}/cancel", {}, 200)
    body = {"ticket_type": 1, "count": 1}
    assert concert.api.refused("POST", f"{concert.path}/tickets", body) == (409, "event_not_available")


def test_tickets_are_listed_in_order_of_issue_and_found_by_printed_numbers(concert: Concert) -> None:
    made = concert.issue(count=5)["items"]
    first = concert.api.get(f"{concert.path}/tickets?limit=3")
    rest = concert.api.get(f"{concert.path}/tickets?limit=3&after={first['next']}")
    assert [t["id"] for t in first["items"] + rest["items"]] == [t["id"] for t in made] and rest["next"] is None
    for field in ("number", "confirmation_code"):
        assert concert.api.get(f"{concert.path}/tickets?{field}={made[2][field]}")["items"] == [made[2]]
    assert concert.api.get(f"{concert.path}/tickets?state=cancelled")["items"] == []


def test_a_new_key_waits_a_day_and_then_takes_over_by_itself(app_server: AppServer, concert: Concert) -> None:
    old = concert.ticket()["key_id"]
    new = concert.api.post("/api/keys/rotate", {})["id"]
    assert {row.id for row in app_server.gate_rows_of(concert.number, RowKind.KEY)} == {old, new}
    assert concert.ticket()["key_id"] == old
    app_server.advance(DAY)
    app_server.run_worker()
    assert concert.ticket()["key_id"] == new
    states = {row.id: row.state for row in app_server.gate_rows_of(concert.number, RowKind.KEY)}
    assert states == {old: "retired", new: "active"}


def test_two_organisations_have_keys_with_the_same_ids(app_server: AppServer, concert: Concert) -> None:
    rivals = a_concert(app_server.api(app_server.organisation("rivals")))
    ours, theirs = concert.ticket(), rivals.ticket()
    assert ours["key_id"] == theirs["key_id"] == 1
    our_ring, their_ring = app_server.key_ring(concert.number), app_server.key_ring(rivals.number)
    assert isinstance(read(concert.code(ours), our_ring), ReadTicket)
    assert isinstance(read(rivals.code(theirs), their_ring), ReadTicket)
    found = read(rivals.code(theirs), our_ring)
    assert isinstance(found, Refusal) and found.reason is Reason.UNKNOWN_KEY
    rivals.api.post("/api/keys/rotate", {"at_once": True})
    refused = rivals.api.ask("POST", "/api/keys/1/revoke", {})
    assert refused.json["error"]["details"]["tickets"] == 1, "tickets of the other organisation are not counted"
    rivals.api.post("/api/keys/1/revoke", {"kills": 1, "reason": "laptop stolen"}, 200)
    assert isinstance(read(concert.code(ours), app_server.key_ring(concert.number)), ReadTicket)
    assert [key["state"] for key in concert.api.get("/api/keys")["items"]] == ["active"]


def test_a_key_made_after_a_restore_does_not_get_the_id_of_a_lost_one(app_server: AppServer, concert: Concert) -> None:
    """Tickets of a lost key are out; with its id they would be refused as forged, and a gate would drop its key."""
    assert concert.api.post("/api/keys/rotate", {})["id"] == 2
    app_server.advance(1)
    with app_server.database.writing() as session:
        revisions.renew_lineage(session, app_server.entropy, app_server.now)
    app_server.advance(1)
    assert [concert.api.post("/api/keys/rotate", {})["id"] for _ in range(2)] == [102, 103]


def test_revoking_a_key_needs_the_number_of_tickets(app_server: AppServer, concert: Concert) -> None:
    ticket = concert.ticket()
    code = concert.code(ticket)
    path = f"/api/keys/{ticket['key_id']}"
    app_server.advance(1)  # of two keys of the same millisecond either could be the newer
    concert.api.post("/api/keys/rotate", {"at_once": True})
    refused = concert.api.ask("POST", f"{path}/revoke", {})
    assert (refused.status_code, refused.json["error"]["details"]["tickets"]) == (409, 1)
    assert concert.api.post(f"{path}/revoke", {"kills": 1, "reason": "laptop stolen"}, 200)["state"] == "revoked"
    found = read(code, app_server.key_ring(concert.number))
    assert isinstance(found, Refusal) and found.reason is Reason.UNKNOWN_KEY
    concert.api.post(f"/api/tickets/{ticket['id']}/reissue", {}, 200)
    assert isinstance(read(concert.code(ticket), app_server.key_ring(concert.number)), ReadTicket)


def test_a_distrusted_key_is_reported_at_the_gate_and_no_longer_signs(app_server: AppServer, concert: Concert) -> None:
    ticket = concert.ticket()
    code = concert.code(ticket)
    concert.api.post(f"/api/keys/{ticket['key_id']}/distrust", {"reason": "odd log-in"}, 200)
    found = read(code, app_server.key_ring(concert.number))
    assert isinstance(found, ReadTicket) and found.key_distrusted
    body = {"ticket_type": 1, "count": 1}
    assert concert.api.refused("POST", f"{concert.path}/tickets", body) == (409, "no_signing_key")


def test_snapshot_rows_match_the_tables(app_server: AppServer, concert: Concert) -> None:
    made = concert.issue(count=6)["items"]
    for ticket, change in zip(made, ("cancel", "block", "reissue"), strict=False):
        concert.api.post(f"/api/tickets/{ticket['id']}/{change}", {}, 200)
    with app_server.database.reading() as session:
        rows = session.execute(select(TicketRecord)).scalars()
        expected = {row.id: queries.ticket_row(row, name_checks=False) for row in rows}
    assert {row.ticket_id: row for row in app_server.gate_rows_of(concert.number, RowKind.TICKET)} == expected
    app_server.gate_rows(concert.number)  # the digest fits
