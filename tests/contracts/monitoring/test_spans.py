"""Spans for a collector of OpenTelemetry: requests, statements, facts, jobs and gates; none without the setting."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind
from sqlalchemy import text

from shared.errors import SettingsError
from sync_server.plumbing.telemetry import otel
from tests import builders
from tests.app_server import AppServer, a_concert
from tests.contracts.holds.seated_event import a_seated_event
from tests.contracts.sync.office_gates import a_gate

TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
HEADERS = {"traceparent": f"00-{TRACE}-{CALLER}-01"}
COLLECTOR = "http://127.0.0.1:4318"
ROOT = Path(__file__).parents[3]


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    monkeypatch.setattr(otel, "processor", lambda _url: SimpleSpanProcessor(exporter))
    return exporter


@pytest.fixture
def app_server(recorded: InMemorySpanExporter, database_url: str, tmp_path: Path) -> Iterator[AppServer]:
    made = AppServer(database_url, tmp_path, otlp_url=COLLECTOR)
    yield made
    made.close()


def spans(recorded: InMemorySpanExporter, start: str) -> list[ReadableSpan]:
    return [each for each in recorded.get_finished_spans() if each.name.startswith(start)]


def ids(span: ReadableSpan) -> tuple[str, str]:
    assert span.context is not None
    return f"{span.context.trace_id:032x}", f"{span.context.span_id:016x}"


def test_a_request_and_its_statements_are_steps_of_the_callers_trace(
    app_server: AppServer, recorded: InMemorySpanExporter
) -> None:
    concert = a_concert(app_server.api(app_server.organisation("marquee")))
    recorded.clear()
    assert concert.api.ask("POST", f"{concert.path}/publish", {}, **HEADERS).status_code == 200
    (request,) = spans(recorded, "POST /api/events/<event_id>/publish")
    assert request.kind is SpanKind.SERVER and request.parent is not None and request.attributes is not None
    assert (ids(request)[0], f"{request.parent.span_id:016x}") == (TRACE, CALLER)
    assert request.attributes["gatehouse.status"] == 200
    inside = [each.name for each in spans(recorded, "statement") if ids(each)[0] == TRACE]
    assert {"statement SELECT", "statement UPDATE", "statement INSERT"} <= set(inside)
    parents = {each.parent.span_id for each in spans(recorded, "statement") if ids(each)[0] == TRACE and each.parent}
    assert request.context is not None and parents == {request.context.span_id}
    assert "Night" not in str([each.to_json() for each in recorded.get_finished_spans()]), "no value of a statement"


def test_the_relay_points_to_the_requests_whose_facts_it_delivers(
    app_server: AppServer, recorded: InMemorySpanExporter
) -> None:
    concert = a_concert(app_server.api(app_server.organisation("marquee")))
    app_server.run_worker()
    recorded.clear()
    concert.api.ask("POST", f"{concert.path}/publish", {}, **HEADERS)
    (request,) = spans(recorded, "POST /api/events/<event_id>/publish")
    with app_server.database.reading() as session:
        (header,) = session.execute(text("SELECT trace FROM outbox WHERE name = 'event_published'")).scalars()
    assert header.split("-")[1:3] == [*ids(request)], "log lines and facts name the step of the request itself"
    app_server.run_worker()
    relays = spans(recorded, "relay facts")
    pointed = {f"{link.context.span_id:016x}" for each in relays for link in each.links}
    assert ids(request)[1] in pointed
    (job, *_) = spans(recorded, "job ")
    assert job.parent is None


def test_a_hold_is_a_statement_or_a_group_of_writes(app_server: AppServer, recorded: InMemorySpanExporter) -> None:
    sale = a_seated_event(app_server)
    guest = sale.guest()
    recorded.clear()
    assert guest.ask("POST", sale.reserve_path("A-1"), {}, **HEADERS).status_code == 201
    (request,) = spans(recorded, "POST /api/events/<event_id>/seats")
    name = "group commit" if app_server.database.embedded else "statement"
    inside = [each for each in spans(recorded, name) if each.name == name]
    assert inside and all(ids(each)[0] == TRACE and each.parent is not None for each in inside)
    assert {each.parent.span_id for each in inside if each.parent} == {int(ids(request)[1], 16)}


def test_a_gate_that_syncs_is_seen(app_server: AppServer, recorded: InMemorySpanExporter) -> None:
    concert = a_concert(app_server.api(app_server.organisation("marquee")))
    concert.api.post(f"/api/venues/{concert.venue['id']}/gates", builders.a_gate())
    _, gate = a_gate(app_server, concert)
    gate.hello()
    gate.admit(1)
    gate.upload()
    (journal,) = spans(recorded, "gate sync journal")
    assert journal.attributes is not None and journal.attributes["gatehouse.entries"] == 1
    (outer,) = spans(recorded, "POST /sync/v1/journal")
    assert journal.parent is not None and journal.parent.span_id == int(ids(outer)[1], 16)
    assert spans(recorded, "gate sync hello")


def test_spans_reach_a_collector(sqlite_url: str, tmp_path: Path) -> None:
    posted: list[tuple[str, bytes]] = []
    arrived = threading.Event()

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()
            arrived.set()

        def log_message(self, *_: object) -> None:
            return None

    collector = HTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    app_server = AppServer(sqlite_url, tmp_path, otlp_url=f"http://127.0.0.1:{collector.server_address[1]}")
    app_server.app.test_client().get("/healthz")
    app_server.parts.spans.close()
    assert arrived.wait(30)
    assert posted[0][0] == "/v1/traces" and any(b"GET /healthz" in body for _, body in posted)
    app_server.close()
    collector.shutdown()
    collector.server_close()


def test_without_the_setting_the_library_is_not_needed() -> None:
    program = (
        "import sys; sys.modules['opentelemetry'] = None; import sync_server.app; "
        "print('sync_server.plumbing.telemetry.otel' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_without_the_library_the_setting_is_refused(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    monkeypatch.delitem(sys.modules, "sync_server.plumbing.telemetry.otel")
    monkeypatch.delattr("sync_server.plumbing.telemetry.otel", raising=False)
    with pytest.raises(SettingsError, match="OpenTelemetry is not installed"):
        AppServer(sqlite_url, tmp_path, otlp_url=COLLECTOR)
