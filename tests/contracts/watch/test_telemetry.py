"""What the log and the answers say of an event's life: every step with its ids, its reason and who took it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from structlog.testing import capture_logs

from sync_server.outbox import joins
from sync_server.outbox.catalogue import FACTS
from sync_server.outbox.joins import Join
from sync_server.plumbing import logs
from sync_server.watch import chronicle
from tests.contracts.holds.house import a_house
from tests.office import Evening, Office


@pytest.fixture(autouse=True)
def talkative(office: Office) -> None:
    logs.set_up("info")


def said(evening: Evening, path: str, body: dict[str, Any], status: int = 200) -> list[Any]:
    with capture_logs() as lines:
        evening.desk.post(f"{evening.path}/{path}", body, status)
    return [line for line in lines if line["event"].startswith("event_")]


@pytest.mark.parametrize(("path", "target"), [("cancel", "cancelled"), ("postpone", "postponed")])
def test_calling_off_is_told_with_reason_and_actor(evening: Evening, path: str, target: str) -> None:
    evening.desk.post(f"{evening.path}/publish", {}, 200)
    who = evening.desk.get("/api/session")
    (line,) = said(evening, path, {"reason": "storm"})
    assert line["event"] == f"event_{target}"
    assert (line["old_status"], line["new_status"], line["reason"]) == ("published", target, "storm")
    assert (line["event_id"], line["venue_id"]) == (evening.event["id"], evening.venue["id"])
    assert (line["organisation_id"], line["actor_id"]) == (who["organisation"]["id"], who["id"])
    assert line["request_id"]


def test_a_step_that_is_refused_is_not_told(evening: Evening) -> None:
    assert said(evening, "end", {}, 409) == []


def test_the_log_holds_ids_and_no_names(evening: Evening) -> None:
    with capture_logs() as lines:
        evening.desk.patch(evening.path, {"name": "Secret Farewell", "description": "for Erika Mustermann"})
    (line,) = [line for line in lines if line["event"] == "event_updated"]
    assert "Farewell" not in str(line) and "Erika" not in str(line)


def test_changes_are_counted_by_their_kind(office: Office, evening: Evening) -> None:
    evening.desk.post(f"{evening.path}/publish", {}, 200)
    evening.desk.post(f"{evening.path}/cancel", {"reason": "storm"}, 200)
    measures = office.app.test_client().get("/metrics").get_data(as_text=True)
    assert 'gatehouse_event_changes_total{fact="event_cancelled"} 1.0' in measures


def lines(office: Office) -> list[Any]:
    """What the worker has to say of the facts that wait."""
    with capture_logs() as told:
        office.work()
    return [line for line in told if "message_id" in line]


def held(office: Office, became: str) -> float:
    text = office.parts.metrics.text().decode()
    found = re.search(rf'gatehouse_holds_total{{became="{became}"}} (.+)', text)
    return float(found[1]) if found else 0


def test_every_hold_is_a_line_with_its_ids_and_no_name_and_counted_by_what_became_of_it(office: Office) -> None:
    house = a_house(office)
    guest = house.guest()
    office.work()
    first = house.reserve(guest, "A-1")
    house.reserve(guest, "A-2")
    told = lines(office)
    assert [line["event"] for line in told] == ["seat_held", "seat_held"]
    ids = {"organisation_id": house.organisation_id, "event_id": house.id, "venue_id": house.event["venue_id"]}
    assert all(ids.items() <= line.items() for line in told)
    assert told[0]["hold_id"] == first["hold_id"] and told[0]["held_until"] and told[0]["bearer"].startswith("guest:")
    assert held(office, "held") == 2
    house.desk.post(f"{house.path}/cancel", {"reason": "the singer Erika is ill"}, 200)
    (ended,) = lines(office)
    assert (ended["event"], ended["count"]) == ("holds_ended", 2) and ids.items() <= ended.items()
    assert "Erika" not in str(ended)
    assert held(office, "ended_with_event") == 2


def test_tickets_are_lines_of_ids_and_numbers_without_anybodys_name(office: Office, evening: Evening) -> None:
    office.work()
    ticket = evening.ticket(holder_name="Erika Mustermann", notes="allergic to nuts")
    evening.desk.post(f"/api/tickets/{ticket['id']}/cancel", {"reason": "Erika is ill"}, 200)
    issued, cancelled = lines(office)
    assert (issued["event"], issued["count"], cancelled["event"]) == ("tickets_issued", 1, "ticket_cancelled")
    assert cancelled["ticket_id"] == ticket["id"]
    assert {line["venue_id"] for line in (issued, cancelled)} == {evening.venue["id"]}
    assert not any(word in f"{issued}{cancelled}" for word in ("Erika", "allergic"))


def test_every_kind_of_hold_is_logged_and_no_fact_that_nobody_knows() -> None:
    """What stands in lines is chosen by name: a new fact is logged once somebody has looked at what it carries."""
    assert set(chronicle.LINES) <= set(FACTS) and set(chronicle.BECAME) <= set(chronicle.LINES)
    assert {name for name in FACTS if name.startswith(("seat_hold", "seat_held", "holds_"))} <= set(chronicle.LINES)
    said = {field for fields in chronicle.LINES.values() for field in fields}
    assert not said & {"holder_name", "email", "name", "note", "notes"}


def test_organisers_see_how_many_joined_elsewhere(office: Office, evening: Evening) -> None:
    assert evening.desk.get(evening.path)["joined_elsewhere"] == 0
    with office.database.writing() as session:
        for n in range(3):
            joins.count(session, Join(f"m{n}", evening.event["id"], 1), office.now)
    assert evening.desk.get(evening.path)["joined_elsewhere"] == 3
    assert [one["joined_elsewhere"] for one in evening.desk.get("/api/events")["items"]] == [3]
