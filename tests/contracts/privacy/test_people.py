"""Everything about a person is exported as one object, and erased wherever it stands; the proofs stay whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import select

from shared.wire.snapshot import RowKind, TicketRow
from sync_server.audit import proof
from sync_server.audit.sealer import seal_waiting
from sync_server.devices import identity
from sync_server.migrations.tables import metadata
from tests.app_server import ApiClient, AppServer, Concert, a_concert
from tests.contracts.seating.stage import a_layout, a_stage, floor, stalls

GAIL, ADDRESS = "Gail Guest", "gail@guests.example"
HUGO = "Hugo Guest"


@dataclass
class House:
    """An event that checks names, with two guests; one of them is also invited to the staff and on a guest list."""

    app_server: AppServer
    concert: Concert
    gail: dict[str, Any]
    hugo: dict[str, Any]

    @property
    def api(self) -> ApiClient:
        return self.concert.api

    def occurrences(self, words: str) -> set[str]:
        """The columns of all tables in which these words stand, as text or inside packed rows."""
        found = set()
        with self.app_server.database.reading() as session:
            for table in metadata().sorted_tables:
                for row in session.execute(select(table)).mappings():
                    found |= {f"{table.name}.{name}" for name, value in row.items() if _has(value, words)}
        return found


def _has(value: Any, words: str) -> bool:
    if isinstance(value, bytes):
        return words.encode() in value
    return words in str(value)


@pytest.fixture
def house(app_server: AppServer, api: ApiClient) -> House:
    concert = a_concert(api, name_checks=True)
    gail = concert.ticket(holder_name=GAIL, notes=f"{GAIL} comes late")
    hugo = concert.ticket(holder_name=HUGO)
    api.post(f"/api/tickets/{gail['id']}/reissue", {"reason": "lost"}, 200)
    api.post("/api/invitations", {"email": ADDRESS, "role": "staff"})
    return House(app_server, concert, gail, hugo)


def test_a_guests_ticket_is_exported_whole(house: House) -> None:
    found = house.api.post("/api/people/export", {"ticket": house.gail["id"]}, 200)
    [ticket] = found["records"]["tickets"]
    assert (ticket["holder_name"], ticket["id"], ticket["price_cents"]) == (GAIL, house.gail["id"], 3500)
    assert "claims" not in ticket and HUGO not in str(found)
    found = house.api.post("/api/people/export", {"email": ADDRESS.upper()}, 200)
    assert [one["email"] for one in found["records"]["invitations"]] == [ADDRESS]
    lines = house.api.get("/api/audit?action=person.exported")["items"]
    assert {line["subject_id"] for line in lines} == {"email", "ticket"} and ADDRESS not in str(lines)


def test_an_erased_guest_stands_nowhere_any_more(house: House) -> None:
    assert {"tickets.holder_name", "snapshot_rows.body", "snapshot_history.body"} <= house.occurrences(GAIL)
    erased = house.api.post("/api/people/erase", {"ticket": house.gail["id"], "reason": "asked for"}, 200)["erased"]
    assert erased["tickets"] == 1 and erased["snapshot_history"] >= 2
    assert house.occurrences(GAIL) - {"idempotency_keys.body"} == set()
    assert "tickets.holder_name" in house.occurrences(HUGO), "somebody else's name stays"
    kept = house.api.get(f"/api/tickets/{house.gail['id']}")
    assert (kept["price_cents"], kept["number"], kept["holder_name"]) == (3500, house.gail["number"], "")


def test_gates_get_the_change_as_any_other(house: House) -> None:
    def names() -> set[str]:
        rows: list[TicketRow] = house.app_server.gate_rows_of(house.concert.number, RowKind.TICKET)
        return {row.name for row in rows}

    assert names() == {GAIL, HUGO}
    house.api.post("/api/people/erase", {"ticket": house.gail["id"], "reason": "asked for"}, 200)
    assert names() == {"", HUGO}
    house.app_server.gate_rows(house.concert.number)  # checks the digest


def test_an_address_goes_from_invitations_and_the_log_and_the_chain_holds(house: House) -> None:
    assert {"invitations.email", "audit_personal.content"} <= house.occurrences(ADDRESS)
    house.api.post("/api/people/erase", {"email": ADDRESS, "reason": "asked for"}, 200)
    assert house.occurrences(ADDRESS) - {"idempotency_keys.body"} == set()
    database, sealer = house.app_server.database, house.app_server.parts.sealer
    with database.writing() as session:
        seal_waiting(session, house.app_server.context(), key=lambda session: identity.private_key(session, sealer))
    with database.reading() as session:
        owner = house.app_server.event_key(house.concert.number).organisation_id
        found = proof.prove(session, owner, public=identity.public_key(session, sealer))
    assert (found.broken, found.erased > 0) == (None, True)


def test_a_second_erasure_finds_nothing(house: House) -> None:
    body = {"ticket": house.gail["id"], "reason": "asked for"}
    assert house.api.post("/api/people/erase", body, 200)["erased"]
    assert house.api.post("/api/people/erase", body, 200)["erased"] == {}


def test_a_name_on_a_guest_list_goes_by_the_address(app_server: AppServer, api: ApiClient) -> None:
    stage = a_stage(app_server, api, a_layout(zones=[stalls(access_mode="whitelist"), floor()]))
    stage.choose()
    guests = f"{stage.path}/zones/{stage.zone('Stalls')}/guests"
    api.post(guests, {"guests": [{"email": ADDRESS}, {"email": "other@guests.example"}]})
    assert len(api.get(guests)["items"]) == 2
    erased = api.post("/api/people/erase", {"email": ADDRESS, "reason": "asked for"}, 200)["erased"]
    assert (erased["zone_guests"], len(api.get(guests)["items"])) == (1, 1)


def test_a_person_is_named_in_one_way(house: House) -> None:
    body = {"email": ADDRESS, "ticket": house.gail["id"], "reason": "asked for"}
    assert house.api.refused("POST", "/api/people/erase", body) == (400, "invalid_request")
    assert house.api.refused("POST", "/api/people/export", {"ticket": "f" * 16}) == (404, "ticket_not_found")


def test_another_organisations_guest_is_not_found(house: House) -> None:
    rivals = house.app_server.api(house.app_server.organisation("rivals"))
    body = {"ticket": house.gail["id"], "reason": "curious"}
    assert rivals.refused("POST", "/api/people/erase", body) == (404, "ticket_not_found")
    assert rivals.post("/api/people/export", {"email": ADDRESS}, 200)["records"] == {}
    assert "tickets.holder_name" in house.occurrences(GAIL)
