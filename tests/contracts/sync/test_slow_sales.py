"""A sale that takes seconds to commit: its tickets are never held for ones that a gate ought to know."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from shared import tickets as codes
from shared.admission import decide
from shared.protocol import EventAt
from shared.reasons import Reason
from shared.rows import GateRow
from shared.scene import type_of, zone_of
from shared.tickets import ReadTicket
from sync_server.events import queries as events
from sync_server.plumbing.principals import SYSTEM, Deed
from sync_server.tickets import codes as printing
from sync_server.tickets import service as tickets
from sync_server.tickets.models import TicketRecord
from sync_server.tickets.service import Wish
from tests.contracts.sync.box_office import a_gate, a_live_evening
from tests.contracts.sync.gates import Gate
from tests.office import Evening, Office
from tests.unit.shared.attempt_builders import an_attempt, an_event


def synced(gate: Gate, evening: Evening) -> int:
    """How fresh the rows are that a gate holds after one more sync, by the server's word."""
    frame = gate.frame(event=evening.number)
    at = EventAt(event=evening.number, lineage=frame.lineage, revision=frame.base_revision)
    (batch,) = gate.changes(at).events
    return batch.as_of


def answered(office: Office, evening: Evening, row: TicketRecord, as_of: int) -> Reason:
    """What a gate says to that ticket that went offline with rows as of then, without it."""
    with office.database.reading() as session:
        known = session.get_one(TicketRecord, row.id)
        text = printing.text_of(session, known, office.parts.sealer)
    code = codes.read(text, office.ring(evening.number))
    assert isinstance(code, ReadTicket)
    event = an_event(number=evening.number, organisation=code.organisation, days=())
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


def sold(office: Office, evening: Evening, deed: Deed) -> TicketRecord:
    """One ticket, in one transaction that began when the deed says."""
    with office.database.writing() as session:
        event = events.facts_by_number(session, evening.number)
        assert event is not None
        (row,) = tickets.issue(session, event.organisation_id, event.id, Wish(1, count=1), deed)
    return row


def test_a_sale_that_began_before_a_gate_synced_and_ended_after(office: Office, evening: Evening) -> None:
    began = office.deed()
    office.advance(5_000)
    _, gate = a_gate(office, evening)
    as_of = synced(gate, evening)
    row = sold(office, evening, began)
    assert as_of == office.now
    assert answered(office, evening, row, as_of) is Reason.ADMITTED
    assert row.issued_at * 1000 + 999 >= as_of


def test_a_new_issue_that_took_its_time(office: Office, evening: Evening) -> None:
    row = sold(office, evening, office.deed())
    began = office.deed()
    office.advance(5_000)
    _, gate = a_gate(office, evening)
    as_of = synced(gate, evening)
    with office.database.writing() as session:
        row = tickets.reissue(session, row.organisation_id, row.id, began, reason="lost")
    assert answered(office, evening, row, as_of) is Reason.ADMITTED


def test_a_code_that_was_made_before_the_commit_is_the_one_that_was_handed_out(
    office: Office, evening: Evening
) -> None:
    began = office.deed()
    office.advance(5_000)
    _, gate = a_gate(office, evening)
    as_of = synced(gate, evening)
    with office.database.writing() as session:
        event = events.facts_by_number(session, evening.number)
        assert event is not None
        (row,) = tickets.issue(session, event.organisation_id, event.id, Wish(1, count=1), began)
        early = printing.text_of(session, row, office.parts.sealer)
    with office.database.reading() as session:
        assert printing.text_of(session, session.get_one(TicketRecord, row.id), office.parts.sealer) == early
    assert answered(office, evening, row, as_of) is Reason.ADMITTED


def test_a_sale_that_is_over_in_its_own_second_keeps_its_time(office: Office, evening: Evening) -> None:
    _, gate = a_gate(office, evening)
    synced(gate, evening)
    office.advance(61_000)
    row = sold(office, evening, office.deed())
    assert row.issued_at == office.now // 1000


def test_what_was_sold_before_the_sync_and_is_missing_still_ought_to_be_known(office: Office, evening: Evening) -> None:
    row = sold(office, evening, office.deed())
    office.advance(5_000)
    _, gate = a_gate(office, evening)
    assert answered(office, evening, row, synced(gate, evening)) is Reason.NOT_IN_SNAPSHOT


def _held(office: Office, *, under_the_lock: bool) -> tuple[Callable[[], bool], threading.Event]:
    """The thread `sale` stops before or behind the lock of the event's head, and commits when it is let go."""
    there, go_on = threading.Event(), threading.Event()

    def hold(_session: object, _now: int) -> None:
        if threading.current_thread().name == "sale":
            there.set()
            assert go_on.wait(30)

    office.database.last_acts.insert(len(office.database.last_acts) if under_the_lock else 0, hold)
    return lambda: there.wait(30), go_on


@pytest.mark.parametrize("under_the_lock", [False, True])
def test_a_gate_syncs_while_a_sale_waits_for_its_commit(
    postgres_url: str, tmp_path: Path, *, under_the_lock: bool
) -> None:
    """Two real connections: one sells and is held before its commit, on the other a gate syncs and goes offline."""
    office = Office(postgres_url, tmp_path)
    evening = a_live_evening(office)
    _, gate = a_gate(office, evening)
    synced(gate, evening)
    is_there, go_on = _held(office, under_the_lock=under_the_lock)
    rows: list[TicketRecord] = []
    began = replace(office.deed(), actor=SYSTEM)
    sale = threading.Thread(target=lambda: rows.append(sold(office, evening, began)), name="sale")
    sale.start()
    assert is_there()
    office.advance(7_000)
    as_of = synced(gate, evening)
    go_on.set()
    sale.join(30)
    assert answered(office, evening, rows[0], as_of) is Reason.ADMITTED
    assert (as_of == office.now) is not under_the_lock
    office.advance(7_000)
    assert synced(gate, evening) == office.now
    office.close()
