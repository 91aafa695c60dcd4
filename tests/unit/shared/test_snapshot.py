"""Encoding rows: bodies, frames and digests, and refusing invalid ones."""

from __future__ import annotations

import random

import msgspec
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import Unreadable
from shared.wire import columns, frames
from shared.wire.compression import Allowance, compressed
from shared.wire.snapshot import (
    EMPTY_DIGEST,
    MAX_FRAME_BYTES,
    MAX_FRAME_ROWS,
    EventRow,
    PolicyRow,
    Row,
    RowKind,
    TicketRow,
    digest_add,
    digest_remove,
    from_frame,
    movements_from_bytes,
    movements_to_bytes,
    pack,
    row_hash,
    to_frame,
    unpack,
)
from tests.unit.shared.wire_builders import a_movement, a_ticket_row, an_event_row, one_row_of_each_kind

pack_message = msgspec.msgpack.encode


def tickets(count: int) -> list[Row]:
    """As many tickets as a frame may hold, sold in a row, kept by their random ids."""
    dice = random.Random(11)
    letters = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
    rows = [
        a_ticket_row(
            ticket_id=dice.getrandbits(64),
            seat=seat,
            seat_row=str(seat // 40 + 1),
            seat_number=str(seat % 40 + 1),
            number=f"ABBA-{seat}",
            confirmation_code="".join(dice.choices(letters, k=8)),
        )
        for seat in range(1, count + 1)
    ]
    return [pack(row) for row in sorted(rows, key=lambda row: row.ticket_id)]


# --- Bodies ---


def test_every_kind_of_row_comes_out_as_it_went_in() -> None:
    rows = one_row_of_each_kind()
    assert {pack(row).kind for row in rows} == set(RowKind)
    assert tuple(unpack(pack(row)) for row in rows) == rows


def test_a_body_holds_every_field_but_the_key() -> None:
    row = pack(PolicyRow(known_tickets_only=True))
    assert (row.kind, row.key) == (RowKind.POLICY, 0)
    assert msgspec.msgpack.decode(row.body or b"") == [True, None, "admit", 5_000]


def test_a_row_of_a_later_version_is_read_without_what_came_later() -> None:
    row = pack(a_ticket_row())
    longer = pack_message([*msgspec.msgpack.decode(row.body or b""), "aura", {"colour": 7}])
    assert unpack(Row(row.kind, row.key, longer)) == a_ticket_row()


def test_a_row_of_an_earlier_version_takes_the_defaults() -> None:
    row = pack(a_ticket_row(name="Zoë", notes="aisle"))
    shorter = pack_message(msgspec.msgpack.decode(row.body or b"")[:-2])
    assert unpack(Row(row.kind, row.key, shorter)) == a_ticket_row(name="", notes="")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xc1",
        pack_message({"issue": 1}),
        pack_message([1]),
        b"\x91" * 5_000,
        pack_message([True, *msgspec.msgpack.decode(pack(a_ticket_row()).body or b"")[1:]]),
        pack_message([1, 9, *msgspec.msgpack.decode(pack(a_ticket_row()).body or b"")[2:]]),
        (pack(a_ticket_row()).body or b"") + b"\xc0",
        b"\xa0" * 70_000,
    ],
    ids=["nothing", "no msgpack", "a map", "too short", "a well", "a bool as number", "no such state", "tail", "huge"],
)
def test_nonsense_is_not_a_ticket(body: bytes) -> None:
    with pytest.raises(Unreadable):
        unpack(Row(RowKind.TICKET, 1, body))


def test_a_row_that_is_gone_has_nothing_to_read() -> None:
    with pytest.raises(Unreadable, match="gone"):
        unpack(Row(RowKind.TICKET, 1, None))


def test_a_public_key_has_thirty_two_bytes() -> None:
    with pytest.raises(Unreadable):
        unpack(Row(RowKind.KEY, 3, pack_message(["org-1", bytes(31), "active"])))


@given(st.sampled_from(RowKind), st.binary(max_size=200))
def test_any_bytes_are_a_row_or_unreadable(kind: RowKind, body: bytes) -> None:
    try:
        unpack(Row(kind, 1, body))
    except Unreadable as refusal:
        assert refusal.code == "unreadable_message"


# --- Frames ---


def test_a_frame_gives_back_rows_of_all_kinds_gone_ones_and_foreign_ones() -> None:
    rows = [
        *map(pack, one_row_of_each_kind()),
        *tickets(40),
        Row(RowKind.TICKET, 2**64 - 1, None),
        Row(RowKind.TICKET, 5, b"\xcd\x00\x05 no array, and not in its shortest form"),
        *(Row(RowKind.GATE, number, None) for number in range(30)),
    ]
    assert from_frame(to_frame(rows)) == rows


def test_an_empty_frame_is_a_frame() -> None:
    assert from_frame(to_frame([])) == []


VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=12)
    | st.binary(max_size=12)
    | st.lists(st.integers(0, 9), max_size=3)
)


@given(st.data(), st.integers(1, 6), st.integers(1, 40))
def test_bodies_survive_to_the_byte_whatever_their_columns_hold(data: st.DataObject, width: int, count: int) -> None:
    kinds = [data.draw(st.sampled_from([VALUES, st.integers(0, 2**64 - 1), st.text(max_size=9)])) for _ in range(width)]
    bodies = [pack_message([data.draw(kind) for kind in kinds]) for _ in range(count)]
    rows = [Row(RowKind.ZONE, key, body) for key, body in enumerate(bodies)]
    assert from_frame(to_frame(rows)) == rows


@pytest.mark.parametrize(
    "values",
    [
        [True, 1, 1.0] * 10,
        [f"A-{n}" for n in range(30)],
        [f"A-{n:04}" for n in range(30)],
        [f"A-{n}" for n in range(95, 105)] * 3,
        [f"+{n}" for n in range(30)],
        ["٣", "7"] * 10,
        ["10" * 12, "7"] * 10,
        ["é" * n for n in range(20)],
        ["x" * 300, "y"] * 10,
        ["", "", "a"] * 10,
        [0, 2**64 - 1] * 10,
        [-1, 5] * 10,
        [None, "a"] * 10,
        [[1], [2]] * 10,
    ],
)
def test_a_column_says_the_very_same_values_again(values: list[object]) -> None:
    allowance = Allowance(10_000, "A column")
    again = list(columns.expand(columns.shrink(values), len(values), allowance))
    assert pack_message(again) == pack_message(values)


def test_two_hundred_thousand_tickets_cost_about_twenty_bytes_each() -> None:
    rows = tickets(5_000)
    assert len(to_frame(rows)) / len(rows) <= 22
    assert from_frame(to_frame(rows)) == rows


def test_more_rows_than_a_frame_holds_are_not_framed() -> None:
    with pytest.raises(ValueError, match="at most"):
        to_frame([Row(RowKind.GATE, 1, None)] * (MAX_FRAME_ROWS + 1))


def a_frame(*blocks: object) -> bytes:
    """A frame as somebody with bad intentions would write it."""
    return pack_message([1, list(blocks)])


def squeezed(value: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=19).compress(value)


def unsized(value: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_content_size=False).compress(value)


