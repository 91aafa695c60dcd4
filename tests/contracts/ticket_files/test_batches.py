"""All tickets of an event in one PDF, written by the worker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sync_server.ticket_files.batches import printing, queue
from tests.app_server import ApiClient, AppServer, Concert, a_concert
from tests.contracts.ticket_files.paper import Printed


@pytest.fixture
def concert(api: ApiClient) -> Concert:
    return a_concert(api)


def asked(concert: Concert, **body: Any) -> dict[str, Any]:
    return dict(concert.api.post(f"{concert.path}/ticket-batches", body, 202))


def fetched(concert: Concert, batch: dict[str, Any]) -> bytes:
    response = concert.api.ask("GET", f"/api/ticket-batches/{batch['id']}/pdf")
    assert response.status_code == 200, response.text
    return bytes(response.get_data())


def test_every_ticket_has_a_page_and_the_gate_reads_each(
    app_server: AppServer, concert: Concert, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(printing, "READ", 3)
    monkeypatch.setattr(printing, "PIECE_BYTES", 10_000)
    issued = concert.issue(count=8)["items"]
    concert.api.post(f"/api/tickets/{issued[2]['id']}/cancel", {"reason": "given back"}, 200)
    batch = asked(concert)
    assert (batch["state"], batch["percent"]) == ("waiting", 0)
    path = f"/api/ticket-batches/{batch['id']}"
    assert concert.api.refused("GET", f"{path}/pdf") == (409, "batch_not_done")
    app_server.run_worker()
    done = concert.api.get(path)
    assert (done["state"], done["percent"], done["tickets"], done["written"]) == ("done", 100, 7, 7)
    content = fetched(concert, batch)
    assert len(content) == done["bytes"] and len(content) > 20_000, "in several pieces"
    standing = [ticket for ticket in issued if ticket["id"] != issued[2]["id"]]
    printed = Printed(content, tmp_path)
    assert printed.codes() == [(concert.code(ticket),) for ticket in standing]
    stored = app_server.database.engine.connect().exec_driver_sql("SELECT body FROM ticket_batch_parts").fetchall()
    assert stored and all(b"%PDF" not in bytes(body) for (body,) in stored), "sealed"
    app_server.advance(queue.KEPT_MS + 3_600_000)
    app_server.run_worker()
    assert concert.api.refused("GET", path) == (404, "batch_not_found")


def test_pdf_of_one_type_has_its_tickets_only(app_server: AppServer, concert: Concert, tmp_path: Path) -> None:
    other = concert.api.post(f"{concert.path}/ticket-types", {"name": "Guests", "price_cents": 0, "quantity": 5})
    concert.issue(count=2)
    guests = concert.issue(count=1, ticket_type=other["number"])["items"]
    batch = asked(concert, ticket_type=other["number"])
    app_server.run_worker()
    assert Printed(fetched(concert, batch), tmp_path).codes() == [(concert.code(guests[0]),)]
    assert concert.api.refused("POST", f"{concert.path}/ticket-batches", {"ticket_type": 77})[0] == 404


def test_cancelled_pdf_is_deleted_and_nobody_else_gets_it(app_server: AppServer, concert: Concert) -> None:
    concert.issue(count=2)
    first, second = asked(concert), asked(concert)
    path = f"/api/ticket-batches/{first['id']}"
    assert concert.api.post(f"{path}/cancel", {}, 200)["state"] == "cancelled"
    assert concert.api.refused("POST", f"{path}/cancel") == (409, "batch_ended")
    app_server.run_worker()
    listed = {row["id"]: row["state"] for row in concert.api.get(f"{concert.path}/ticket-batches")["items"]}
    assert listed == {first["id"]: "cancelled", second["id"]: "done"}
    stranger = app_server.api(app_server.organisation("elsewhere"))
    assert stranger.refused("GET", f"/api/ticket-batches/{second['id']}/pdf") == (404, "batch_not_found")


def test_another_worker_begins_anew_where_one_died_and_the_dead_one_writes_no_more(
    app_server: AppServer, concert: Concert, tmp_path: Path
) -> None:
    ticket = concert.issue(count=1)["items"][0]
    batch = asked(concert)
    context = app_server.context()
    dead = queue.claim(app_server.database, context)
    assert dead is not None and queue.claim(app_server.database, context) is None, "claimed once"
    app_server.advance(queue.LOST_AFTER_MS + 1)
    app_server.run_worker()
    assert concert.api.get(f"/api/ticket-batches/{batch['id']}")["state"] == "done"
    late = printing.BatchWriter(app_server.database, app_server.parts.sealer, dead, app_server.parts.stop)
    with pytest.raises(printing.Superseded):
        late.run()
    assert Printed(fetched(concert, batch), tmp_path).codes() == [(concert.code(ticket),)]


def test_pdf_is_given_up_where_workers_die_of_it(app_server: AppServer, concert: Concert) -> None:
    batch = asked(concert)
    for _ in range(queue.MOST_ATTEMPTS):
        assert queue.claim(app_server.database, app_server.context()) is not None
        app_server.advance(queue.LOST_AFTER_MS + 1)
    app_server.run_worker()
    ended = concert.api.get(f"/api/ticket-batches/{batch['id']}")
    assert (ended["state"], ended["problem"]) == ("failed", "workers_lost")
