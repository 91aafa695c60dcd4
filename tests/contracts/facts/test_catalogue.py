"""Everything the server tells is in the catalogue, and looks as the catalogue says."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from jsonschema import Draft202012Validator

from sync_server.outbox import catalogue, letters
from sync_server.outbox.rules import routing_key
from sync_server.plumbing.work import Message
from tests.builders import DAY, a_gate, a_venue
from tests.office import Desk, Evening, Office, an_evening

PRODUCT = Path(catalogue.__file__).parents[1]


@pytest.fixture
def office(sqlite_url: str, tmp_path: Path) -> Iterator[Office]:
    """A server whose clock is set by hand; what facts look like depends on no database."""
    made = Office(sqlite_url, tmp_path)
    yield made
    made.close()


@pytest.fixture
def evening(office: Office) -> Evening:
    """An event that can issue tickets."""
    return an_evening(office.desk(office.organisation("marquee")))


def heard(office: Office) -> list[Message]:
    """Everything the house is told."""
    messages: list[Message] = []
    office.parts.subscribers.append(messages.append)
    while office.parts.database.stirred.is_set():
        office.parts.database.stirred.clear()
        office.work()
    return messages


def whole_life(office: Office, desk: Desk, evening: Evening) -> None:
    """As much as one evening can hold."""
    desk.post(f"{evening.path}/zones", {"name": "Floor"})
    desk.patch(f"{evening.path}/zones/1", {"name": "Stalls"})
    desk.post(f"/api/venues/{evening.venue['id']}/gates", a_gate())
    desk.patch(f"/api/venues/{evening.venue['id']}/gates/1", {"status": "closed"})
    desk.patch(f"/api/venues/{evening.venue['id']}", {"city": "Bremen"})
    for step in ("archive", "restore"):
        desk.post(f"/api/venues/{evening.venue['id']}/{step}", {}, 200)
    empty = desk.post("/api/venues", a_venue(name="Empty"))["id"]
    desk.ask("DELETE", f"/api/venues/{empty}")
    desk.ask("PUT", f"{evening.path}/gates/1", {"zones": [1]})
    desk.patch(evening.path, {"description": "with strings"})
    desk.post(f"{evening.path}/publish", {}, 200)
    tickets = [evening.ticket()["id"] for _ in range(2)]
    for step in ("block", "unblock", "reissue"):
        desk.ask("POST", f"/api/tickets/{tickets[0]}/{step}", {})
    desk.ask("POST", f"/api/tickets/{tickets[1]}/cancel", {})
    desk.ask("POST", "/api/keys/rotate", {"at_once": True})
    desk.post(f"{evening.path}/go-live", {}, 200)
    desk.ask("POST", f"{evening.path}/empty-house", {})
    desk.post(f"{evening.path}/postpone", {"reason": "storm"}, 200)
    desk.ask("POST", f"{evening.path}/reschedule", {"rescheduled_at": office.now + 9 * DAY})
    desk.post(f"{evening.path}/cancel", {}, 200)
    desk.post(f"{evening.path}/archive", {}, 200)
    desk.ask("POST", "/api/devices", {"name": "West 1", "profile": "gate"})


def test_every_fact_of_an_evening_looks_as_the_catalogue_says(office: Office, evening: Evening) -> None:
    whole_life(office, evening.desk, evening)
    messages = heard(office)
    for message in messages:
        letter = orjson.loads(letters.envelope(message))
        Draft202012Validator(catalogue.schema(message.name)).validate(letter)
    assert {message.name for message in messages} >= {
        "venue_created",
        "venue_changed",
        "venue_archived",
        "venue_restored",
        "venue_deleted",
        "gate_created",
        "gate_changed",
        "event_created",
        "event_zone_added",
        "event_published",
        "tickets_issued",
        "ticket_blocked",
        "ticket_reissued",
        "ticket_cancelled",
        "key_retired",
        "event_went_live",
        "event_postponed",
        "event_cancelled",
        "event_archived",
    }


def test_all_facts_of_an_event_are_of_one_stream(office: Office, evening: Evening) -> None:
    whole_life(office, evening.desk, evening)
    streams = {m.stream for m in heard(office) if {"event", "event_number"} & set(m.subjects)}
    assert streams == {f"event:{evening.number}"}


def test_no_fact_carries_a_persons_name_or_a_code(office: Office, evening: Evening) -> None:
    ticket = evening.ticket(holder_name="Ada Lovelace")
    evening.desk.ask("POST", f"/api/tickets/{ticket['id']}/reissue", {})
    code = evening.code(ticket)
    told = b"".join(letters.envelope(message) for message in heard(office))
    assert b"Lovelace" not in told and code.encode() not in told


def _names_in_the_code() -> Iterator[str]:
    """First words of every call that tells a fact."""
    for file in PRODUCT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "Fact":
                name = node.args[0]
                if isinstance(name, ast.Constant):
                    yield str(name.value)


def test_facts_that_are_named_in_the_code_are_in_the_catalogue() -> None:
    assert set(_names_in_the_code()) - set(catalogue.FACTS) == set()


def test_no_two_facts_share_a_routing_key() -> None:
    assert len({routing_key(name) for name in catalogue.FACTS}) == len(catalogue.FACTS)


def test_the_schemas_themselves_are_valid() -> None:
    for name in catalogue.FACTS:
        Draft202012Validator.check_schema(catalogue.schema(name))
