"""A sale that takes seconds to commit: a gate never refuses its tickets as missing from the snapshot."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from shared import tickets as codes
from shared.admission import decide
from shared.reasons import Reason
from shared.tickets import ReadTicket
from shared.verdicts.scene import type_of, zone_of
from shared.wire.protocol import EventAt
from shared.wire.rows import GateRow
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from sync_server.tickets import service as tickets
from sync_server.tickets.keys import codes as printing
from sync_server.tickets.models import TicketRecord
from sync_server.tickets.service import IssueRequest
from tests.app_server import AppServer, Concert
from tests.contracts.sync.gates import Gate
from tests.contracts.sync.office_gates import a_gate, a_live_evening
from tests.unit.shared.attempt_builders import an_attempt, an_event


def synced(gate: Gate, concert: Concert) -> int:
    """How fresh a gate's rows are after one more sync, according to the server."""
    frame = gate.frame(event=concert.number)
    at = EventAt(event=concert.number, lineage=frame.lineage, revision=frame.base_revision)
    (batch,) = gate.changes(at).events
    return batch.as_of


def answered(app_server: AppServer, concert: Concert, row: TicketRecord, as_of: int) -> Reason:
    """The decision of a gate that went offline with rows of that time, without the ticket."""
    with app_server.database.reading() as session:
        known = session.get_one(TicketRecord, (row.organisation_id, row.id))
        text = printing.code_text(session, known, app_server.parts.sealer)
    code = codes.read(text, app_server.key_ring(concert.number))
    assert isinstance(code, ReadTicket)
    event = an_event(number=concert.number, organisation=code.organisation, days=())
    attempt = an_attempt(
        code=code,
        organisation=code.organisation,
        event=event,
        row=None,
        zone=None,
        snapshot_as_of=as_of,
        now=as_of + 60_000,
        gate=GateRow(1, "W", "West"),
    )
    assert (zone_of(code.ticket, None), type_of(code.ticket, None)) == (0, 1)
    return decide(attempt).reason


def sold(app_server: AppServer, concert: Concert, context: ActionContext) -> TicketRecord:
    """Issue one ticket, in a transaction that began at the context's time."""
    with app_server.database.writing() as session:
        (row,) = tickets.issue(session, *app_server.event_key(concert.number), IssueRequest(1, count=1), context)
    return row


def test_a_sale_that_began_before_a_gate_synced_and_ended_after(app_server: AppServer, concert: Concert) -> None:
    began = app_server.context()
    app_server.advance(5_000)
    _, gate = a_gate(app_server, concert)
    as_of = synced(gate, concert)
    row = sold(app_server, concert, began)
    assert as_of == app_server.now
    assert answered(app_server, concert, row, as_of) is Reason.ADMITTED
    assert row.issued_at * 1000 + 999 >= as_of


def test_a_new_issue_that_took_its_time(app_server: AppServer, concert: Concert) -> None:
    row = sold(app_server, concert, app_server.context())
    began = app_server.context()
    app_server.advance(5_000)
    _, gate = a_gate(app_server, concert)
    as_of = synced(gate, concert)
    with app_server.database.writing() as session:
        row = tickets.reissue(session, row.organisation_id, row.id, began, reason="lost")
    assert answered(app_server, concert, row, as_of) is Reason.ADMITTED


def test_a_code_that_was_made_before_the_commit_is_the_one_that_was_handed_out(
    app_server: AppServer, concert: Concert
) -> None:
    began = app_server.context()
    app_server.advance(5_000)
    _, gate = a_gate(app_server, concert)
    as_of = synced(gate, concert)
    with app_server.database.writing() as session:
        (row,) = tickets.issue(session, *app_server.event_key(concert.number), IssueRequest(1, count=1), began)
        early = printing.code_text(session, row, app_server.parts.sealer)
    with app_server.database.reading() as session:
        assert (
            printing.code_text(
                session, session.get_one(TicketRecord, (row.organisation_id, row.id)), app_server.parts.sealer
            )
            == early
        )
    assert answered(app_server, concert, row, as_of) is Reason.ADMITTED


def test_a_sale_that_is_over_in_its_own_second_keeps_its_time(app_server: AppServer, concert: Concert) -> None:
    _, gate = a_gate(app_server, concert)
    synced(gate, concert)
    app_server.advance(61_000)
    row = sold(app_server, concert, app_server.context())
    assert row.issued_at == app_server.now // 1000


def test_what_was_sold_before_the_sync_and_is_missing_still_ought_to_be_known(
    app_server: AppServer, concert: Concert
) -> None:
    row = sold(app_server, concert, app_server.context())
    app_server.advance(5_000)
    _, gate = a_gate(app_server, concert)
    assert answered(app_server, concert, row, synced(gate, concert)) is Reason.NOT_IN_SNAPSHOT


def _held(app_server: AppServer, *, under_the_lock: bool) -> tuple[Callable[[], bool], threading.Event]:
    """The thread `sale` stops before or after locking the event's head, and commits when released."""
    there, go_on = threading.Event(), threading.Event()

    def hold(_session: object, _now: int) -> None:
        if threading.current_thread().name == "sale":
            there.set()
            assert go_on.wait(30)

    app_server.database.before_commit.insert(len(app_server.database.before_commit) if under_the_lock else 0, hold)
    return lambda: there.wait(30), go_on


@pytest.mark.parametrize("under_the_lock", [False, True])
def test_a_gate_syncs_while_a_sale_waits_for_its_commit(
    postgres_url: str, tmp_path: Path, *, under_the_lock: bool
) -> None:
    """Two real connections: one sells and is held before its commit, on the other a gate syncs and goes offline."""
    app_server = AppServer(postgres_url, tmp_path)
    concert = a_live_evening(app_server)
    _, gate = a_gate(app_server, concert)
    synced(gate, concert)
    is_there, go_on = _held(app_server, under_the_lock=under_the_lock)
    rows: list[TicketRecord] = []
    began = structs.replace(app_server.context(), actor=SYSTEM)
    sale = threading.Thread(target=lambda: rows.append(sold(app_server, concert, began)), name="sale")
    sale.start()
    assert is_there()
    app_server.advance(7_000)
    as_of = synced(gate, concert)
    go_on.set()
    sale.join(30)
    assert answered(app_server, concert, rows[0], as_of) is Reason.ADMITTED
    assert (as_of == app_server.now) is not under_the_lock
    app_server.advance(7_000)
    assert synced(gate, concert) == app_server.now
    app_server.close()
