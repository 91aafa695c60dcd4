"""Every address of the server with every role, at home and in a foreign house, against the one table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy import text
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from sync_server.accounts.doors import DOORS, OPEN_TOO, Who
from sync_server.accounts.rules import GUEST, IMPLIED, POLICY
from sync_server.plumbing.principals import Action
from sync_server.plumbing.tables import Base
from sync_server.plumbing.web import asked_for
from tests.builders import a_gate, a_zone
from tests.contracts.server.bodies import Bodies
from tests.office import Desk, Office, an_evening

METHODS = ("GET", "PUT", "PATCH", "POST", "DELETE")
PLATFORM = ("super_admin", "tenant_manager")
FROM_OUTSIDE = {"X-Reason": "asked by the tenant", "X-Tenant-Approval": "mail of 4 July"}
READ_FIRST = {"seating.read_file", "seating.create", "seating.redraw", "seating.add_version"}
"""Drawings are checked before anything is looked up; a bad one is told to whoever sent it, and nothing else is."""
LAST = ("revoke", "cancel", "archive", "walk")
"""Steps after which the house is no longer what it was."""
NO_ROLES = {Who.GATE, Who.GUEST}
SIGNING = {"sign_in", "sign_out", "chosen", "choose_organisation"}
"""After these one is somebody else."""


@dataclass(frozen=True)
class Address:
    """One method of one address."""

    method: str
    rule: Rule
    action: Action | None

    @property
    def endpoint(self) -> str:
        return self.rule.endpoint

    def __str__(self) -> str:
        return f"{self.method} {self.rule.rule} ({self.endpoint})"


def addresses(office: Office) -> list[Address]:
    """All there are, what destroys last."""
    views = office.app.view_functions
    found = [
        Address(method, rule, asked_for(views[rule.endpoint]))
        for rule in office.app.url_map.iter_rules()
        for method in METHODS
        if method in (rule.methods or ())
    ]

    def turn(one: Address) -> tuple[bool, int, str]:
        return one.rule.rule.endswith(LAST), METHODS.index(one.method), one.rule.rule

    return sorted(found, key=turn)


class House:
    """One organisation with one of everything that addresses can name."""

    def __init__(self, office: Office, slug: str = "marquee") -> None:
        self.office = office
        self.organisation = office.organisation(slug)
        self.desk = desk = office.desk(self.organisation)
        evening = an_evening(desk)
        desk.post(f"/api/venues/{evening.venue['id']}/gates", a_gate())
        desk.post(f"{evening.path}/zones", a_zone())
        device = desk.post("/api/devices", {"name": "North"})
        desk.post("/api/supervisors", {"name": "Sue", "pin": "271828"})
        token = desk.post("/api/tokens", {"name": "box office", "scopes": ["read"]})
        with office.database.reading() as session:
            facts = text("SELECT message_id FROM outbox WHERE organisation_id = :organisation")
            message = session.execute(facts, {"organisation": self.organisation}).scalars().first()
        self.ids: dict[str, str] = {
            "event_id": evening.event["id"],
            "venue_id": evening.venue["id"],
            "ticket_id": evening.ticket()["id"],
            "device_id": device["id"],
            "token_id": token["id"],
            "user_id": office.user(f"stan@{slug}.example", self.organisation, "staff"),
            "key_id": str(desk.get("/api/keys")["items"][0]["id"]),
            "message_id": str(message),
            "number": "1",
        }
        self.bodies = Bodies(desk.get("/openapi.json"))

    def ask(self, desk: Desk, address: Address, **headers: str) -> TestResponse:
        """Ask at that address, about this house's things."""
        path = re.sub(r"<(?:\w+(?:\([^)]*\))?:)?(\w+)>", lambda gap: self.ids.get(gap[1], "1"), address.rule.rule)
        described = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", address.rule.rule)
        body = self.bodies.body(described, address.method, self.ids)
        path += "?" + urlencode(self.bodies.query(described, address.method, self.ids))
        if address.rule.rule.startswith("/admin/") and address.method == "POST":
            words = {"name": "South", "target": "cancelled", "note": "looked at", "reason": "storm"}
            form = words | {"csrf_token": desk.headers.get("X-CSRF-Token", "")}
            answer = desk.client.post(path, data=form, headers=desk.headers | headers)
        else:
            answer = desk.ask(address.method, path, body if address.method != "GET" else None, **headers)
        answer.close()
        return answer

    def knows(self, address: Address) -> bool:
        """Whether everything that the address names is there."""
        return bool(address.rule.arguments) and address.rule.arguments <= self.ids.keys()

    def everything(self) -> dict[str, list[Any]]:
        """All rows of the organisation; not what merely says that somebody was here."""
        with self.office.database.reading() as session:
            return {
                table.name: sorted(
                    map(repr, session.execute(table.select().where(table.c.organisation_id == self.organisation)))
                )
                for table in Base.metadata.tables.values()
                if "organisation_id" in table.c
            }


@pytest.fixture
def office(sqlite_url: str, tmp_path: Path) -> Iterator[Office]:
    """What a role may do is decided before any database is asked: one kind will do."""
    made = Office(sqlite_url, tmp_path)
    yield made
    made.close()


@pytest.fixture
def house(office: Office) -> House:
    return House(office)


