"""Every fact the server records is in the catalogue and matches its schema."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from jsonschema import Draft202012Validator

from sync_server.outbox import catalogue, fact_schemas
from sync_server.outbox.broker import messages as broker_messages
from sync_server.outbox.catalogue import routing_key
from sync_server.outbox.fact_kinds import Topic
from sync_server.plumbing.jobs import Message
from tests.app_server import ApiClient, AppServer, Concert, a_concert
from tests.builders import DAY, a_gate, a_venue
from tests.subscribers import a_subscriber

PRODUCT = Path(catalogue.__file__).parents[1]


@pytest.fixture
def app_server(sqlite_url: str, tmp_path: Path) -> Iterator[AppServer]:
    """A server whose clock is set by hand; facts look the same on every database."""
    made = AppServer(sqlite_url, tmp_path)
    yield made
    made.close()


@pytest.fixture
def concert(app_server: AppServer) -> Concert:
    """An event that can issue tickets."""
    return a_concert(app_server.api(app_server.organisation("marquee")))


def received(app_server: AppServer) -> list[Message]:
    """Every fact that local subscribers receive."""
    messages: list[Message] = []
    app_server.parts.subscribers.append(a_subscriber(messages.append))
    while app_server.parts.database.work_pending.is_set():
        app_server.parts.database.work_pending.clear()
        app_server.run_worker()
    return messages


def whole_life(app_server: AppServer, api: ApiClient, concert: Concert) -> None:
    """One concert with as many kinds of facts as possible."""
    api.post(f"{concert.path}/zones", {"name": "Floor"})
    api.patch(f"{concert.path}/zones/1", {"name": "Stalls"})
    api.post(f"/api/venues/{concert.venue['id']}/gates", a_gate())
    api.patch(f"/api/venues/{concert.venue['id']}/gates/1", {"status": "closed"})
    api.patch(f"/api/venues/{concert.venue['id']}", {"city": "Bremen"})
    for step in ("archive", "restore"):
        api.post(f"/api/venues/{concert.venue['id']}/{step}", {}, 200)
    empty = api.post("/api/venues", a_venue(name="Empty"))["id"]
    api.ask("DELETE", f"/api/venues/{empty}")
    api.ask("PUT", f"{concert.path}/gates/1", {"zones": [1]})
    api.patch(concert.path, {"description": "with strings"})
    api.post(f"{concert.path}/publish", {}, 200)
    tickets = [concert.ticket()["id"] for _ in range(2)]
    for step in ("block", "unblock", "reissue"):
        api.ask("POST", f"/api/tickets/{tickets[0]}/{step}", {})
    api.ask("POST", f"/api/tickets/{tickets[1]}/cancel", {})
    api.ask("POST", "/api/keys/rotate", {"at_once": True})
    api.post(f"{concert.path}/go-live", {}, 200)
    api.ask("POST", f"{concert.path}/empty-house", {})
    sale = {"places": [{"ticket_type": 1, "count": 1}], "method": "cash", "buyer": {"name": "Ada Lovelace"}}
    order = api.post(f"{concert.path}/sales", sale)["id"]
    api.post(f"/api/orders/{order}/names", {"buyer_name": "Grace Hopper"}, 200)
    api.post(f"{concert.path}/postpone", {"reason": "storm"}, 200)
    api.ask("POST", f"{concert.path}/reschedule", {"rescheduled_at": app_server.now + 9 * DAY})
    api.post(f"{concert.path}/cancel", {}, 200)
    api.post(f"{concert.path}/archive", {}, 200)
    api.ask("POST", "/api/devices", {"name": "West 1", "profile": "gate"})


def test_every_fact_of_a_concert_matches_the_catalogue(app_server: AppServer, concert: Concert) -> None:
    whole_life(app_server, concert.api, concert)
    messages = received(app_server)
    for message in messages:
        letter = orjson.loads(broker_messages.envelope(message))
        Draft202012Validator(fact_schemas.schema(message.name)).validate(letter)
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
        "order_renamed",
        "event_postponed",
        "event_cancelled",
        "event_archived",
    }


def test_all_facts_of_an_event_are_of_one_stream(app_server: AppServer, concert: Concert) -> None:
    whole_life(app_server, concert.api, concert)
    streams = {m.stream for m in received(app_server) if {"event", "event_number"} & set(m.subjects)}
    assert streams == {f"event:{concert.number}"}


def test_no_fact_carries_a_persons_name_or_a_code(app_server: AppServer, concert: Concert) -> None:
    ticket = concert.ticket(holder_name="Ada Lovelace")
    concert.api.ask("POST", f"/api/tickets/{ticket['id']}/reissue", {})
    code = concert.code(ticket)
    payload = b"".join(broker_messages.envelope(message) for message in received(app_server))
    assert b"Lovelace" not in payload and code.encode() not in payload


def _calls(function: str) -> Iterator[tuple[Path, ast.Call]]:
    """Every call of a function of this name, and the module where it is."""
    for file in PRODUCT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == function:
                yield file, node


def _names_in_the_code() -> Iterator[str]:
    """The fact names in every call that records one."""
    for _, call in _calls("Fact"):
        if isinstance(call.args[0], ast.Constant):
            yield str(call.args[0].value)


def test_only_a_few_modules_record_a_fact_without_an_audit_line() -> None:
    """Scans are in journals of their own; seats are held by one statement, which writes both rows."""
    makers = {str(file.relative_to(PRODUCT)) for file, _ in _calls("Fact")}
    assert makers - {str(file.relative_to(PRODUCT)) for file, _ in _calls("record_change")} == {
        "scans/service.py",
        "holds/attempts/hold_rows.py",
    }


def test_facts_that_are_named_in_the_code_are_in_the_catalogue() -> None:
    assert set(_names_in_the_code()) - set(catalogue.FACTS) == set()


def _listed_names(file: Path) -> Iterator[set[str]]:
    """The fact names in each tuple, list, set and dictionary of a module, where there are several together."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        elements = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
        names = {each.value for each in elements if isinstance(each, ast.Constant)} & set(catalogue.FACTS)
        if len(names) > 1:
            yield names


def test_no_module_lists_facts_by_name_beside_the_catalogue() -> None:
    """Who acts on some facts and not on others reads a column of their rows."""
    modules = set(PRODUCT.rglob("*.py")) - {Path(catalogue.__file__)}
    assert {file.name: names for file in modules for names in _listed_names(file)} == {}


def test_the_catalogue_agrees_with_what_facts_carry() -> None:
    for name, kind in catalogue.FACTS.items():
        counted = {kind.outcome.quantity} if kind.outcome else set()
        counted |= {kind.interest.per} - {""} if kind.interest else set()
        assert counted | set(kind.logged or ()) <= set(kind.payload), name
        assert (Topic.EVENT in kind.topics) == ("event" in kind.subjects), name
        assert Topic.OCCUPANCY not in kind.topics or "event_number" in kind.subjects, name
        assert not kind.occupancy or {"event", "event_number"} <= set(kind.subjects), name
        assert set(kind.public) <= set(kind.organisers), name


def test_no_two_facts_share_a_routing_key() -> None:
    assert len({routing_key(name) for name in catalogue.FACTS}) == len(catalogue.FACTS)


def test_the_schemas_themselves_are_valid() -> None:
    for name in catalogue.FACTS:
        Draft202012Validator.check_schema(fact_schemas.schema(name))
