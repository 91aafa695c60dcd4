"""One id follows a request: from the gate, into the log lines of server and worker, its facts, and the broker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from gate_app.sync.client import HttpRequest, HttpResponse
from shared.trace import heard
from sync_server.outbox import cursors
from sync_server.outbox.broker import messages
from sync_server.outbox.models import OutboxRow
from sync_server.plumbing.jobs import Job
from sync_server.plumbing.telemetry import logs
from tests.app_server import AppServer, Concert
from tests.contracts.holds.seated_event import a_seated_event
from tests.journeys.network_link import Deliver
from tests.journeys.world import World

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
HEADERS = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}


class Log:
    """The lines that were logged since the last look, as JSON."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        logs.set_up("info")
        capsys.readouterr()

    def lines(self, event: str) -> list[dict[str, Any]]:
        written = [json.loads(line) for line in self._capsys.readouterr().err.splitlines() if line.startswith("{")]
        return [line for line in written if line["event"] == event]


def facts(app_server: AppServer, name: str) -> list[OutboxRow]:
    with app_server.database.reading() as session:
        return list(session.scalars(select(OutboxRow).where(OutboxRow.name == name)))


def test_a_trace_that_the_caller_names_is_followed_to_the_broker(
    app_server: AppServer, concert: Concert, capsys: pytest.CaptureFixture[str]
) -> None:
    log = Log(capsys)
    response = concert.api.ask("POST", f"{concert.path}/publish", {}, **HEADERS)
    assert response.status_code == 200
    (line,) = log.lines("request")
    assert (line["trace_id"], line["request_id"]) == (TRACE, response.headers["X-Request-Id"])
    (fact,) = facts(app_server, "event_published")
    found = heard(fact.trace or "")
    assert found is not None and found.trace_id == TRACE
    assert found.header() != HEADERS["traceparent"], "the server's own step, not the caller's"
    assert messages.properties(cursors.message(fact))["headers"]["traceparent"] == fact.trace


def test_without_a_header_the_trace_is_named_like_the_request(
    concert: Concert, capsys: pytest.CaptureFixture[str]
) -> None:
    log = Log(capsys)
    sent: list[dict[str, str]] = [{}, {"traceparent": "00-nonsense"}]
    for headers in sent:
        response = concert.api.ask("GET", concert.path, **headers)
        (line,) = log.lines("request")
        assert line["trace_id"] == response.headers["X-Request-Id"].replace("-", "")


def test_a_hold_of_one_statement_carries_it_too_and_the_worker_logs_it(
    app_server: AppServer, capsys: pytest.CaptureFixture[str]
) -> None:
    sale, log = a_seated_event(app_server), Log(capsys)
    response = sale.api.ask("POST", sale.reserve_path("A-1"), {}, **HEADERS)
    assert response.status_code == 201, response.text
    (fact,) = facts(app_server, "seat_held")
    assert TRACE in str(fact.trace)
    app_server.run_worker()
    (line,) = log.lines("seat_held")
    assert (line["trace_id"], line["message_id"]) == (TRACE, fact.message_id)


def test_holds_of_several_seats_carry_it_too(app_server: AppServer) -> None:
    sale = a_seated_event(app_server)
    body = {"seat_ids": [sale.seats[name][0] for name in ("A-1", "A-2")]}
    assert sale.guest().ask("POST", f"{sale.path}/holds", body, **HEADERS).status_code == 201
    assert {TRACE in str(fact.trace) for fact in facts(app_server, "seat_held")} == {True}


def test_a_request_does_not_leave_its_trace_to_whoever_comes_next(
    concert: Concert, capsys: pytest.CaptureFixture[str]
) -> None:
    log = Log(capsys)
    concert.api.ask("GET", concert.path, **HEADERS)
    logs.LOG.info("afterwards")
    (line,) = log.lines("afterwards")
    assert "trace_id" not in line


def test_each_run_of_a_job_has_a_trace_of_its_own(app_server: AppServer, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a failing job")

    log = Log(capsys)
    app_server.parts.jobs.append(Job("tests.fails", 1_000, fail))
    for _ in range(2):
        app_server.advance(5_000)
        app_server.run_worker()
    one, other = [line["trace_id"] for line in log.lines("job_failed") if line["job"] == "tests.fails"]
    assert heard(f"00-{one}-{'1' * 16}-01") and one != other


def test_gate_and_server_name_a_failed_request_alike(
    sqlite_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world = World(sqlite_url, tmp_path)
    gate = world.gate("A")
    log = Log(capsys)

    def lose(request: HttpRequest, deliver: Deliver) -> HttpResponse:
        response = deliver(request)
        return HttpResponse(response.status, {}, response.body)

    gate.link.fault = lose
    result = gate.sync()
    assert "not signed" in result["error"]
    assert result["trace_id"] in {line["trace_id"] for line in log.lines("request")}
    world.close()
