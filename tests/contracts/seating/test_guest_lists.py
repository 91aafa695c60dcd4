"""Lists of guests say who may sit in a zone that is not open to all; nothing personal is kept of them."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from sqlalchemy import text

from sync_server.seating import access, queries
from sync_server.seating.access import Bearer, Named
from sync_server.seating.offers import Refused
from sync_server.seating.overlay import event_zones
from sync_server.seating.rules import Ground, Visitor
from tests.contracts.seating.stage import Stage, a_layout, a_stage, floor, stalls
from tests.office import Desk, Office

LOUNGE = stalls(rows="L", width=4, name="Lounge", access_mode="membership_tier", membership_tier="friends")


@pytest.fixture
def stage(office: Office, desk: Desk) -> Stage:
    """An event with a lounge for members."""
    made = a_stage(office, desk, a_layout(zones=[stalls(), LOUNGE, floor()]))
    made.choose()
    return made


def guests(stage: Stage) -> str:
    return f"{stage.path}/zones/{stage.zone('Lounge')}/guests"


def ground(office: Office, stage: Stage, bearer: Bearer, zone: str = "Lounge") -> Ground | Refused:
    """By what right this guest sits there."""
    with office.database.reading() as session:
        organisation = stage.layout["organisation_id"] if "organisation_id" in stage.layout else _organisation(session)
        row = queries.event_layout(session, organisation, stage.event["id"])
        open_zones = event_zones(queries.zones(session, row.layout_id), queries.deltas(row), {})
        found = access.grounds(session, organisation, stage.event["id"], bearer, open_zones)
        return found[next(each.number for each in open_zones if each.name == zone)]


def _organisation(session: Any) -> str:
    return str(session.execute(text("SELECT organisation_id FROM event_layouts")).scalars().first())


def known_by(office: Office, named: Named, words: str) -> Bearer:
    with office.database.reading() as session:
        return Bearer(Visitor(), frozenset({access.name(office.parts.sealer, _organisation(session), named, words)}))


def test_friend_sits_in_the_lounge_once_the_member_has_named_him(stage: Stage, office: Office) -> None:
    friend = known_by(office, Named.EMAIL, "Friend@Example.org ")
    assert isinstance(ground(office, stage, friend), Refused)
    stage.desk.post(guests(stage), {"guests": [{"email": "friend@example.org"}, {"code": "OPEN SESAME"}]})
    assert ground(office, stage, friend) is Ground.LIST
    assert ground(office, stage, known_by(office, Named.CODE, "open sesame")) is Ground.LIST
    assert ground(office, stage, known_by(office, Named.CODE, "close sesame")) != Ground.LIST
    assert ground(office, stage, Bearer(), "Stalls") is Ground.OPEN


def test_guest_who_is_taken_off_the_list_is_a_stranger_again(stage: Stage, office: Office) -> None:
    body = {"guests": [{"customer_id": "c-1"}]}
    assert stage.desk.post(guests(stage), body)["changed"] == 1
    assert stage.desk.post(guests(stage), body)["changed"] == 0
    assert stage.desk.post(f"{guests(stage)}/remove", body, 200)["changed"] == 1
    assert isinstance(ground(office, stage, known_by(office, Named.CUSTOMER, "c-1")), Refused)


def test_file_of_guests_is_read_whole_or_not_at_all(stage: Stage) -> None:
    def sent(body: bytes) -> Any:
        return stage.desk.client.post(f"{guests(stage)}/import", data=body, headers=stage.desk.headers)

    wrong = sent(b"email;code\nada@example.org;\nnobody;\n;short\n")
    assert wrong.status_code == 400 and wrong.json["error"]["code"] == "invalid_list"
    assert [each["place"] for each in wrong.json["error"]["details"]["mistakes"]] == ["line 3, email", "line 4, code"]
    assert stage.desk.get(guests(stage))["items"] == []
    assert sent(b"\xff").status_code == 400
    assert sent(b"email\n").status_code == 400
    assert sent(b"email;code\nada@example.org;\n;long enough\n").json == {"changed": 2}


def test_list_is_read_page_by_page_and_names_nobody(stage: Stage, office: Office) -> None:
    stage.desk.post(guests(stage), {"guests": [{"email": f"guest{n}@example.org"} for n in range(5)]})
    first = stage.desk.get(f"{guests(stage)}?limit=3")
    rest = stage.desk.get(f"{guests(stage)}?limit=3&after={first['next']}")
    assert len(first["items"]) == 3 and len(rest["items"]) == 2 and rest["next"] is None
    with office.database.reading() as session:
        tables = ("zone_guests", "audit_lines", "outbox")
        kept = [str(row) for table in tables for row in session.execute(text(f"SELECT * FROM {table}"))]
        house = _organisation(session)
        marks = session.execute(text("SELECT key FROM zone_guests")).scalars().all()
    assert not [row for row in kept if "guest1@" in row or "example.org" in row]
    plain = "guest1@example.org"
    guessed = [hashlib.sha256(f"{before}{plain}".encode()).hexdigest() for before in ("", f"gatehouse/email/{house}/")]
    assert len(marks) == 5 and not set(marks) & set(guessed), "without the master key nobody tries addresses out"
    assert access.key(office.parts.sealer, house, Named.EMAIL, plain) in marks


def test_list_belongs_to_a_zone_of_the_event_and_to_its_organisation(stage: Stage, office: Office) -> None:
    body = {"guests": [{"customer_id": "c-1"}]}
    nowhere = f"{stage.path}/zones/nowhere/guests"
    assert stage.desk.refused("POST", nowhere, body) == (404, "zone_not_found")
    stranger = office.desk(office.organisation("rival"))
    for method, path in (("GET", guests(stage)), ("POST", guests(stage)), ("POST", f"{guests(stage)}/remove")):
        assert stranger.refused(method, path, None if method == "GET" else body)[0] == 404
    assert stage.desk.refused("POST", guests(stage), {"guests": [{"email": "a@b.c", "code": "sesame"}]})[0] == 400
