"""Members' zones: who may be given a ticket, what gates are told of it, and what a revoked membership means there."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from shared.reasons import Reason
from shared.snapshot import MembershipState, RowKind, TicketRow
from shared.tickets import ReadTicket, TicketFlags, read
from tests.builders import HOUR
from tests.contracts.seating.stage import Stage, a_layout, a_seat, a_stage, at_the_gate, stalls
from tests.contracts.seating.test_tickets_on_seats import an_evening_on, on, organisation_of, refused
from tests.office import Desk, Evening, Office

MEMBER = {"id": "m-1"}
MEMBERSHIPS = "/api/memberships"


@pytest.fixture
def stage(office: Office, desk: Desk) -> Stage:
    """Stalls for all, a lounge for friends of the house, a box for those on its list; and one friend."""
    desk.patch("/api/organisation/seating-policy", {"allow_vip_zones": True})
    lounge = {"name": "Lounge", "zone_type": "vip_reserved", "access_mode": "membership_tier"}
    lounge |= {"membership_tier": "friends", "seats": [a_seat("L", n) for n in range(1, 7)]}
    box = {"name": "Box", "zone_type": "reserved_seating", "access_mode": "whitelist", "seats": [a_seat("X", 1)]}
    made = a_stage(office, desk, a_layout(zones=[stalls(), lounge, box]))
    made.choose()
    desk.post(MEMBERSHIPS, {"id": "m-1", "tier": "friends"})
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


def test_member_sits_in_the_lounge_and_others_do_not(stage: Stage, evening: Evening, office: Office) -> None:
    for id, tier, until in (("p-1", "press", None), ("m-0", "friends", office.now)):
        stage.desk.post(MEMBERSHIPS, {"id": id, "tier": tier, "until": until})
    assert refused(evening, **on("L-1"))[:2] == (403, "zone_access_denied")
    assert refused(evening, membership={"id": "p-1"}, **on("L-1"))[:2] == (403, "zone_access_denied")
    assert refused(evening, membership={"id": "m-0"}, **on("L-1"))[:2] == (403, "zone_access_denied"), "it is over"
    assert refused(evening, membership={"tier": "friends"}, **on("L-1"))[:2] == (403, "zone_access_denied")
    assert refused(evening, membership={"id": "m-9"}, **on("L-1"))[:2] == (400, "membership_not_found")
    assert refused(evening, membership={"id": "m-1", "tier": "press"}, **on("L-1"))[:2] == (400, "membership_differs")
    ticket = evening.issue(membership=MEMBER, **on("L-1"))["items"][0]
    assert set(ticket["flags"]) == {"membership", "vip"} and ticket["associated_membership_id"] == "m-1"
    code = read(evening.code(ticket), office.ring(evening.number))
    assert isinstance(code, ReadTicket) and code.ticket.flags == TicketFlags.MEMBERSHIP | TicketFlags.VIP


def test_three_friends_of_a_member_are_members_or_on_the_list(stage: Stage, evening: Evening, office: Office) -> None:
    seats = [
        {"seat_id": "L-1"},
        {"seat_id": "L-2", "membership": {"id": "m-2"}},
        {"seat_id": "L-3", "guest": {"email": "third@example.org"}},
        {"seat_id": "L-4", "guest": {"email": "fourth@example.org"}},
    ]
    stage.desk.post(MEMBERSHIPS, {"id": "m-2", "tier": "friends"})
    on_list = {"guests": [{"email": "third@example.org"}]}
    stage.desk.post(f"{stage.path}/zones/{stage.zone('Lounge')}/guests", on_list)
    assert refused(evening, membership=MEMBER, seats=seats)[:2] == (403, "zone_access_denied")
    assert refused(evening, membership=MEMBER, **on("L-1", "L-5"))[:2] == (403, "zone_access_denied"), "one guest each"
    made = evening.issue(membership=MEMBER, seats=seats[:3])["items"]
    flags = {ticket["seat_id"]: set(ticket["flags"]) for ticket in made}
    assert flags == {"L-1": {"membership", "vip"}, "L-2": {"membership", "vip"}, "L-3": {"exempt", "vip"}}
    assert refused(evening, membership=MEMBER, **on("L-6"))[:2] == (403, "zone_access_denied"), "nor a second time"
    live(evening)
    assert [verdict(office, evening, ticket) for ticket in made] == [Reason.ADMITTED] * 3
    stage.desk.post(f"/api/tickets/{made[0]['id']}/cancel", {}, 200)
    evening.issue(membership=MEMBER, **on("L-1"))


def test_memberships_are_granted_listed_and_known_by_their_cards(stage: Stage, office: Office) -> None:
    made = stage.desk.post(MEMBERSHIPS, {"tier": "press", "until": office.now + HOUR})
    assert stage.desk.refused("POST", MEMBERSHIPS, {"id": "m-1", "tier": "press"}) == (409, "membership_exists")
    assert stage.desk.refused("POST", MEMBERSHIPS, {"id": "a/b", "tier": "press"})[0] == 400
    shown = stage.desk.get(f"{MEMBERSHIPS}/{made['id']}")
    assert shown | {"card": made["card"]} == made and shown["state"] == "active"
    assert [each["id"] for each in stage.desk.get(f"{MEMBERSHIPS}?tier=friends")["items"]] == ["m-1"]
    first = stage.desk.get(f"{MEMBERSHIPS}?limit=1")
    assert len(stage.desk.get(f"{MEMBERSHIPS}?limit=1&after={first['next']}")["items"]) == 1
    office.advance(HOUR)
    assert stage.desk.get(f"{MEMBERSHIPS}/{made['id']}")["state"] == "over"
    stage.desk.post(f"{MEMBERSHIPS}/{made['id']}/revoke", {}, 200)
    assert [each["id"] for each in stage.desk.get(f"{MEMBERSHIPS}?state=revoked")["items"]] == [made["id"]]
    with office.database.reading() as session:
        tables = ("tier_memberships", "audit_lines", "outbox", "idempotency_keys")
        kept = str([session.execute(text(f"SELECT * FROM {table}")).all() for table in tables])
    assert made["card"] not in kept and made["card"].replace("-", "") not in kept


def test_member_holds_a_seat_with_the_card_that_is_good(stage: Stage, evening: Evening, office: Office) -> None:
    def reserve(who: Desk, seat: str, **said: str) -> tuple[int, str]:
        answer = who.ask("POST", f"{evening.path}/seats/{ids[seat]}/reserve", said)
        return answer.status_code, answer.json["error"]["code"] if answer.status_code > 299 and answer.json else ""

    with office.database.reading() as session:
        ids = {row.seat_id: row.id for row in session.execute(text("SELECT seat_id, id FROM layout_seats"))}
    live(evening)
    client = office.app.test_client()
    token = client.post("/api/o/marquee/session").json["csrf_token"]  # type: ignore[index]
    guest = Desk(client, {"X-CSRF-Token": token})
    lost = stage.desk.post(f"{MEMBERSHIPS}/m-1/card")["card"]
    card = stage.desk.post(f"{MEMBERSHIPS}/m-1/card")["card"]
    assert reserve(guest, "L-1") == (403, "sign_in_required")
    best = {"best": 1, "zone_ids": [stage.zone("Lounge")]}
    assert guest.refused("POST", f"{evening.path}/holds", best) == (403, "sign_in_required"), "it is not sold out"
    for wrong in ("m-1", lost):
        assert reserve(guest, "L-1", membership=wrong) == (400, "membership_not_found")
    assert reserve(guest, "L-1", membership=card.upper()) == (201, "")
    assert reserve(stage.desk, "L-2", membership="m-1") == (201, ""), "the box office knows its members"
    stage.desk.post(f"{MEMBERSHIPS}/m-1/revoke", {}, 200)
    assert reserve(guest, "L-3", membership=card) == (403, "zone_access_denied")
    stranger = office.desk(office.organisation("rival"))
    other = stranger.post(MEMBERSHIPS, {"id": "m-1", "tier": "friends"})["card"]
    assert reserve(guest, "L-3", membership=other) == (400, "membership_not_found")


def test_zone_for_some_roles_is_sold_by_them_and_by_nobody_else(stage: Stage, evening: Evening, office: Office) -> None:
    crew = {"access_mode": "role_based", "allowed_roles": ["admin"]}
    stage.choose(zone_overrides={stage.zone("Box"): crew})
    desks = {}
    for role in ("admin", "staff"):
        office.user(f"{role}@marquee.example", organisation_of(office), role)
        desks[role] = office.browser(f"{role}@marquee.example")
    body = {"ticket_type": 1, **on("X-1")}
    for wrong in (body, body | {"override": "he asked nicely"}):
        for desk in (desks["staff"], stage.desk):
            assert desk.refused("POST", f"{evening.path}/tickets", wrong) == (403, "zone_access_denied")
    ticket = desks["admin"].post(f"{evening.path}/tickets", body)["items"][0]
    assert ticket["flags"] == ["exempt"]
    live(evening)
    assert verdict(office, evening, ticket) is Reason.ADMITTED


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


def test_membership_of_another_organisation_is_unknown(stage: Stage, office: Office) -> None:
    stranger = office.desk(office.organisation("rival"))
    assert stranger.refused("GET", "/api/memberships/m-1") == (404, "membership_not_found")
    assert stranger.get(MEMBERSHIPS)["items"] == []
    assert stranger.refused("POST", "/api/memberships/m-1/revoke", {}) == (404, "membership_not_found")
    assert stage.desk.refused("POST", "/api/memberships/m-2/revoke", {}) == (404, "membership_not_found")