def refused(answer: TestResponse) -> bool:
    """Whether the role was the reason: the one code word for it."""
    if answer.status_code != 403:
        return False
    return answer.json is None or answer.json["error"]["code"] == "forbidden"


def told(answer: TestResponse) -> str:
    """The answer in a line."""
    return f"{answer.status_code} {answer.json}"


def signed_in(house: House, role: str) -> Desk:
    """Somebody in this role, acting for the house."""
    office = house.office
    if role in PLATFORM:
        office.user(f"{role}@platform.example", platform=role)
        desk = office.browser(f"{role}@platform.example")
        assert desk.ask("POST", "/api/session/organisation", {"organisation_id": house.organisation}).status_code == 204
        return desk
    office.user(f"{role}@marquee.example", house.organisation, role)
    return office.browser(f"{role}@marquee.example")


def test_every_address_says_what_it_asks_for(office: Office) -> None:
    """An address that fails here lacks @requires(Action…), or an entry with its reason in accounts/doors.py."""
    unsaid = [str(one) for one in addresses(office) if one.action is None and one.endpoint not in DOORS]
    assert unsaid == []
    both = [str(one) for one in addresses(office) if one.action is not None and one.endpoint in DOORS]
    assert both == []
    known = {one.endpoint for one in addresses(office)}
    assert set(DOORS) - known == set(), "doors of addresses that are gone"


def test_nobody_gets_in_who_is_not_known(house: House) -> None:
    stranger = Desk(house.office.app.test_client(), {})
    for one in addresses(house.office):
        if one.action is None or (one.method == "GET" and one.endpoint in OPEN_TOO):
            continue
        answer = house.ask(stranger, one)
        if one.rule.rule.startswith("/admin/"):
            assert (answer.status_code, answer.location.split("?")[0]) == (302, "/admin/login"), str(one)
        else:
            assert answer.status_code == 401, f"{one}: {answer.status_code}"


@pytest.mark.parametrize("role", list(POLICY))
def test_a_role_does_what_the_table_says_and_nothing_else(house: House, role: str) -> None:
    desk = signed_in(house, role)
    for one in addresses(house.office):
        if one.endpoint.split(".")[-1] in SIGNING or (
            one.action is None and DOORS[one.endpoint].who in {Who.GATE, Who.GUEST}
        ):
            continue
        answer = house.ask(desk, one, **(FROM_OUTSIDE if role in PLATFORM else {}))
        allowed = one.action is None or one.action in POLICY[role]
        assert refused(answer) is not allowed, f"{role} {one}: {told(answer)}"
        if allowed:
            assert answer.status_code not in {401, 500}, f"{role} {one}: {told(answer)}"


def test_a_guest_of_the_shop_holds_seats_and_does_nothing_else(house: House) -> None:
    client = house.office.app.test_client()
    came = client.post("/api/o/marquee/session")
    assert came.json is not None
    told_token = next(value for name, value in came.json.items() if "csrf" in name)
    guest = Desk(client, {"X-CSRF-Token": told_token})
    for one in addresses(house.office):
        shown = one.method == "GET" and one.endpoint in OPEN_TOO
        if one.action is None or shown or one.rule.rule.startswith("/admin/"):
            continue
        answer = house.ask(guest, one)
        assert refused(answer) is (one.action not in GUEST), f"guest {one}: {told(answer)}"


@pytest.mark.parametrize("action", list(Action))
def test_a_token_does_what_its_one_scope_says_and_nothing_else(house: House, action: Action) -> None:
    desk = house.office.desk(house.organisation, [action.value])
    for one in addresses(house.office):
        if one.action is None or one.rule.rule.startswith("/admin/"):
            continue
        allowed = action in {one.action, IMPLIED.get(one.action)}
        answer = house.ask(desk, one)
        assert refused(answer) is not allowed, f"{action} {one}: {told(answer)}"


def test_what_belongs_to_others_is_not_there_for_the_mightiest_of_a_foreign_house(house: House) -> None:
    """404 like what does not exist; and whatever was sent, not a row of the house has changed.

    Where this fails with 400, tests/contracts/server/bodies.py does not know what a good body would be.
    """
    office = house.office
    foreign = office.organisation("rivals")
    office.user("rita@rivals.example", foreign, "owner")
    rita = office.browser("rita@rivals.example")
    before = house.everything()
    asked = [one for one in addresses(office) if one.action is not None and one.rule.arguments]
    for one in asked:
        theirs = house.ask(rita, one)
        if house.knows(one) and one.endpoint not in READ_FIRST:
            assert theirs.status_code == 404, f"{one}: {told(theirs)}"
        else:
            assert theirs.status_code in {400, 404, 405, 409}, f"{one}: {told(theirs)}"
    assert len(asked) > 50
    assert house.everything() == before


def test_only_owners_touch_owners(house: House) -> None:
    """The one thing in which an admin is less than an owner."""
    adam = signed_in(house, "admin")
    owner = house.office.user("olga@marquee.example", house.organisation, "owner")
    assert adam.refused("PUT", f"/api/members/{owner}", {"role": "staff"}) == (403, "forbidden")
    assert adam.refused("DELETE", f"/api/members/{owner}") == (403, "forbidden")
