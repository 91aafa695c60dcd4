"""Uploading the journal: entries and their bytes, the chain, corrected times, and movements."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from shared.errors import Unreadable
from shared.journal.scans import (
    GENESIS,
    MAX_ENTRY_BYTES,
    UNKNOWN_MS,
    Entry,
    Timeline,
    annulled_by,
    check_chain,
    correct,
    decode,
    encode,
    entry_hash,
    head_message,
    movement_of,
    sign_head,
    verify_head,
)
from shared.wire.snapshot import MovementKind
from tests.unit.shared.wire_builders import EIGHT, HOUR, a_journal, a_key, an_anchor, an_entry

pack_message = msgspec.msgpack.encode


# --- Bytes ---


def test_an_entry_comes_out_as_it_went_in() -> None:
    entry = an_entry(details={"zone": 1, "seat": "7/12", "words": ["a", {"b": None}]}, notices=("vip", "check:age"))
    assert decode(encode(entry)) == entry


def test_the_same_entry_has_the_same_bytes_however_its_details_were_put_together() -> None:
    assert encode(an_entry(details={"a": 1, "zone": 2})) == encode(an_entry(details={"zone": 2, "a": 1}))


def test_an_entry_of_a_later_version_is_read_without_what_came_later() -> None:
    body = pack_message([*msgspec.msgpack.decode(encode(an_entry())), "a column from the future"])
    assert decode(body) == an_entry()
    assert entry_hash(body) != entry_hash(encode(an_entry()))


def test_a_kind_from_the_future_is_read() -> None:
    assert decode(encode(an_entry(kind="hologram"))).kind == "hologram"


BAD_COLUMNS: dict[str, dict[str, Any]] = {
    "no sequence number": {"seq": 0},
    "a device beyond its four bytes": {"device": 2**32},
    "a sequence number no database keeps": {"seq": 2**63},
    "a wall clock beyond sense": {"wall": 2**60},
    "a bool for a number": {"gate": True},
    "a number for a bool": {"admitted": 1},
    "a hash that is cut": {"previous": bytes(31)},
    "a code hash that is too long": {"code_hash": bytes(17)},
    "a zero byte in a text": {"reason": "admi\0tted"},
    "a zero byte in a notice": {"notices": ("vip", "\0")},
    "a text without end": {"reader": "x" * 1_001},
    "details that are none": {"details": ["zone", 1]},
}


@pytest.mark.parametrize("different", BAD_COLUMNS.values(), ids=BAD_COLUMNS.keys())
def test_an_entry_that_cannot_be_is_unreadable(different: dict[str, Any]) -> None:
    with pytest.raises(Unreadable):
        decode(encode(an_entry(**different)))


def test_an_entry_larger_than_any_entry_is_unreadable() -> None:
    with pytest.raises(Unreadable, match="larger"):
        decode(encode(an_entry(details={"words": "x" * MAX_ENTRY_BYTES})))


@given(st.binary(max_size=400))
def test_any_bytes_are_an_entry_or_unreadable(body: bytes) -> None:
    try:
        decode(body)
    except Unreadable as refusal:
        assert refusal.status == 400


@given(st.integers(min_value=0), st.integers(1, 255))
def test_an_entry_hurt_in_one_byte_has_another_hash(place: int, flip: int) -> None:
    body = bytearray(encode(an_entry()))
    body[place % len(body)] ^= flip
    assert entry_hash(bytes(body)) != entry_hash(encode(an_entry()))
    try:
        decode(bytes(body))
    except Unreadable as refusal:
        assert "entry" in refusal.message


# --- Chain ---


def test_a_journal_holds_from_its_first_entry_to_its_head() -> None:
    bodies = a_journal(an_entry(), an_entry(ticket_id=5), an_entry(ticket_id=6))
    report = check_chain(bodies, GENESIS)
    assert (report.entries, report.ok, report.broken_at) == (3, True, None)
    assert report.head == entry_hash(bodies[-1])


def test_a_stretch_holds_from_the_hash_before_it() -> None:
    bodies = a_journal(*[an_entry(ticket_id=number) for number in range(1, 6)])
    assert check_chain(bodies[2:], entry_hash(bodies[1])).ok
    assert not check_chain(bodies[2:], entry_hash(bodies[0])).ok


@pytest.mark.parametrize("hurt", range(4))
def test_one_altered_entry_breaks_the_chain_where_it_stands(hurt: int) -> None:
    bodies = a_journal(*[an_entry(ticket_id=number) for number in range(1, 5)])
    bodies[hurt] = encode(replace(decode(bodies[hurt]), admitted=False))
    report = check_chain(bodies, GENESIS)
    # An alteration shows in the entry after it; in the last one only the signed head shows it.
    assert report.broken_at == (hurt + 2 if hurt < 3 else None)
    assert report.head != entry_hash(bodies[-1]) or hurt == 3


def test_an_entry_left_out_or_moved_breaks_the_chain() -> None:
    bodies = a_journal(*[an_entry(ticket_id=number) for number in range(1, 5)])
    assert check_chain([bodies[0], bodies[2]], GENESIS).broken_at == 3
    assert check_chain([bodies[1], bodies[0]], GENESIS).broken_at == 2


def test_nonsense_in_the_middle_breaks_the_chain_there() -> None:
    bodies = a_journal(an_entry(), an_entry(ticket_id=5), an_entry(ticket_id=6))
    report = check_chain([bodies[0], b"\xc1", bodies[2]], GENESIS)
    assert (report.entries, report.ok, report.broken_at) == (1, False, 2)


def test_a_gap_holds_only_where_it_is_declared_in_full() -> None:
    def journal(kind: str, details: dict[str, Any]) -> list[bytes]:
        return a_journal(an_entry(), an_entry(seq=5, kind=kind, details=details), an_entry(seq=6))

    assert check_chain(journal("gap", {"first": 2, "last": 4}), GENESIS).ok
    assert check_chain(journal("gap", {"first": 2, "last": 3}), GENESIS).broken_at == 5
    assert check_chain(journal("presentation", {"first": 2, "last": 4}), GENESIS).broken_at == 5


def test_a_head_stands_for_one_device_branch_number_and_hash() -> None:
    key, head = a_key(), bytes(range(32))
    signature = sign_head(key, 4, 1, 17, head)
    public = key.public_key()
    assert verify_head(public, signature, 4, 1, 17, head)
    for device, branch, seq, other in [(5, 1, 17, head), (4, 2, 17, head), (4, 1, 16, head), (4, 1, 17, bytes(32))]:
        assert not verify_head(public, signature, device, branch, seq, other)
    assert not verify_head(a_key(2).public_key(), signature, 4, 1, 17, head)
    assert not verify_head(public, b"short", 4, 1, 17, head)


def test_what_is_signed_of_a_head_is_written_down() -> None:
    message = head_message(4, 1, 17, bytes(32))
    assert message == b"gatehouse:head:1\0" + bytes.fromhex("00000004 00000001 0000000000000011") + bytes(32)


# --- Corrected times ---


def times(*entries: Entry) -> list[tuple[int, int]]:
    return [(at, uncertainty) for _, at, uncertainty in correct(entries)]


def test_the_wall_clock_has_no_say() -> None:
    honest = times(an_anchor(1_000, EIGHT), an_entry(monotonic=61_000))
    liar = times(an_anchor(1_000, EIGHT, wall=0), an_entry(monotonic=61_000, wall=4_000_000_000_000, offset=5))
    assert honest == liar
    assert honest[1][0] == EIGHT + 60_000


def test_half_the_round_trip_and_the_drift_since_make_the_uncertainty() -> None:
    _, (at, uncertainty) = times(an_anchor(0, EIGHT, rtt=80), an_entry(monotonic=10_000_000))
    assert (at, uncertainty) == (EIGHT + 10_000_000, 40 + 1_000)


def test_an_anchor_speaks_for_entries_before_it_too() -> None:
    (at, uncertainty), _ = times(an_entry(monotonic=10_000), an_anchor(1_010_000, EIGHT))
    assert (at, uncertainty) == (EIGHT - 1_000_000, 100)


def test_between_two_anchors_time_lies_on_the_line() -> None:
    first, last = an_anchor(0, EIGHT), an_anchor(1_000_000, EIGHT + 1_000_050)  # a slow quartz: 50 ppm
    _, (at, uncertainty), _ = times(first, an_entry(monotonic=500_000), last)
    assert (at, uncertainty) == (EIGHT + 500_025, 25)


def test_anchors_that_contradict_each_other_leave_room_for_both() -> None:
    first, last = an_anchor(0, EIGHT), an_anchor(1_000_000, EIGHT + 1_060_000)  # somebody set the server's clock
    _, (at, uncertainty), _ = times(first, an_entry(monotonic=500_000), last)
    assert at - uncertainty <= EIGHT + 500_000
    assert at + uncertainty >= EIGHT + 560_000


def test_a_boot_without_a_server_lies_between_its_neighbours() -> None:
    before, after = an_anchor(0, EIGHT), an_anchor(5_000, EIGHT + HOUR, boot=b"boot-two")
    middle = an_entry(monotonic=7_000, boot=b"boot-mid")
    _, (at, uncertainty), _ = times(before, middle, after)
    assert at - uncertainty == EIGHT
    assert at + uncertainty in (EIGHT + HOUR, EIGHT + HOUR + 1)


def test_a_boot_after_the_last_word_of_the_server_is_bounded_below_and_says_so() -> None:
    first = an_anchor(0, EIGHT)
    then = [an_entry(monotonic=moment, boot=b"boot-two") for moment in (3_000, 63_000)]
    _, *later = times(first, *then)
    assert later == [(EIGHT, UNKNOWN_MS), (EIGHT + 60_000 - 6, UNKNOWN_MS)]


def test_a_boot_in_2090_poisons_nothing() -> None:
    dreaming = an_entry(monotonic=1_000, boot=b"boot-two", wall=3_786_912_000_000)
    _, (at, _), (later, uncertainty) = times(
        an_anchor(0, EIGHT), dreaming, an_anchor(0, EIGHT + HOUR, boot=b"boot-end", rtt=10)
    )
    assert EIGHT <= at <= EIGHT + HOUR
    assert (later, uncertainty) == (EIGHT + HOUR, 5)


def test_a_journal_without_any_server_has_only_the_device_s_word() -> None:
    assert times(an_entry(wall=EIGHT, offset=-120)) == [(EIGHT - 120, UNKNOWN_MS)]


@pytest.mark.parametrize("details", [{}, {"server": "x", "monotonic": 1, "rtt": 1}, {"server": -1, "monotonic": 1}])
def test_a_damaged_anchor_is_no_anchor(details: dict[str, Any]) -> None:
    damaged = replace(an_anchor(0, EIGHT), details=details)
    assert times(damaged)[0][1] == UNKNOWN_MS


@given(st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 400), st.integers(-100, 100)), min_size=1, max_size=5))
def test_the_truth_always_lies_within_the_uncertainty(anchors: list[tuple[int, int, int]]) -> None:
    # A clock that drifts by 60 ppm, read through round trips of any length up to 400 ms: truth = EIGHT + m * 1.00006.
    def truth(monotonic: int) -> float:
        return EIGHT + monotonic * 1.000_06

    journal = [
        an_anchor(moment, round(truth(moment) + rtt / 2 * skew / 100), rtt + 2) for moment, rtt, skew in sorted(anchors)
    ]
    timeline = Timeline.of(journal)
    for moment in range(0, 12_000_000, 500_000):
        at, uncertainty = timeline.at(an_entry(monotonic=moment))
        assert abs(at - truth(moment)) <= uncertainty + 1


# --- Movements ---


def test_an_admitted_entry_is_a_movement_with_its_zone() -> None:
    movement = movement_of(an_entry(), EIGHT)
    assert movement is not None
    assert (movement.kind, movement.zone, movement.gate, movement.at) == (MovementKind.ENTRY, 1, 2, EIGHT)
    assert (movement.device, movement.branch, movement.seq) == (4, 1, 1)


def test_an_exit_and_a_ticket_typed_by_hand_are_movements() -> None:
    walked_out = movement_of(an_entry(direction="exit", reason="exited"), EIGHT)
    typed = movement_of(an_entry(kind="by_hand", code_hash=b""), EIGHT)
    assert walked_out is not None
    assert walked_out.kind == MovementKind.EXIT
    assert typed is not None
    assert typed.kind == MovementKind.ENTRY


@pytest.mark.parametrize(
    "different",
    [
        {"admitted": False, "reason": "already_used"},
        {"mode": "test", "reason": "test_ok"},
        {"kind": "doors"},
        {"kind": "hologram"},
        {"ticket_id": 0},
        {"direction": "sideways"},
    ],
)
def test_what_nobody_walked_through_is_no_movement(different: dict[str, Any]) -> None:
    assert movement_of(an_entry(**different), EIGHT) is None


def test_an_annulment_names_what_never_counted() -> None:
    movement = movement_of(an_entry(kind="annulment", admitted=False, details={"annuls": [4, 1, 17]}), EIGHT)
    assert movement is not None
    assert (movement.kind, movement.annuls) == (MovementKind.ANNULMENT, (4, 1, 17))


@pytest.mark.parametrize("named", [None, [], [4, 1], [4, 1, -1], [4, 1, 2**63], [4, 1, True], "417", [4, 1, "17"]])
def test_an_annulment_of_nothing_annuls_nothing(named: object) -> None:
    entry = an_entry(kind="annulment", admitted=False, details={"annuls": named})
    assert annulled_by(entry) is None
    assert movement_of(entry, EIGHT) is None


def test_a_zone_that_is_none_is_nought() -> None:
    movement = movement_of(an_entry(details={"zone": "floor"}), EIGHT)
    assert movement is not None
    assert movement.zone == 0
