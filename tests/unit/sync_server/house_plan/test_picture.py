"""A house in memory: whatever happens to its seats one by one, it is as if it were looked up anew."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from sync_server.holds.standing import PlacesNow, Seat, SeatState
from sync_server.house_plan.answers import Mark
from sync_server.house_plan.picture import Picture
from sync_server.seating.accessibility import Pairing, Places
from sync_server.seating.bitmap import Shown
from sync_server.seating.ground import Ground
from sync_server.seating.offers import Care
from sync_server.seating.overlay import EventZone
from sync_server.seating.plan import AccessMode, ZoneType

SEATS = 12


def a_ground() -> Ground:
    """Twelve seats in two zones; one is blocked, one is kept for the companion of the guest beside it."""
    zones = {
        number: EventZone(
            number,
            str(number),
            f"Zone {number}",
            ZoneType.RESERVED_SEATING,
            6 - (number == 2),
            AccessMode.PUBLIC,
            None,
            (),
            (0.0, 0.0),
            {},
        )
        for number in (1, 2)
    }
    empty = bytes(Shown.CLOSED if seat == 12 else Shown.FREE for seat in range(1, SEATS + 1))
    return Ground(1, (1,) * 6 + (2,) * 6, empty, zones, Places((Pairing(1, 1, (2,)),), Care()))


def a_picture(rows: list[Seat], now: int) -> Picture:
    """As it is looked up."""
    picture = Picture(a_ground(), now, PlacesNow({}, {}, None))
    picture.correct(rows, now)
    return picture


@dataclass
class Register:
    """How it stands with each seat, as the database has it."""

    rows: dict[int, Seat] = field(default_factory=dict)

    def change(self, seat: int, state: SeatState, until: int | None) -> None:
        self.rows[seat] = (seat, state, until if state is SeatState.HELD else None)


DEEDS = st.tuples(st.integers(1, 11), st.sampled_from(list(SeatState)), st.integers(1, 50), st.integers(0, 20))


@given(st.lists(DEEDS, max_size=40))
def test_corrected_seat_by_seat_it_is_as_if_looked_up_anew(deeds: list[tuple[int, SeatState, int, int]]) -> None:
    register, now = Register(), 0
    followed = a_picture([], now)
    for seat, state, lasts, passes in deeds:
        now += passes
        register.change(seat, state, now + lasts)
        followed.correct([register.rows[seat]], now, touched={seat})
        followed.age(now)
        anew = a_picture(list(register.rows.values()), now)
        assert followed.seats == anew.seats
        assert followed.zones() == anew.zones()
        assert followed.kept() == anew.kept()
        assert followed.next_end == anew.next_end


def test_seat_without_a_row_any_more_is_free() -> None:
    picture = a_picture([(3, SeatState.SOLD, None)], 0)
    picture.correct([], 1, touched={3})
    assert picture.seats[2] == Shown.FREE


def test_seat_that_the_house_does_not_have_changes_nothing() -> None:
    picture = a_picture([(99, SeatState.SOLD, None), (0, SeatState.SOLD, None)], 0)
    assert picture.seats == a_ground().empty


def test_hold_is_over_at_its_very_end() -> None:
    picture = a_picture([(3, SeatState.HELD, 100)], 0)
    assert not picture.age(99)
    assert picture.age(100)
    assert (picture.seats[2], picture.ended(99, 100), picture.next_end) == (Shown.FREE, {3}, None)


def test_companion_seat_is_kept_until_its_zone_is_nearly_full() -> None:
    picture = a_picture([], 0)
    assert picture.kept() == {2}
    assert picture.shown(picture.kept())[1] == Shown.CLOSED
    picture.correct([(seat, SeatState.SOLD, None) for seat in (1, 3, 4, 5, 6)], 0)
    assert picture.kept() == {2}  # five of six
    picture.correct([(2, SeatState.SOLD, None)], 0)
    assert picture.kept() == frozenset()


@given(st.text("0123456789abcdef", min_size=1, max_size=12), st.integers(0, 10**15), st.integers(0, 10**15))
def test_version_that_was_given_out_is_understood(basis: str, version: int, as_of: int) -> None:
    mark = Mark(basis, version, as_of, "0")
    assert Mark.read(str(mark)) == mark


@given(st.text(max_size=30))
def test_version_that_was_not_is_no_error(text: str) -> None:
    known = Mark.read(text)
    assert known is None or str(known).split(".")[0] == text.split(".", maxsplit=1)[0]
