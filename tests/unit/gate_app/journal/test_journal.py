"""The journal is append-only and chained."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate_app.journal.gaps import declare
from gate_app.journal.reading import SEQ_BITS
from shared.journal.scans import GENESIS, EntryKind, decode, encode, entry_hash
from tests.gate_builders import GateAtHome, a_code, a_gate


@pytest.fixture
def gate(tmp_path: Path) -> GateAtHome:
    gate = a_gate(tmp_path)
    for number in (1, 2, 3):
        gate.scan(a_code(number))
    return gate


def test_each_entry_names_the_one_before(gate: GateAtHome) -> None:
    entries = gate.entries()
    assert entries[0].previous == GENESIS
    assert [entry.seq for entry in entries] == [1, 2, 3, 4]
    assert [entry.previous for entry in entries[1:]] == [entry_hash(encode(entry)) for entry in entries[:-1]]


def test_an_entry_says_which_rows_it_was_judged_by(gate: GateAtHome) -> None:
    position = gate.context.roster.snapshots[7].position
    entry = gate.presentations()[0]
    assert (entry.lineage, entry.revision, entry.digest) == (position.lineage, position.revision, position.digest)


def test_a_changed_entry_is_found(gate: GateAtHome) -> None:
    assert gate.context.journal.verify().ok
    tamper(gate, 2, lambda body: body.replace(b"admitted", b"admittee", 1))
    chain = gate.context.journal.verify()
    number = gate.context.journal.branch.number
    assert (chain.entries, chain.ok, chain.broken_at) == (4, False, f"{number}/3")
    assert chain.lost == (f"{number}/2-2",), "the one behind it is vouched for by the next"


def test_a_missing_entry_is_found(gate: GateAtHome) -> None:
    place = gate.context.journal.branch.local << SEQ_BITS | 2
    gate.context.database.connection.execute("DELETE FROM journal WHERE place = ?", (place,))
    assert not gate.context.journal.verify().ok


def test_a_broken_chain_is_reported_and_scanning_goes_on_as_a_new_branch(gate: GateAtHome) -> None:
    old = gate.context.journal.branch.number
    tamper(gate, 4, lambda body: body[:-1] + b"\xc1")
    context = gate.crash()
    assert "damaged" in context.problems[0]
    assert context.journal.branch.number != old
    assert gate.scan(a_code(1))["reason"] == "already_used", "what the broken branch admitted still counts"
    first = decode(context.journal.bodies(context.journal.branch, 0, 1)[0])
    assert (first.kind, first.details["branch"]) == (EntryKind.BRANCH, old)


def test_a_new_boot_of_the_machine_is_an_entry(gate: GateAtHome) -> None:
    gate.crash()
    gate.crash(reboot=True)
    assert [entry.seq for entry in gate.entries() if entry.kind == EntryKind.BOOT] == [1], "not before it must be"
    gate.scan(a_code(4))
    assert [entry.seq for entry in gate.entries() if entry.kind == EntryKind.BOOT] == [1, 5]


def test_the_mark_moves_forward_and_may_fall(gate: GateAtHome) -> None:
    journal = gate.context.journal
    journal.acknowledge(journal.branch, 4)
    assert (journal.unsent(), journal.next_unsent()) == (0, None)
    journal.acknowledge(journal.branch, 1)
    unsent = journal.next_unsent()
    assert unsent is not None
    assert (journal.unsent(), unsent.acknowledged) == (3, 1)


def test_a_mark_that_names_another_entry_does_not_agree(gate: GateAtHome) -> None:
    journal = gate.context.journal
    head = journal.head
    assert journal.agrees(journal.branch, head.seq, head.hash)
    assert not journal.agrees(journal.branch, head.seq, bytes(32))
    assert not journal.agrees(journal.branch, head.seq + 1, head.hash)
    assert journal.agrees(journal.branch, 0, bytes(32))


def test_a_mark_that_stands_at_the_end_of_a_declared_gap_agrees(gate: GateAtHome) -> None:
    gate.scan(a_code(4))
    journal = gate.context.journal
    branch, (_, second, *_) = journal.branch, journal.bodies(journal.branch, 0, 9)
    tamper(gate, 3, lambda body: body.replace(b"admitted", b"admittee", 1))
    assert not journal.agrees(branch, 3, entry_hash(second))
    declare(journal, branch, (3, 3), gate.context.time)
    assert journal.agrees(branch, 3, entry_hash(second))
    gap = decode(journal.bodies(branch, 5, 1)[0])
    assert (gap.kind, gap.previous, gap.details) == (EntryKind.GAP, entry_hash(second), {"first": 3, "last": 3})


def test_a_home_enrolled_as_another_device_keeps_its_journal(gate: GateAtHome) -> None:
    from tests.gate_builders import enrolled

    enrolled(gate.folder, device=12)
    gate.context.close()
    context = gate.switch_on()
    gate.scan(a_code(4))
    assert {entry.device for entry in gate.entries()} == {11, 12}
    assert context.journal.verify().ok
    assert gate.scan(a_code(1))["reason"] == "already_used"


def tamper(gate: GateAtHome, seq: int, change) -> None:  # type: ignore[no-untyped-def]
    journal = gate.context.journal
    place = journal.branch.local << SEQ_BITS | seq
    connection = journal.database.connection
    (body,) = connection.execute("SELECT body FROM journal WHERE place = ?", (place,)).fetchone()
    connection.execute("UPDATE journal SET body = ? WHERE place = ?", (change(body), place))
