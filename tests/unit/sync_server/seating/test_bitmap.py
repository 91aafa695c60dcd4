"""Two bits per seat, and the public view of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sync_server.seating.bitmap import PUBLIC_STATES, DisplayState, pack, unpack

SEATS = st.lists(st.sampled_from(list(DisplayState)), max_size=70).map(bytes)


@given(SEATS)
def test_packed_bitmap_can_be_unpacked(seats: bytes) -> None:
    assert unpack(pack(seats), len(seats)) == seats
    assert len(pack(seats)) == (len(seats) + 3) // 4


def test_first_seat_is_in_the_lowest_bits() -> None:
    assert pack(
        bytes([DisplayState.CLOSED, DisplayState.FREE, DisplayState.HELD, DisplayState.TAKEN, DisplayState.HELD])
    ) == bytes([0b10_01_00_11, 0b01])


@given(SEATS)
def test_public_cannot_tell_held_from_sold(seats: bytes) -> None:
    seen = seats.translate(PUBLIC_STATES)
    assert DisplayState.HELD not in seen
    assert seen.translate(PUBLIC_STATES) == seen
    assert seen == seats.replace(bytes([DisplayState.HELD]), bytes([DisplayState.TAKEN]))
