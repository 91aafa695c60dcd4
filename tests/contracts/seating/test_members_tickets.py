"""Members' zones: who may get a ticket, what gates check, and what revoking a membership changes."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from shared.reasons import Reason
from shared.tickets import ReadTicket, TicketFlags, read
from shared.wire.snapshot import MembershipState, RowKind, TicketRow
from tests.app_server import ApiClient, AppServer, Concert
from tests.builders import HOUR
from tests.contracts.seating.stage import Stage, a_layout, a_seat, a_stage, at_the_gate, stalls
from tests.contracts.seating.test_tickets_on_seats import an_evening_on, on, organisation_of, refused

MEMBER = {"id": "m-1"}
MEMBERSHIPS = "/api/memberships"


@pytest.fixture
def stage(app_server: AppServer, api: ApiClient) -> Stage:
    """Public stalls, a lounge for the tier friends, a box for those on its list; and one member."""
    api.patch("/api/organisation/seating-policy", {"allow_vip_zones": True})
    lounge = {"name": "Lounge", "zone_type": "vip_reserved", "access_mode": "membership_tier"}
    lounge |= {"membership_tier": "friends", "seats": [a_seat("L", n) for n in range(1, 7)]}
    box = {"name": "Box", "zone_type": "reserved_seating", "access_mode": "whitelist", "seats": [a_seat("X", 1)]}
    made = a_stage(app_server, api, a_layout(zones=[stalls(), lounge, box]))
    made.choose()
    api.post(MEMBERSHIPS, {"id": "m-1", "tier": "friends"})
    return made


@pytest.fixture
def concert(stage: Stage) -> Concert:
    return an_evening_on(stage)


def row(app_server: AppServer, concert: Concert, number: str) -> TicketRow:
    return next(row for row in app_server.gate_rows_of(concert.number, RowKind.TICKET) if row.number == number)


def verdict(app_server: AppServer, concert: Concert, ticket: dict[str, str]) -> Reason:
    """The decision of a gate about the ticket's code."""
    return at_the_gate(app_server, concert, ticket, concert.code(ticket))


def live(concert: Concert) -> None:
    for step in ("publish", "go-live"):
        concert.api.post(f"{concert.path}/{step}", {}, 200)


def test_only_members_may_book_in_the_lounge(stage: Stage, concert: Concert, app_server: AppServer) -> None:
    for id, tier, until in (("p-1", "press", None), ("m-0", "friends", app_server.now)):
        stage.api.post(MEMBERSHIPS, {"id": id, "tier": tier, "until": until})
    assert refused(concert, **on("L-1"))[:2] == (403, "zone_access_denied")
    assert refused(concert, membership={"id": "p-1"}, **on("L-1"))[:2] == (403, "zone_access_denied")
    assert refused(concert, membership={"id": "m-0"}, **on("L-1"))[:2] == (403, "zone_access_denied"), "it has expired"
    assert refused(concert, membership={"tier": "friends"}, **on("L-1"))[:2] == (403, "zone_access_denied")
    assert refused(concert, membership={"id": "m-9"}, **on("L-1"))[:2] == (400, "membership_not_found")
    assert refused(concert, membership={"id": "m-1", "tier": "press"}, **on("L-1"))[:2] == (400, "membership_differs")
    ticket = concert.issue(membership=MEMBER, **on("L-1"))["items"][0]
    assert set(ticket["flags"]) == {"membership", "vip"} and ticket["associated_membership_id"] == "m-1"
    code = read(concert.code(ticket), app_server.key_ring(concert.number))
    assert isinstance(code, ReadTicket) and code.ticket.flags == TicketFlags.MEMBERSHIP | TicketFlags.VIP