KEY = bytes(8)
BOMBS = {
    "zeros that expand": a_frame([5, KEY, frames.BODIES, squeezed(bytes(MAX_FRAME_BYTES + 1))]),
    "a size not told": a_frame([5, KEY, frames.BODIES, unsized(pack_message([b"x"]))]),
    "one value many times": a_frame([5, KEY * 20_000, frames.COLUMNS, [[0, "x" * 1_000_000]]]),
    "one prefix many times": a_frame(
        [5, KEY * 20_000, frames.COLUMNS, [[4, "x" * 1_000_000, 1, squeezed(b"y" * 20_000)]]]
    ),
    "many bombs of allowed size": a_frame(
        *[[5, KEY, frames.BODIES, squeezed(pack_message([bytes(MAX_FRAME_BYTES // 4)]))]] * 8
    ),
    "too many rows": a_frame([5, KEY * (MAX_FRAME_ROWS + 1), frames.GONE]),
    "too many rows in small blocks": a_frame(*[[5, KEY * 5_000, frames.GONE]] * 5),
    "too many blocks": a_frame(*[[5, KEY, frames.GONE]] * (MAX_FRAME_ROWS + 1)),
    "a promise of four thousand million": b"\xdd\xff\xff\xff\xff",
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS.keys())
def test_a_bomb_is_refused_before_it_goes_off(bomb: bytes) -> None:
    assert len(bomb) < 2_000_000
    with pytest.raises(Unreadable):
        from_frame(bomb)


def test_the_parts_of_a_message_share_one_allowance() -> None:
    allowance = Allowance(100, "The message")
    assert len(allowance.expanded(compressed(bytes(60)))) == 60
    with pytest.raises(Unreadable) as refusal:
        allowance.expanded(compressed(bytes(60)))
    assert "grow" in refusal.value.details["problem"]


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"<html>Welcome to the hotel</html>",
        pack_message([2, []]),
        a_frame([99, KEY, frames.GONE]),
        a_frame([5, KEY[:7], frames.GONE]),
        a_frame([5, b"", frames.GONE]),
        a_frame([5, KEY, 7, b""]),
        a_frame([5, KEY, frames.BODIES, None]),
        a_frame([5, KEY, frames.BODIES, squeezed(pack_message([b"a", b"b"]))]),
        a_frame([5, KEY, frames.BODIES, squeezed(pack_message([1]))]),
        a_frame([5, KEY, frames.BODIES, squeezed(pack_message([b"a"])) + b"tail"]),
        a_frame([5, KEY, frames.COLUMNS, []]),
        a_frame([5, KEY, frames.COLUMNS, [[1, squeezed(pack_message([1, 2]))]]]),
        a_frame([5, KEY, frames.COLUMNS, [[1, squeezed(b"\x91" * 4_000)]]]),
        a_frame([5, KEY, frames.COLUMNS, [[2, 0, 2, squeezed(b"abc")]]]),
        a_frame([5, KEY, frames.COLUMNS, [[2, 2**64 - 1, 1, squeezed(b"z")]]]),
        a_frame([5, KEY, frames.COLUMNS, [[3, "A-", [3, "A-", [3, "", 1]]]]]),
        a_frame([5, KEY, frames.COLUMNS, [[4, "", 4, squeezed(b"abc")]]]),
        a_frame([5, KEY, frames.COLUMNS, [[4, "", 300, squeezed(b"a" * 300)]]]),
        a_frame([5, KEY, frames.COLUMNS, [[4, "", 1, squeezed(b"\xff")]]]),
        a_frame([5, KEY, frames.COLUMNS, [[5, "", squeezed(b"\x01\x01"), squeezed(b"ab")]]]),
        a_frame([5, KEY, frames.COLUMNS, [[9]]]),
        a_frame([5, KEY, frames.COLUMNS, [None]]),
    ],
)
def test_what_is_no_frame_is_refused_whole(frame: bytes) -> None:
    with pytest.raises(Unreadable):
        from_frame(frame)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_frame_or_unreadable(data: bytes) -> None:
    try:
        assert from_frame(data) is not None
    except Unreadable as refusal:
        assert "frame" in refusal.message


@given(st.integers(min_value=0), st.integers(1, 255))
def test_a_frame_hurt_in_one_byte_is_other_rows_or_unreadable(place: int, flip: int) -> None:
    frame = bytearray(to_frame(tickets(20)))
    frame[place % len(frame)] ^= flip
    try:
        rows = from_frame(bytes(frame))
    except Unreadable:
        return
    assert len(rows) <= MAX_FRAME_ROWS


# --- Digest ---


def test_the_digest_does_not_depend_on_the_order() -> None:
    rows = tickets(5)
    assert digest_add(EMPTY_DIGEST, *rows) == digest_add(EMPTY_DIGEST, *reversed(rows))


def test_taking_rows_away_again_leaves_the_digest_as_it_was() -> None:
    rows = tickets(5)
    before = digest_add(EMPTY_DIGEST, *rows[:2])
    assert digest_remove(digest_add(before, *rows[2:]), *rows[2:]) == before
    assert digest_remove(before, *rows[:2]) == EMPTY_DIGEST


def test_kind_key_and_body_all_count() -> None:
    row = pack(a_ticket_row())
    others = [
        Row(RowKind.SUPERVISOR, row.key, row.body),
        Row(row.kind, row.key + 1, row.body),
        Row(row.kind, row.key, (row.body or b"") + b"\x00"),
    ]
    assert len({row_hash(row), *map(row_hash, others)}) == 4


def test_rows_that_are_gone_do_not_count() -> None:
    assert digest_add(EMPTY_DIGEST, Row(RowKind.TICKET, 9, None)) == EMPTY_DIGEST


# --- Movements ---


def test_movements_come_out_as_they_went_in() -> None:
    movements = [
        a_movement(),
        a_movement(seq=18, kind=2, code_hash=b"", at=-5),
        a_movement(seq=19, kind=3, annuls=(4, 1, 17), ticket_id=2**64 - 1),
    ]
    assert movements_from_bytes(movements_to_bytes(movements)) == movements


def test_no_movements_are_no_bytes() -> None:
    assert movements_to_bytes([]) == b""
    assert movements_from_bytes(b"") == []


@pytest.mark.parametrize("kind", [0, 4, True, "1"])
def test_a_movement_of_no_known_kind_is_refused(kind: object) -> None:
    good = msgspec.msgpack.decode(movements_to_bytes([a_movement()]))
    good[2][3] = [0, kind]
    with pytest.raises(Unreadable):
        movements_from_bytes(pack_message(good))


def test_movements_without_all_columns_are_refused() -> None:
    version, count, columns = msgspec.msgpack.decode(movements_to_bytes([a_movement()]))
    with pytest.raises(Unreadable):
        movements_from_bytes(pack_message([version, count, columns[:-1]]))
    assert movements_from_bytes(pack_message([version, count, [*columns, [0, "later"]]])) == [a_movement()]


@given(st.binary(max_size=200))
def test_any_bytes_are_movements_or_unreadable(data: bytes) -> None:
    try:
        movements_from_bytes(data)
    except Unreadable as refusal:
        assert "movements" in refusal.message


def test_types_are_the_same_wherever_they_are_imported_from() -> None:
    assert isinstance(unpack(pack(an_event_row())), EventRow)
    assert isinstance(unpack(pack(a_ticket_row())), TicketRow)
