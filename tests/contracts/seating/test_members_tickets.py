"""Members' zones: who may be given a ticket, what gates are told of it, and what a revoked membership means there."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from shared.reasons import Reason
from shared.snapshot import MembershipState, RowKind, TicketRow
from shared.tickets import ReadTicket, TicketFlags, read
from tests.builders import HOUR
from tests.contracts.seating.stage import Stage, a_layout, a_seat, a_stage, at_the_gate, stalls
from tests.contracts.seating.test_tickets_on_seats import an_evening_on, on, refused
from tests.office import Desk, Evening, Office

MEMBER = {"tier": "friends", "id": "m-1"}


@pytest.fixture
def stage(office: Office, desk: Desk) -> Stage:
    """Stalls for all, a lounge for friends of the house, a box for those on its list."""
    desk.patch("/api/organisation/seating-policy", {"allow_vip_zones": True})
    lounge = {"name": "Lounge", "zone_type": "vip_reserved", "access_mode": "membership_tier"}
    lounge |= {"membership_tier": "friends", "seats": [a_seat("L", n) for n in range(1, 7)]}
    box = {"name": "Box", "zone_type": "reserved_seating", "access_mode": "whitelist", "seats": [a_seat("X", 1)]}
    made = a_stage(office, desk, a_layout(zones=[stalls(), lounge, box]))
    made.choose()
    return made


@pytest.fixture
def evening(stage: Stage) -> Evening:
    return an_evening_on(stage)


def row(office: Office, evening: Evening, number: str) -> TicketRow:
    return next(row for row in office.held_of(evening.number, RowKind.TICKET) if row.number == number)


def verdict(office: Office, evening: Evening, ticket: dict[str, str]) -> Reason:
    """What a gate says of the ticket's code."""
    return at_the_gate(office, evening, ticket, evening.code(ticket))


def live(evening: Evening) -> None:
    for step in ("publish", "go-live"):
        evening.desk.post(f"{evening.path}/{step}", {}, 200)


def test_member_sits_in_the_lounge_and_others_do_not(evening: Evening, office: Office) -> None:
    assert refused(evening, **on("L-1"))[:2] == (403, "zone_access_denied")
    assert refused(evening, membership={"tier": "press"}, **on("L-1"))[:2] == (403, "zone_access_denied")
    over = {"tier": "friends", "until": office.now - HOUR}
    assert refused(evening, membership=over, **on("L-1"))[:2] == (403, "zone_access_denied")
    ticket = evening.issue(membership=MEMBER, **on("L-1"))["items"][0]
    assert set(ticket["flags"]) == {"membership", "vip"}
    code = read(evening.code(ticket), office.ring(evening.number))
    assert isinstance(code, ReadTicket) and code.ticket.flags == TicketFlags.MEMBERSHIP | TicketFlags.VIP


def test_three_friends_of_a_member_are_members_or_on_the_list(stage: Stage, evening: Evening, office: Office) -> None:
    seats = [
        {"seat_id": "L-1"},
        {"seat_id": "L-2", "membership": {"tier": "friends"}},
        {"seat_id": "L-3", "guest": {"email": "third@example.org"}},
        {"seat_id": "L-4", "guest": {"email": "fourth@example.org"}},
    ]
    on_list = {"guests": [{"email": "third@example.org"}]}
    stage.desk.post(f"{stage.path}/zones/{stage.zone('Lounge')}/guests", on_list)
    assert refused(evening, membership=MEMBER, seats=seats)[:2] == (403, "zone_access_denied")
    made = evening.issue(membership=MEMBER, seats=seats[:3])["items"]
    flags = {ticket["seat_id"]: set(ticket["flags"]) for ticket in made}
    assert flags == {"L-1": {"membership", "vip"}, "L-2": {"membership", "vip"}, "L-3": {"exempt", "vip"}}
    live(evening)
    assert [verdict(office, evening, ticket) for ticket in made] == [Reason.ADMITTED] * 3


def test_box_office_lets_somebody_in_and_says_why(evening: Evening, office: Office) -> None:
    ticket = evening.issue(override="guest of the director", **on("L-5", "X-1"))["items"][0]
    assert "exempt" in ticket["flags"]
    with office.database.reading() as session:
        why = session.execute(text("SELECT reason FROM audit_lines WHERE action = 'tickets_issued'")).scalars().all()
    assert why == ["guest of the director"]
    live(evening)
    assert verdict(office, evening, ticket) is Reason.ADMITTED


def test_revoked_membership_is_refused_at_the_gate_and_a_renewed_one_admitted(
    stage: Stage, evening: Evening, office: Office
) -> None:
    lounge, stalls_ = (evening.issue(membership=MEMBER, **on(seat))["items"][0] for seat in ("L-1", "A-1"))
    live(evening)
    assert verdict(office, evening, lounge) is Reason.ADMITTED
    body = {"reason": "fees not paid"}
    assert stage.desk.post("/api/memberships/m-1/revoke", body, 200) == {"tickets": 2}
    assert row(office, evening, lounge["number"]).membership_state is MembershipState.REVOKED
    assert verdict(office, evening, lounge) is Reason.MEMBERSHIP_EXPIRED
    assert verdict(office, evening, stalls_) is Reason.ADMITTED, "the stalls ask nobody for a membership"
    until = {"until": office.now + HOUR}
    assert stage.desk.post("/api/memberships/m-1/renew", until, 200) == {"tickets": 2}
    assert verdict(office, evening, lounge) is Reason.ADMITTED
    office.advance(HOUR)
    assert verdict(office, evening, lounge) is Reason.MEMBERSHIP_EXPIRED


def test_membership_of_another_organisation_is_unknown(stage: Stage, evening: Evening, office: Office) -> None:
    evening.issue(membership=MEMBER, **on("L-1"))
    stranger = office.desk(office.organisation("rival"))
    assert stranger.refused("POST", "/api/memberships/m-1/revoke", {}) == (404, "membership_not_found")
    assert stage.desk.refused("POST", "/api/memberships/m-2/revoke", {}) == (404, "membership_not_found")