def test_friends_of_a_member_are_members_or_on_the_list(stage: Stage, concert: Concert, app_server: AppServer) -> None:
    seats = [
        {"seat_id": "L-1"},
        {"seat_id": "L-2", "membership": {"id": "m-2"}},
        {"seat_id": "L-3", "guest": {"email": "third@example.org"}},
        {"seat_id": "L-4", "guest": {"email": "fourth@example.org"}},
    ]
    stage.api.post(MEMBERSHIPS, {"id": "m-2", "tier": "friends"})
    on_list = {"guests": [{"email": "third@example.org"}]}
    stage.api.post(f"{stage.path}/zones/{stage.zone('Lounge')}/guests", on_list)
    assert refused(concert, membership=MEMBER, seats=seats)[:2] == (403, "zone_access_denied")
    assert refused(concert, membership=MEMBER, **on("L-1", "L-5"))[:2] == (403, "zone_access_denied"), "one guest each"
    made = concert.issue(membership=MEMBER, seats=seats[:3])["items"]
    flags = {ticket["seat_id"]: set(ticket["flags"]) for ticket in made}
    assert flags == {"L-1": {"membership", "vip"}, "L-2": {"membership", "vip"}, "L-3": {"exempt", "vip"}}
    assert refused(concert, membership=MEMBER, **on("L-6"))[:2] == (403, "zone_access_denied"), "nor a second time"
    live(concert)
    assert [verdict(app_server, concert, ticket) for ticket in made] == [Reason.ADMITTED] * 3
    stage.api.post(f"/api/tickets/{made[0]['id']}/cancel", {}, 200)
    concert.issue(membership=MEMBER, **on("L-1"))


def test_memberships_are_granted_and_listed(stage: Stage, app_server: AppServer) -> None:
    made = stage.api.post(MEMBERSHIPS, {"tier": "press", "until": app_server.now + HOUR})
    assert stage.api.refused("POST", MEMBERSHIPS, {"id": "m-1", "tier": "press"}) == (409, "membership_exists")
    assert stage.api.refused("POST", MEMBERSHIPS, {"id": "a/b", "tier": "press"})[0] == 400
    shown = stage.api.get(f"{MEMBERSHIPS}/{made['id']}")
    assert shown | {"card": made["card"]} == made and shown["state"] == "active"
    assert [each["id"] for each in stage.api.get(f"{MEMBERSHIPS}?tier=friends")["items"]] == ["m-1"]
    first = stage.api.get(f"{MEMBERSHIPS}?limit=1")
    assert len(stage.api.get(f"{MEMBERSHIPS}?limit=1&after={first['next']}")["items"]) == 1
    app_server.advance(HOUR)
    assert stage.api.get(f"{MEMBERSHIPS}/{made['id']}")["state"] == "over"
    stage.api.post(f"{MEMBERSHIPS}/{made['id']}/revoke", {}, 200)
    assert [each["id"] for each in stage.api.get(f"{MEMBERSHIPS}?state=revoked")["items"]] == [made["id"]]
    with app_server.database.reading() as session:
        tables = ("tier_memberships", "audit_lines", "outbox", "idempotency_keys")
        stored = str([session.execute(text(f"SELECT * FROM {table}")).all() for table in tables])
    assert made["card"] not in stored and made["card"].replace("-", "") not in stored


def test_member_holds_a_seat_with_a_valid_card(stage: Stage, concert: Concert, app_server: AppServer) -> None:
    def reserve(who: ApiClient, seat: str, **said: str) -> tuple[int, str]:
        answer = who.ask("POST", f"{concert.path}/seats/{ids[seat]}/reserve", said)
        return answer.status_code, answer.json["error"]["code"] if answer.status_code > 299 and answer.json else ""

    with app_server.database.reading() as session:
        ids = {row.seat_id: row.id for row in session.execute(text("SELECT seat_id, id FROM layout_seats"))}
    live(concert)
    client = app_server.app.test_client()
    token = client.post("/api/o/marquee/session").json["csrf_token"]  # type: ignore[index]
    guest = ApiClient(client, {"X-CSRF-Token": token})
    lost = stage.api.post(f"{MEMBERSHIPS}/m-1/card")["card"]
    card = stage.api.post(f"{MEMBERSHIPS}/m-1/card")["card"]
    assert reserve(guest, "L-1") == (403, "sign_in_required")
    best = {"best": 1, "zone_ids": [stage.zone("Lounge")]}
    assert guest.refused("POST", f"{concert.path}/holds", best) == (403, "sign_in_required"), "it is not sold out"
    for wrong in ("m-1", lost):
        assert reserve(guest, "L-1", membership=wrong) == (400, "membership_not_found")
    assert reserve(guest, "L-1", membership=card.upper()) == (201, "")
    assert reserve(stage.api, "L-2", membership="m-1") == (409, "membership_in_use"), "it admits one guest"
    held = guest.get("/api/me/holds")["data"]["holds"][0]["hold_id"]
    assert guest.ask("DELETE", f"/api/holds/{held}").status_code == 204
    assert reserve(stage.api, "L-1", membership="m-1") == (201, ""), "the box office knows its members"
    stage.api.post(f"{MEMBERSHIPS}/m-1/revoke", {}, 200)
    assert reserve(guest, "L-3", membership=card) == (403, "zone_access_denied")
    stranger = app_server.api(app_server.organisation("rival"))
    other = stranger.post(MEMBERSHIPS, {"id": "m-1", "tier": "friends"})["card"]
    assert reserve(guest, "L-3", membership=other) == (400, "membership_not_found")


