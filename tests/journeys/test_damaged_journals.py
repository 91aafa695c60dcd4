"""Journals with lost or damaged entries: the rest reaches the server, and gaps are declared."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from gate_app.journal.reading import SEQ_BITS, last_seq
from gate_app.sync import push
from shared.journal.scans import EntryKind
from tests.journeys.simulated_gate import SimulatedGate
from tests.journeys.world import World


def damage(gate: SimulatedGate, seq: int, body: bytes | None) -> None:
    """Delete an entry of the current branch, or replace its bytes."""
    journal = gate.context.journal
    place = journal.branch.local << SEQ_BITS | seq
    connection = journal.database.connection
    if body is None:
        connection.execute("DELETE FROM journal WHERE place = ?", (place,))
    else:
        connection.execute("UPDATE journal SET body = ? WHERE place = ?", (body, place))


def admissions(gate: SimulatedGate) -> list[int]:
    return [entry.seq for entry in gate.admissions()]


def gaps(gate: SimulatedGate) -> list[tuple[int, int]]:
    gaps = [entry.details for entry in gate.entries() if entry.kind == EntryKind.GAP]
    return [(details["first"], details["last"]) for details in gaps]


def test_entries_on_both_sides_of_a_gap_reach_the_server(any_world: World) -> None:
    world = any_world
    tickets = world.sell(8)
    gate = world.gate("A")
    for ticket in tickets[:6]:
        gate.scan(ticket.code)
    seqs = admissions(gate)
    damage(gate, seqs[1], None)
    damage(gate, seqs[2], None)
    damage(gate, seqs[4], b"\xc1 nothing")
    assert "error" not in gate.sync()
    assert gaps(gate) == [(seqs[1], seqs[2]), (seqs[4], seqs[4])]
    assert world.counts() == {"admitted": 3}
    assert gate.unsent == 0
    assert len(gate.branches()) == 2
    assert "are damaged or missing" in gate.context.journal.branch_message()
    gate.scan(tickets[7].code)
    gate.sync()
    assert world.counts() == {"admitted": 4}
    assert (world.conflicts(), gate.sync()["quarantined"]) == ([], 0)


def test_an_altered_entry_no_longer_counts_and_affects_no_other(world: World) -> None:
    tickets = world.sell(4)
    gate = world.gate("A")
    for ticket in tickets:
        gate.scan(ticket.code)
    seq = admissions(gate)[1]
    (body,) = gate.context.journal.bodies(gate.context.journal.branch, seq - 1, 1)
    damage(gate, seq, body.replace(b"admitted", b"admittee", 1))
    gate.sync()
    assert gaps(gate) == [(seq, seq)]
    assert world.counts() == {"admitted": 3}


def test_a_gap_is_declared_only_when_the_server_lacks_the_entry_too(world: World) -> None:
    tickets = world.sell(3)
    gate = world.gate("A")
    backup = world.back_up()
    for ticket in tickets:
        gate.scan(ticket.code)
    gate.sync()
    damage(gate, admissions(gate)[1], None)
    gate.sync()
    assert (gaps(gate), world.counts()) == ([], {"admitted": 3})
    world.restore(backup)
    gate.sync()
    gate.sync()
    assert len(gaps(gate)) == 1
    assert (world.counts(), gate.unsent) == ({"admitted": 2}, 0)


def test_damage_at_the_acknowledged_entry_is_not_taken_for_a_second_machine(world: World) -> None:
    first, second = world.sell(2)
    gate = world.gate("A")
    gate.scan(first.code)
    gate.sync()
    damage(gate, gate.context.journal.head.seq, b"\xc1")
    gate.sync()
    gate.scan(second.code)
    gate.sync()
    assert world.counts() == {"admitted": 2}
    assert "second machine" not in gate.context.journal.branch_message()
    assert len(gate.branches()) == 1, "the server has that entry: nothing is lost"
    assert (world.conflicts(), gate.unsent) == ([], 0)


def test_a_gap_delays_nothing_though_uploads_are_small(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(push, "MAX_ENTRIES", 5)
    tickets = world.sell(30)
    gate = world.gate("A")
    for ticket in tickets:
        gate.scan(ticket.code)
    seqs = admissions(gate)
    for lost in (seqs[1], seqs[2], seqs[12], seqs[29]):
        damage(gate, lost, b"")
    gate.sync()
    assert gate.unsent == 0
    assert world.counts() == {"admitted": 26}
    assert "second machine" not in gate.context.journal.branch_message()
    assert world.conflicts() == []


def test_the_gate_starts_despite_a_damaged_database_page(any_world: World) -> None:
    world = any_world
    tickets = world.sell(60)
    gate = world.gate("A")
    for ticket in tickets[:50]:
        gate.scan(ticket.code)
    written = len(admissions(gate))
    gate.switch_off()
    damage_page(gate)
    gate.switch_on()
    assert gate.reason(tickets[55].code) == "admitted"
    for _ in range(3):
        assert "error" not in gate.sync()
    lost = sum(last - first + 1 for first, last in gaps(gate))
    assert 0 < lost < 30
    assert gate.unsent == 0
    assert written + 1 - lost <= world.counts()["admitted"] < written + 1


def damage_page(gate: SimulatedGate) -> None:
    """Writes noise over a page of the file that holds entries from the middle of the journal."""
    path = gate.folder / "gate.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        local = gate.context.journal.branch.local
        place = local << SEQ_BITS | last_seq(connection, local) // 2
        (body,) = connection.execute("SELECT body FROM journal WHERE place = ?", (place,)).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    content = bytearray(path.read_bytes())
    page = content.index(body) // size * size
    content[page : page + size] = b"\xff" * size
    path.write_bytes(content)
