"""A map updated seat by seat equals one that is built rebuilt."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from sync_server.holds.occupancy import PlaceCounts, SeatOccupancy, SeatState
from sync_server.seat_maps.map_json import MapVersion
from sync_server.seat_maps.map_state import MapState
from sync_server.seating.bitmap import DisplayState
from sync_server.seating.plans.seat_plan import SeatPlan
from tests.unit.sync_server.seating.plans import a_plan


def an_empty_plan() -> SeatPlan:
    """Twelve seats in two zones; one is blocked, one is reserved for a companion."""
    return a_plan(["wc...."], ["......"], blocked=[12])


def a_state(rows: list[SeatOccupancy], now: int) -> MapState:
    """A state built from these rows."""
    state = MapState(an_empty_plan(), now, PlaceCounts({}, {}, None))
    state.apply(rows, now)
    return state


@dataclass
class Rows:
    """The rows of the seats, as the database has them."""

    rows: dict[int, SeatOccupancy] = field(default_factory=dict)

    def change(self, seat: int, state: SeatState, until: int | None) -> None:
        self.rows[seat] = (seat, state, until if state is SeatState.HELD else None)


CHANGES = st.tuples(st.integers(1, 11), st.sampled_from(list(SeatState)), st.integers(1, 50), st.integers(0, 20))


@given(st.lists(CHANGES, max_size=40))
def test_updated_state_equals_a_rebuilt_one(changes: list[tuple[int, SeatState, int, int]]) -> None:
    stored, now = Rows(), 0
    updated = a_state([], now)
    for seat, state, lasts, passes in changes:
        now += passes
        stored.change(seat, state, now + lasts)
        updated.apply([stored.rows[seat]], now, touched={seat})
        updated.expire(now)
        rebuilt = a_state(list(stored.rows.values()), now)
        assert updated.seats == rebuilt.seats
        assert updated.zones() == rebuilt.zones()
        assert updated.reserved_companions() == rebuilt.reserved_companions()
        assert updated.next_end == rebuilt.next_end


def test_touched_seat_without_a_row_is_free() -> None:
    state = a_state([(3, SeatState.SOLD, None)], 0)
    state.apply([], 1, touched={3})
    assert state.seats[2] == DisplayState.FREE


def test_unknown_seat_changes_nothing() -> None:
    state = a_state([(99, SeatState.SOLD, None), (0, SeatState.SOLD, None)], 0)
    assert state.seats == an_empty_plan().empty_map


def test_hold_expires_at_its_exact_end() -> None:
    state = a_state([(3, SeatState.HELD, 100)], 0)
    assert not state.expire(99)
    assert state.expire(100)
    assert (state.seats[2], state.expired_between(99, 100), state.next_end) == (DisplayState.FREE, {3}, None)


def test_companion_seat_is_reserved_until_its_zone_is_nearly_full() -> None:
    state = a_state([], 0)
    assert state.reserved_companions() == {2}
    assert state.display_states(state.reserved_companions())[1] == DisplayState.CLOSED
    state.apply([(seat, SeatState.SOLD, None) for seat in (1, 3, 4, 5, 6)], 0)
    assert state.reserved_companions() == {2}  # five of six
    state.apply([(2, SeatState.SOLD, None)], 0)
    assert state.reserved_companions() == frozenset()


@given(st.text("0123456789abcdef", min_size=1, max_size=12), st.integers(0, 10**15), st.integers(0, 10**15))
def test_version_is_read_back(basis: str, version: int, as_of: int) -> None:
    map_version = MapVersion(basis, version, as_of, "0")
    assert MapVersion.read(str(map_version)) == map_version


@given(st.text(max_size=30))
def test_malformed_version_is_not_an_error(text: str) -> None:
    found = MapVersion.read(text)
    assert found is None or str(found).split(".")[0] == text.split(".", maxsplit=1)[0]
