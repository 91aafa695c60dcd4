"""Seats updated one by one equal those that are read anew."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sync_server.seat_maps.map_json import MapVersion
from sync_server.seating.bitmap import DisplayState
from sync_server.seating.live_seats import LiveSeats
from sync_server.seating.plans.seat_plan import SeatPlan
from sync_server.seating.taken import SOLD
from tests.unit.sync_server.seating.plans import a_plan


def an_empty_plan() -> SeatPlan:
    """Twelve seats in two zones; one is blocked, one is reserved for a companion."""
    return a_plan(["wc...."], ["......"], blocked=[12])


def seats_with(stored: dict[int, int], now: int) -> LiveSeats:
    """Seats taken until then."""
    live = LiveSeats(an_empty_plan())
    live.apply(stored.items(), now, None)
    return live


CHANGES = st.tuples(st.integers(1, 11), st.sampled_from([0, 1, SOLD]), st.integers(1, 50), st.integers(0, 20))


@given(st.lists(CHANGES, max_size=40))
def test_updated_seats_equal_those_read_anew(changes: list[tuple[int, int, int, int]]) -> None:
    stored, now, updated = dict[int, int](), 0, LiveSeats(an_empty_plan())
    for seat, state, lasts, passes in changes:
        now += passes
        stored[seat] = now + lasts if state == 1 else state
        before = bytes(updated.states)
        changed = updated.apply([(seat, stored[seat])] if state else [], now, {seat})
        assert {
            at for at, (one, other) in enumerate(zip(before, updated.states, strict=True), 1) if one != other
        } <= changed
        anew = seats_with({seat: until for seat, until in stored.items() if until}, now)
        assert (updated.states, updated.taken()) == (anew.states, anew.taken())
        assert updated.zones() == anew.zones()
        assert updated.reserved_companions() == anew.reserved_companions()
        assert updated.next_end == anew.next_end


def test_touched_seat_that_is_not_stored_is_free() -> None:
    live = seats_with({3: SOLD}, 0)
    live.apply([], 1, {3})
    assert live.states[2] == DisplayState.FREE


def test_unknown_seat_changes_nothing() -> None:
    assert seats_with({99: SOLD, 0: SOLD}, 0).states == an_empty_plan().empty_map


def test_hold_expires_at_its_exact_end() -> None:
    live = seats_with({3: 100}, 0)
    assert live.apply([], 99, ()) == set() and live.is_taken(3)
    assert live.apply([], 100, ()) == {3}
    assert (live.states[2], live.expired_between(99, 100), live.next_end) == (DisplayState.FREE, {3}, None)


def test_companion_seat_is_reserved_until_its_zone_is_nearly_full() -> None:
    state = seats_with({}, 0)
    assert state.reserved_companions() == {2}
    assert state.display_states(state.reserved_companions())[1] == DisplayState.CLOSED
    state.apply([(seat, SOLD) for seat in (1, 3, 4, 5, 6)], 0, ())
    assert state.reserved_companions() == {2}  # five of six
    state.apply([(2, SOLD)], 0, ())
    assert state.reserved_companions() == frozenset()


@given(st.text("0123456789abcdef", min_size=1, max_size=12), st.integers(0, 10**15), st.integers(0, 10**15))
def test_version_is_read_back(basis: str, version: int, as_of: int) -> None:
    map_version = MapVersion(basis, version, as_of, "0")
    assert MapVersion.read(str(map_version)) == map_version


@given(st.text(max_size=30))
def test_malformed_version_is_not_an_error(text: str) -> None:
    found = MapVersion.read(text)
    assert found is None or str(found).split(".")[0] == text.split(".", maxsplit=1)[0]