def test_zone_for_roles_is_only_sold_by_those_roles(stage: Stage, concert: Concert, app_server: AppServer) -> None:
    crew = {"access_mode": "role_based", "allowed_roles": ["admin"]}
    stage.choose(zone_overrides={stage.zone("Box"): crew})
    browsers = {}
    for role in ("admin", "staff"):
        app_server.user(f"{role}@marquee.example", organisation_of(app_server), role)
        browsers[role] = app_server.browser(f"{role}@marquee.example")
    body = {"ticket_type": 1, **on("X-1")}
    for wrong in (body, body | {"override": "he asked nicely"}):
        for api in (browsers["staff"], stage.api):
            assert api.refused("POST", f"{concert.path}/tickets", wrong) == (403, "zone_access_denied")
    ticket = browsers["admin"].post(f"{concert.path}/tickets", body)["items"][0]
    assert ticket["flags"] == ["exempt"]
    live(concert)
    assert verdict(app_server, concert, ticket) is Reason.ADMITTED


def test_box_office_overrides_with_a_reason(concert: Concert, app_server: AppServer) -> None:
    ticket = concert.issue(override="guest of the director", **on("L-5", "X-1"))["items"][0]
    assert "exempt" in ticket["flags"]
    with app_server.database.reading() as session:
        why = session.execute(text("SELECT reason FROM audit_lines WHERE action = 'tickets_issued'")).scalars().all()
    assert why == ["guest of the director"]
    live(concert)
    assert verdict(app_server, concert, ticket) is Reason.ADMITTED


def test_revoked_membership_is_refused_at_the_gate_and_a_renewed_one_admitted(
    stage: Stage, concert: Concert, app_server: AppServer
) -> None:
    lounge, stalls_ = (concert.issue(membership=MEMBER, **on(seat))["items"][0] for seat in ("L-1", "A-1"))
    live(concert)
    assert verdict(app_server, concert, lounge) is Reason.ADMITTED
    body = {"reason": "fees not paid"}
    assert stage.api.post("/api/memberships/m-1/revoke", body, 200) == {"tickets": 2}
    assert row(app_server, concert, lounge["number"]).membership_state is MembershipState.REVOKED
    assert verdict(app_server, concert, lounge) is Reason.MEMBERSHIP_EXPIRED
    assert verdict(app_server, concert, stalls_) is Reason.ADMITTED, "the stalls need no membership"
    until = {"until": app_server.now + HOUR}
    assert stage.api.post("/api/memberships/m-1/renew", until, 200) == {"tickets": 2}
    assert verdict(app_server, concert, lounge) is Reason.ADMITTED
    app_server.advance(HOUR)
    assert verdict(app_server, concert, lounge) is Reason.MEMBERSHIP_EXPIRED


def test_membership_of_another_organisation_is_unknown(stage: Stage, app_server: AppServer) -> None:
    stranger = app_server.api(app_server.organisation("rival"))
    assert stranger.refused("GET", "/api/memberships/m-1") == (404, "membership_not_found")
    assert stranger.get(MEMBERSHIPS)["items"] == []
    assert stranger.refused("POST", "/api/memberships/m-1/revoke", {}) == (404, "membership_not_found")
    assert stage.api.refused("POST", "/api/memberships/m-2/revoke", {}) == (404, "membership_not_found")
