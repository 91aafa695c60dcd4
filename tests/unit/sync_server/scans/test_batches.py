"""How an upload is checked, and how far a journal is complete."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from shared.journal import scans
from shared.journal.scans import GENESIS, Entry, EntryKind
from sync_server.scans.rules import (
    HeldEntry,
    Line,
    Mark,
    QuarantineReason,
    advance,
    read_batch,
    with_chain_checked,
    with_events,
    with_head_checked,
)

DEVICE, BRANCH = 5, 1


def an_entry(seq: int, previous: bytes = GENESIS, **fields: object) -> Entry:
    """An entry of device 5 on branch 1."""
    plain = Entry(
        device=DEVICE,
        branch=BRANCH,
        seq=seq,
        kind=EntryKind.BOOT,
        event=0,
        gate=0,
        reader="",
        operator="",
        ticket_id=0,
        issue=0,
        code_hash=b"",
        direction="",
        mode="",
        admitted=False,
        reason="",
        notices=(),
        override_by=0,
        override_reason="",
        override_denial="",
        wall=0,
        monotonic=0,
        boot=b"",
        offset=0,
        uncertainty=0,
        lineage=b"",
        revision=0,
        digest=b"",
        previous=previous,
        details={},
    )
    return replace(plain, **fields)  # type: ignore[arg-type]  # values of any column


def a_chain(length: int) -> list[bytes]:
    """Bodies that follow one another."""
    bodies: list[bytes] = []
    for seq in range(1, length + 1):
        bodies.append(scans.encode(an_entry(seq, scans.entry_hash(bodies[-1]) if bodies else GENESIS)))
    return bodies


def reasons(lines: list[Line]) -> list[str]:
    """Why each line is quarantined."""
    return [line.why for line in lines]


def test_a_whole_chain_is_good() -> None:
    lines = with_chain_checked(read_batch(DEVICE, BRANCH, a_chain(4), 1), {})
    assert [(line.seq, line.why) for line in lines] == [(1, ""), (2, ""), (3, ""), (4, "")]


def test_an_unreadable_entry_gets_the_number_after_its_predecessor() -> None:
    first, _, third = a_chain(3)
    lines = read_batch(DEVICE, BRANCH, [first, b"\xff", third], 1)
    assert [(line.seq, line.why) for line in lines] == [(1, ""), (2, QuarantineReason.UNREADABLE), (3, "")]


def test_after_a_bad_entry_the_chain_starts_again() -> None:
    first = a_chain(1)[0]
    stray = scans.encode(an_entry(2, bytes(31) + b"\x07"))
    third = scans.encode(an_entry(3, scans.entry_hash(stray)))
    lines = with_chain_checked(read_batch(DEVICE, BRANCH, [first, stray, third], 1), {})
    assert reasons(lines) == ["", QuarantineReason.BROKEN_CHAIN, ""]


def test_an_entry_must_follow_what_is_held_already() -> None:
    second = scans.encode(an_entry(2, bytes(31) + b"\x07"))
    lines = read_batch(DEVICE, BRANCH, [second], 2)
    assert reasons(with_chain_checked(lines, {1: [HeldEntry(bytes(32), False)]})) == [QuarantineReason.BROKEN_CHAIN]
    assert reasons(with_chain_checked(lines, {1: [HeldEntry(bytes(32), True)]})) == [""]
    assert reasons(with_chain_checked(lines, {})) == [""]


def test_either_line_of_a_fork_may_be_continued() -> None:
    second = scans.encode(an_entry(2, bytes(31) + b"\x07"))
    held = {1: [HeldEntry(bytes(32), False), HeldEntry(bytes(31) + b"\x07", False)]}
    assert reasons(with_chain_checked(read_batch(DEVICE, BRANCH, [second], 2), held)) == [""]


def test_a_gap_names_the_last_entry_before_the_hole() -> None:
    gap = an_entry(5, bytes(31) + b"\x07", kind=EntryKind.GAP, details={"first": 3, "last": 4})
    lines = read_batch(DEVICE, BRANCH, [scans.encode(gap)], 5)
    assert reasons(with_chain_checked(lines, {2: [HeldEntry(bytes(31) + b"\x07", False)]})) == [""]
    assert reasons(with_chain_checked(lines, {2: [HeldEntry(bytes(32), False)]})) == [QuarantineReason.BROKEN_CHAIN]


def test_entries_of_foreign_events_are_quarantined() -> None:
    bodies = [scans.encode(an_entry(seq, event=event)) for seq, event in ((1, 0), (2, 7), (3, 8))]
    lines = with_events(read_batch(DEVICE, BRANCH, bodies, 1), {7: "event-7"})
    assert reasons(lines) == ["", "", QuarantineReason.FOREIGN_EVENT]
    assert [line.event_id for line in lines] == [None, "event-7", None]


def test_an_entry_that_its_device_did_not_sign_is_quarantined() -> None:
    lines = read_batch(DEVICE, BRANCH, a_chain(2), 1)
    assert reasons(with_head_checked(lines, 2, lines[1].hash)) == ["", ""]
    assert reasons(with_head_checked(lines, 2, bytes(32))) == ["", QuarantineReason.WRONG_HEAD]
    assert reasons(with_head_checked(lines, 9, bytes(32))) == ["", ""]


def h(seq: int) -> bytes:
    """A hash to tell entries by."""
    return seq.to_bytes(32, "big")


def test_the_mark_stops_at_a_hole_and_steps_over_a_declared_one() -> None:
    held = [(1, h(1)), (2, h(2)), (5, h(5)), (6, h(6))]
    assert advance(Mark(0, GENESIS), held, []) == Mark(2, h(2))
    assert advance(Mark(0, GENESIS), held, [(3, 4)]) == Mark(6, h(6))


def test_the_first_line_of_a_fork_gives_the_marks_head() -> None:
    assert advance(Mark(0, GENESIS), [(1, h(1)), (1, h(9)), (2, h(2))], []) == Mark(2, h(2))
    assert advance(Mark(0, GENESIS), [(1, h(1)), (1, h(9))], []) == Mark(1, h(1))


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.integers(0, 30))
def test_the_mark_does_not_depend_on_how_entries_are_split(present: list[bool], cut: int) -> None:
    held = [(seq, h(seq)) for seq, there in enumerate(present, start=1) if there]
    whole = advance(Mark(0, GENESIS), held, [])
    first = advance(Mark(0, GENESIS), held[:cut], [])
    assert advance(first, [one for one in held if one[0] > first.seq], []) == whole
