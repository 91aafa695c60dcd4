"""Two bits a seat, and how everybody sees what organisers see."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sync_server.seating.bitmap import PUBLICLY, Shown, pack, unpack

SEATS = st.lists(st.sampled_from(list(Shown)), max_size=70).map(bytes)


@given(SEATS)
def test_what_is_packed_can_be_unpacked(seats: bytes) -> None:
    assert unpack(pack(seats), len(seats)) == seats
    assert len(pack(seats)) == (len(seats) + 3) // 4


def test_first_seat_lies_in_the_lowest_bits() -> None:
    assert pack(bytes([Shown.CLOSED, Shown.FREE, Shown.HELD, Shown.TAKEN, Shown.HELD])) == bytes([0b10_01_00_11, 0b01])


@given(SEATS)
def test_nobody_can_tell_held_from_sold(seats: bytes) -> None:
    seen = seats.translate(PUBLICLY)
    assert Shown.HELD not in seen
    assert seen.translate(PUBLICLY) == seen
    assert seen == seats.replace(bytes([Shown.HELD]), bytes([Shown.TAKEN]))
