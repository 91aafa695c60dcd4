"""Guest lists say who may book in a zone that is not public; they store nothing personal."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from sqlalchemy import text

from sync_server.seating import queries
from sync_server.seating.layouts.overlay import event_zones
from sync_server.seating.rules import Entitlement, Visitor
from sync_server.seating.search.offers import Refusal
from sync_server.seating.zone_access import entitlements
from sync_server.seating.zone_access.entitlements import Bearer, GuestIdKind
from tests.app_server import ApiClient, AppServer
from tests.contracts.seating.stage import Stage, a_layout, a_stage, floor, stalls

LOUNGE = stalls(rows="L", width=4, name="Lounge", access_mode="membership_tier", membership_tier="friends")


@pytest.fixture
def stage(app_server: AppServer, api: ApiClient) -> Stage:
    """An event with a lounge for members."""
    made = a_stage(app_server, api, a_layout(zones=[stalls(), LOUNGE, floor()]))
    made.choose()
    return made


def guests(stage: Stage) -> str:
    return f"{stage.path}/zones/{stage.zone('Lounge')}/guests"


def entitlement(app_server: AppServer, stage: Stage, bearer: Bearer, zone: str = "Lounge") -> Entitlement | Refusal:
    """What entitles this guest to sit in the zone, or why they may not."""
    with app_server.database.reading() as session:
        organisation = stage.layout["organisation_id"] if "organisation_id" in stage.layout else _organisation(session)
        row = queries.event_layout(session, organisation, stage.event["id"])
        open_zones = event_zones(queries.zones(session, organisation, row.layout_id), queries.deltas(row), {})
        found = entitlements.entitlements_by_zone(session, organisation, stage.event["id"], bearer, open_zones)
        return found[next(each.number for each in open_zones if each.name == zone)]


def _organisation(session: Any) -> str:
    return str(session.execute(text("SELECT organisation_id FROM event_layouts")).scalars().first())


def known_by(app_server: AppServer, kind: GuestIdKind, value: str) -> Bearer:
    with app_server.database.reading() as session:
        return Bearer(
            Visitor(),
            frozenset({entitlements.guest_key(app_server.parts.sealer, _organisation(session), kind, value)}),
        )


def test_friend_of_a_member_may_book_once_on_the_list(stage: Stage, app_server: AppServer) -> None:
    friend = known_by(app_server, GuestIdKind.EMAIL, "Friend@Example.org ")
    assert isinstance(entitlement(app_server, stage, friend), Refusal)
    stage.api.post(guests(stage), {"guests": [{"email": "friend@example.org"}, {"code": "OPEN SESAME"}]})
    assert entitlement(app_server, stage, friend) is Entitlement.LIST
    assert entitlement(app_server, stage, known_by(app_server, GuestIdKind.CODE, "open sesame")) is Entitlement.LIST
    assert entitlement(app_server, stage, known_by(app_server, GuestIdKind.CODE, "close sesame")) != Entitlement.LIST
    assert entitlement(app_server, stage, Bearer(), "Stalls") is Entitlement.OPEN


def test_guest_removed_from_the_list_may_no_longer_book(stage: Stage, app_server: AppServer) -> None:
    body = {"guests": [{"customer_id": "c-1"}]}
    assert stage.api.post(guests(stage), body)["changed"] == 1
    assert stage.api.post(guests(stage), body)["changed"] == 0
    assert stage.api.post(f"{guests(stage)}/remove", body, 200)["changed"] == 1
    assert isinstance(entitlement(app_server, stage, known_by(app_server, GuestIdKind.CUSTOMER, "c-1")), Refusal)


def test_file_of_guests_is_imported_as_a_whole_or_not_at_all(stage: Stage) -> None:
    def sent(body: bytes) -> Any:
        return stage.api.client.post(f"{guests(stage)}/import", data=body, headers=stage.api.headers)

    wrong = sent(b"email;code\nada@example.org;\nnobody;\n;short\n")
    assert wrong.status_code == 400 and wrong.json["error"]["code"] == "invalid_list"
    assert [each["place"] for each in wrong.json["error"]["details"]["mistakes"]] == ["line 3, email", "line 4, code"]
    assert stage.api.get(guests(stage))["items"] == []
    assert sent(b"\xff").status_code == 400
    assert sent(b"email\n").status_code == 400
    assert sent(b"email;code\nada@example.org;\n;long enough\n").json == {"changed": 2}


def test_list_has_pages_and_names_nobody(stage: Stage, app_server: AppServer) -> None:
    stage.api.post(guests(stage), {"guests": [{"email": f"guest{n}@example.org"} for n in range(5)]})
    first = stage.api.get(f"{guests(stage)}?limit=3")
    rest = stage.api.get(f"{guests(stage)}?limit=3&after={first['next']}")
    assert len(first["items"]) == 3 and len(rest["items"]) == 2 and rest["next"] is None
    with app_server.database.reading() as session:
        tables = ("zone_guests", "audit_lines", "outbox")
        stored = [str(row) for table in tables for row in session.execute(text(f"SELECT * FROM {table}"))]
        organisation = _organisation(session)
        hashes = session.execute(text("SELECT key FROM zone_guests")).scalars().all()
    assert not [row for row in stored if "guest1@" in row or "example.org" in row]
    plain = "guest1@example.org"
    guessed = [
        hashlib.sha256(f"{before}{plain}".encode()).hexdigest() for before in ("", f"gatehouse/email/{organisation}/")
    ]
    assert len(hashes) == 5 and not set(hashes) & set(guessed), "without the master key nobody can test addresses"
    assert entitlements.stored_key(app_server.parts.sealer, organisation, GuestIdKind.EMAIL, plain) in hashes


def test_list_belongs_to_a_zone_of_the_event_and_its_organisation(stage: Stage, app_server: AppServer) -> None:
    body = {"guests": [{"customer_id": "c-1"}]}
    nowhere = f"{stage.path}/zones/nowhere/guests"
    assert stage.api.refused("POST", nowhere, body) == (404, "zone_not_found")
    stranger = app_server.api(app_server.organisation("rival"))
    for method, path in (("GET", guests(stage)), ("POST", guests(stage)), ("POST", f"{guests(stage)}/remove")):
        assert stranger.refused(method, path, None if method == "GET" else body)[0] == 404
    assert stage.api.refused("POST", guests(stage), {"guests": [{"email": "a@b.c", "code": "sesame"}]})[0] == 400
