"""Tickets are issued, changed and read; a seat or a place is never given twice."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from shared.errors import Conflict
from shared.reasons import Reason
from shared.snapshot import RowKind, TicketRow, TicketState
from shared.tickets import Entitlement, ReadTicket, Refusal, TicketFlags, read
from sync_server.tickets import issuing, queries, service
from sync_server.tickets.models import TicketRecord
from tests.builders import DAY, a_ticket_type, a_zone
from tests.office import Desk, Evening, Office, an_evening


def row_of(office: Office, evening: Evening, ticket_id: str) -> TicketRow:
    return {row.ticket_id: row for row in office.held_of(evening.number, RowKind.TICKET)}[int(ticket_id, 16)]


def test_a_ticket_that_was_issued_reads_at_the_gate_as_what_it_is(office: Office, desk: Desk) -> None:
    kind = a_ticket_type(entitlement="limited_reentry_per_day", entry_limit=3, flags=["vip"], check_words="ID", zone=0)
    evening = an_evening(desk, kind=kind)
    ticket = evening.ticket(flags=["wheelchair"], holder_name="Nobody Sees")
    found = read(evening.code(ticket), office.ring(evening.number))
    assert isinstance(found, ReadTicket)
    claims = found.ticket
    assert (claims.event_number, f"{claims.ticket_id:016x}", claims.issue) == (evening.number, ticket["id"], 1)
    assert (claims.entitlement, claims.limit) == (Entitlement.LIMITED_REENTRY_PER_DAY, 3)
    assert claims.flags == TicketFlags.VIP | TicketFlags.WHEELCHAIR
    row = row_of(office, evening, ticket["id"])
    assert (row.number, row.confirmation_code, row.limit) == (ticket["number"], ticket["confirmation_code"], 3)
    assert ticket["number"] == f"{evening.event['code']}-1" and len(ticket["confirmation_code"]) == 8
    assert row.name == ""  # names come down only where the event asks for name checks
    assert office.held_of(evening.number, RowKind.TICKET_TYPE)[0].check == "ID"


def test_names_come_down_with_name_checks_and_go_away_with_them(office: Office, evening: Evening) -> None:
    ticket = evening.ticket(holder_name="Ada L.")
    evening.desk.patch(evening.path, {"name_checks": True})
    assert row_of(office, evening, ticket["id"]).name == "Ada L."
    evening.desk.patch(evening.path, {"name_checks": False})
    assert row_of(office, evening, ticket["id"]).name == ""


def test_the_code_as_text_svg_and_png(evening: Evening) -> None:
    path = f"/api/tickets/{evening.ticket()['id']}/code"
    text = evening.desk.ask("GET", f"{path}?format=text")
    assert text.get_data(as_text=True).strip() == evening.desk.get(path)["code"]
    assert text.headers["Cache-Control"] == "no-store"
    assert evening.desk.ask("GET", f"{path}?format=svg").data.startswith(b"<svg")
    assert evening.desk.ask("GET", f"{path}?format=png").data.startswith(b"\x89PNG")


def test_the_printer_gets_the_codes_of_all_good_tickets_page_by_page(evening: Evening) -> None:
    made = evening.issue(count=5)["items"]
    evening.desk.post(f"/api/tickets/{made[1]['id']}/cancel", {}, 200)
    first = evening.desk.get(f"{evening.path}/codes?limit=3")
    rest = evening.desk.get(f"{evening.path}/codes?limit=3&after={first['next']}")
    printed = {item["ticket_id"]: item["code"] for item in first["items"] + rest["items"]}
    assert printed == {ticket["id"]: evening.code(ticket) for ticket in made if ticket is not made[1]}
    assert rest["next"] is None


def test_a_seat_is_one_seat_however_it_is_written(evening: Evening) -> None:
    evening.issue(seats=[{"row": "C", "number": "12"}])
    body = {"ticket_type": 1, "seats": [{"row": " c ", "number": "12"}]}
    assert evening.desk.refused("POST", f"{evening.path}/tickets", body) == (409, "seat_taken")
    twice = {"ticket_type": 1, "seats": [{"row": "D", "number": "1"}, {"row": "d", "number": "1"}]}
    assert evening.desk.refused("POST", f"{evening.path}/tickets", twice)[0] == 400


def test_the_same_seat_number_in_two_zones_is_two_seats(evening: Evening) -> None:
    evening.desk.post(f"{evening.path}/zones", a_zone(name="Balcony", kind="reserved_seating"))
    evening.desk.post(f"{evening.path}/ticket-types", a_ticket_type(name="Balcony", zone=1))
    evening.issue(seats=[{"row": "A", "number": "1"}])
    evening.issue(ticket_type=2, seats=[{"row": "A", "number": "1"}])


def race(office: Office, event_id: str, wish: service.Wish, times: int) -> list[bool]:
    """Many at once; whether each got what it wished."""
    with office.database.reading() as session:
        from sync_server.events.models import EventRecord

        organisation = session.execute(select(EventRecord.organisation_id)).scalar_one()
    together = threading.Barrier(times)

    def grab(_: int) -> bool:
        together.wait(30)
        try:
            with office.database.writing() as session:
                service.issue(session, organisation, event_id, wish, office.deed())
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(grab, range(times)))


def test_eight_people_grab_one_seat(office: Office, evening: Evening) -> None:
    from sync_server.tickets.rules import Seat

    got = race(office, evening.event["id"], service.Wish(1, seats=[Seat("A", "1")]), 8)
    assert got.count(True) == 1
    assert len(office.held_of(evening.number, RowKind.TICKET)) == 1
    assert evening.desk.get(evening.path)["tickets_issued"] == 1


def test_eight_people_grab_the_last_places(office: Office, desk: Desk) -> None:
    evening = an_evening(desk, kind=a_ticket_type(quantity=10), capacity=10)
    got = race(office, evening.event["id"], service.Wish(1, count=3), 8)
    assert got.count(True) == 3
    numbers = sorted(row.number for row in office.held_of(evening.number, RowKind.TICKET))
    assert len(set(numbers)) == 9 and desk.get(evening.path)["tickets_issued"] == 9
    assert desk.get(f"{evening.path}/ticket-types")["items"][0]["issued"] == 9


def test_the_database_itself_refuses_a_second_ticket_for_a_seat(office: Office, evening: Evening) -> None:
    """The last guard holds where a mistake above it forgets to look."""
    first = evening.issue(seats=[{"row": "A", "number": "1"}])["items"][0]
    with office.database.reading() as session:
        row = session.get_one(TicketRecord, int(first["id"], 16))
        words = {c.key: getattr(row, c.key) for c in TicketRecord.__table__.columns}
    copy = TicketRecord(**words | {"id": 5, "sequence": 99, "confirmation_code": "OTHER234"})
    with pytest.raises(Conflict), office.database.writing() as session:
        issuing._keep(session, [copy])


def test_a_wish_that_cannot_be_granted_whole_is_not_granted_at_all(office: Office, evening: Evening) -> None:
    evening.issue(seats=[{"row": "A", "number": "2"}])
    seats = [{"row": "A", "number": str(number)} for number in (1, 2, 3)]
    assert evening.desk.refused("POST", f"{evening.path}/tickets", {"ticket_type": 1, "seats": seats})[0] == 409
    assert evening.desk.refused("POST", f"{evening.path}/tickets", {"ticket_type": 1, "count": 100})[0] == 409
    assert len(office.held_of(evening.number, RowKind.TICKET)) == 1


def test_ticket_types_together_do_not_exceed_the_events_capacity(desk: Desk) -> None:
    evening = an_evening(desk, kind=a_ticket_type(quantity=60), capacity=100)
    more = a_ticket_type(name="More", quantity=41)
    assert desk.refused("POST", f"{evening.path}/ticket-types", more) == (409, "capacity_exceeded")
    evening.issue(count=5)
    assert desk.refused("PATCH", evening.path, {"capacity": 4}) == (409, "capacity_below_issued")
    less = {"quantity": 4}
    assert desk.refused("PATCH", f"{evening.path}/ticket-types/1", less) == (409, "quantity_below_issued")


def test_a_cancelled_ticket_keeps_its_row_and_gives_back_seat_and_place(office: Office, desk: Desk) -> None:
    evening = an_evening(desk, kind=a_ticket_type(quantity=1), capacity=1)
    first = evening.ticket(seats=[{"row": "A", "number": "1"}])
    desk.post(f"/api/tickets/{first['id']}/cancel", {"reason": "refund"}, 200)
    assert row_of(office, evening, first["id"]).state is TicketState.CANCELLED
    assert desk.refused("GET", f"/api/tickets/{first['id']}/code") == (409, "ticket_cancelled")
    second = evening.ticket(seats=[{"row": "A", "number": "1"}])
    assert second["number"].endswith("-2")  # numbers are never given twice
    assert desk.refused("POST", f"/api/tickets/{first['id']}/cancel", {}) == (409, "invalid_ticket_state")


def test_block_unblock_unpaid_and_settle(office: Office, evening: Evening) -> None:
    ticket, unpaid = evening.ticket(), evening.ticket(unpaid=True)
    change = evening.desk.post
    assert change(f"/api/tickets/{ticket['id']}/block", {"reason": "stolen"}, 200)["state"] == "blocked"
    assert row_of(office, evening, ticket["id"]).state is TicketState.BLOCKED
    assert change(f"/api/tickets/{ticket['id']}/unblock", {}, 200)["state"] == "valid"
    assert row_of(office, evening, unpaid["id"]).state is TicketState.UNPAID
    assert evening.desk.refused("POST", f"/api/tickets/{unpaid['id']}/unblock", {})[0] == 409
    assert change(f"/api/tickets/{unpaid['id']}/settle", {}, 200)["state"] == "valid"


def test_a_ticket_issued_anew_keeps_its_id_and_gets_another_code(office: Office, evening: Evening) -> None:
    ticket = evening.ticket()
    before = evening.code(ticket)
    again = evening.desk.post(f"/api/tickets/{ticket['id']}/reissue", {}, 200)
    found = read(evening.code(ticket), office.ring(evening.number))
    assert isinstance(found, ReadTicket) and found.ticket.issue == again["issue"] == 2
    assert evening.code(ticket) != before and row_of(office, evening, ticket["id"]).issue == 2


def test_the_same_key_of_idempotency_issues_once(office: Office, evening: Evening) -> None:
    wish = {"ticket_type": 1, "count": 2}
    answers = [evening.desk.ask("POST", f"{evening.path}/tickets", wish, **{"Idempotency-Key": "k"}) for _ in range(2)]
    assert answers[0].json == answers[1].json and answers[1].headers["Idempotent-Replay"] == "true"
    assert len(office.held_of(evening.number, RowKind.TICKET)) == 2
    other = evening.desk.ask("POST", f"{evening.path}/tickets", wish | {"count": 3}, **{"Idempotency-Key": "k"})
    assert (other.status_code, other.json["error"]["code"]) == (409, "idempotency_key_reused")
    # a refusal is not remembered: the same key may succeed later
    refused = evening.desk.ask("POST", f"{evening.path}/tickets", wish | {"count": 99}, **{"Idempotency-Key": "r"})
    assert refused.status_code == 409
    evening.desk.patch(f"{evening.path}/ticket-types/1", {"quantity": 500})
    again = evening.desk.ask("POST", f"{evening.path}/tickets", wish | {"count": 99}, **{"Idempotency-Key": "r"})
    assert again.status_code == 201


def test_eight_repetitions_of_one_request_at_once_issue_once(office: Office, evening: Evening) -> None:
    together = threading.Barrier(8)

    def send(_: int) -> str:
        client = office.app.test_client()
        together.wait(30)
        headers = evening.desk.headers | {"Idempotency-Key": "same"}
        answer = client.post(f"{evening.path}/tickets", json={"ticket_type": 1, "count": 1}, headers=headers)
        assert answer.status_code == 201, answer.get_data(as_text=True)
        return str(answer.json["items"][0]["id"]) if answer.json else ""

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(send, range(8)))) == 1
    assert len(office.held_of(evening.number, RowKind.TICKET)) == 1


def test_no_tickets_for_an_event_that_is_over(evening: Evening) -> None:
    evening.desk.post(f"{evening.path}/cancel", {}, 200)
    body = {"ticket_type": 1, "count": 1}
    assert evening.desk.refused("POST", f"{evening.path}/tickets", body) == (409, "event_not_available")


def test_tickets_are_listed_in_the_order_of_their_issuing_and_found_by_what_is_printed(evening: Evening) -> None:
    made = evening.issue(count=5)["items"]
    first = evening.desk.get(f"{evening.path}/tickets?limit=3")
    rest = evening.desk.get(f"{evening.path}/tickets?limit=3&after={first['next']}")
    assert [t["id"] for t in first["items"] + rest["items"]] == [t["id"] for t in made] and rest["next"] is None
    for field in ("number", "confirmation_code"):
        assert evening.desk.get(f"{evening.path}/tickets?{field}={made[2][field]}")["items"] == [made[2]]
    assert evening.desk.get(f"{evening.path}/tickets?state=cancelled")["items"] == []


def test_a_new_key_waits_a_day_and_then_takes_over_by_itself(office: Office, evening: Evening) -> None:
    old = evening.ticket()["key_id"]
    new = evening.desk.post("/api/keys/rotate", {})["id"]
    assert {row.id for row in office.held_of(evening.number, RowKind.KEY)} == {old, new}
    assert evening.ticket()["key_id"] == old
    office.advance(DAY)
    office.work()
    assert evening.ticket()["key_id"] == new
    states = {row.id: row.state for row in office.held_of(evening.number, RowKind.KEY)}
    assert states == {old: "retired", new: "active"}


def test_a_revoked_key_kills_its_tickets_only_when_told_how_many(office: Office, evening: Evening) -> None:
    ticket = evening.ticket()
    code = evening.code(ticket)
    path = f"/api/keys/{ticket['key_id']}"
    evening.desk.post("/api/keys/rotate", {"at_once": True})
    refused = evening.desk.ask("POST", f"{path}/revoke", {})
    assert (refused.status_code, refused.json["error"]["details"]["tickets"]) == (409, 1)
    assert evening.desk.post(f"{path}/revoke", {"kills": 1, "reason": "laptop stolen"}, 200)["state"] == "revoked"
    found = read(code, office.ring(evening.number))
    assert isinstance(found, Refusal) and found.reason is Reason.UNKNOWN_KEY
    evening.desk.post(f"/api/tickets/{ticket['id']}/reissue", {}, 200)
    assert isinstance(read(evening.code(ticket), office.ring(evening.number)), ReadTicket)


def test_a_distrusted_key_says_so_at_the_gate_and_signs_no_more(office: Office, evening: Evening) -> None:
    ticket = evening.ticket()
    code = evening.code(ticket)
    evening.desk.post(f"/api/keys/{ticket['key_id']}/distrust", {"reason": "odd log-in"}, 200)
    found = read(code, office.ring(evening.number))
    assert isinstance(found, ReadTicket) and found.key_distrusted
    body = {"ticket_type": 1, "count": 1}
    assert evening.desk.refused("POST", f"{evening.path}/tickets", body) == (409, "no_signing_key")


def test_what_gates_hold_is_what_the_tables_say(office: Office, evening: Evening) -> None:
    made = evening.issue(count=6)["items"]
    for ticket, change in zip(made, ("cancel", "block", "reissue"), strict=False):
        evening.desk.post(f"/api/tickets/{ticket['id']}/{change}", {}, 200)
    with office.database.reading() as session:
        rows = session.execute(select(TicketRecord)).scalars()
        told = {row.id: queries.ticket_row(row, name_checks=False) for row in rows}
    assert {row.ticket_id: row for row in office.held_of(evening.number, RowKind.TICKET)} == told
    office.held(evening.number)  # the digest fits
