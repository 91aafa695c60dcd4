"""Who is inside, and how many an offline gate may admit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gate_app.scanning.occupancy import Occupancy, Share
from shared.admission import Direction, Passage
from shared.wire.snapshot import EventDay
from tests.gate_builders import EVENING, HOUR, an_event

ALONE = Share(0, 1)


def a_passage(at: int, way: str = "entry", zone: int = 1, gate: int = 1) -> Passage:
    return Passage(at, 11, 1, at % 1000 + 1, Direction(way), gate, zone)


def a_house(**tickets: tuple[Passage, ...]) -> Occupancy:
    occupancy = Occupancy()
    occupancy.fill(((hash(name), history) for name, history in tickets.items()), an_event(), EVENING)
    occupancy.heard(0)
    return occupancy


def test_an_entry_counts_where_it_went_and_any_exit_ends_it() -> None:
    occupancy = a_house(ann=(a_passage(EVENING, zone=1, gate=1),), bob=(a_passage(EVENING, zone=2, gate=1),))
    assert (occupancy.zones[1], occupancy.zones[2], occupancy.gates[1]) == (1, 1, 2)
    occupancy.note(hash("ann"), (a_passage(EVENING), a_passage(EVENING + 1, "exit", gate=2)), an_event(), EVENING + 2)
    assert (occupancy.zones[1], occupancy.gates[1], occupancy.gates[2]) == (0, 1, 0)


def test_the_same_movement_received_twice_counts_it_once() -> None:
    occupancy = a_house(ann=(a_passage(EVENING),))
    occupancy.note(hash("ann"), (a_passage(EVENING),), an_event(), EVENING)
    assert occupancy.zones[1] == 1


def test_the_cut_over_resets_the_count() -> None:
    first = EventDay("2026-07-04", EVENING - 14 * HOUR, EVENING + 10 * HOUR)
    second = EventDay("2026-07-05", EVENING + 10 * HOUR, EVENING + 34 * HOUR)
    event = an_event(days=(first, second))
    occupancy = Occupancy()
    occupancy.fill([(1, (a_passage(EVENING),))], event, EVENING)
    occupancy.roll_over_day(event, EVENING + 11 * HOUR)
    assert occupancy.inside == {}


def test_unless_the_event_says_otherwise() -> None:
    event = an_event(cutover_empties=False)
    occupancy = Occupancy()
    occupancy.fill([(1, (a_passage(EVENING),))], event, EVENING)
    occupancy.roll_over_day(event, EVENING + 11 * HOUR)
    assert len(occupancy.inside) == 1


def test_counts_from_resets_the_count_at_once() -> None:
    occupancy = a_house(ann=(a_passage(EVENING),))
    occupancy.roll_over_day(an_event(counts_from=EVENING + 1), EVENING + 2)
    assert occupancy.zones[1] == 0


def test_while_it_is_online_a_gate_fills_the_whole_zone() -> None:
    room = a_house(ann=(a_passage(EVENING),)).zone_room(1, 10, 60_000, Share(1, 4))
    assert (room.inside, room.limit, room.estimated) == (1, 10, False)


def test_after_a_minute_offline_it_has_its_share() -> None:
    room = a_house(ann=(a_passage(EVENING),)).zone_room(1, 10, 60_001, Share(1, 4))
    assert (room.inside, room.limit, room.estimated) == (1, 3, True)


def test_a_zone_that_is_over_full_already_leaves_nothing_to_share() -> None:
    occupancy = a_house(ann=(a_passage(EVENING),), bob=(a_passage(EVENING),))
    assert occupancy.zone_room(1, 1, 60_001, ALONE).limit == 2


@given(left=st.integers(0, 5000), sharers=st.integers(1, 60))
def test_all_shares_together_are_exactly_what_is_left(left: int, sharers: int) -> None:
    assert sum(Share(rank, sharers).of(left) for rank in range(sharers)) == left
