"""A layout in memory is small, and finds its seats."""

from __future__ import annotations

import tracemalloc

from sync_server.seating.plans.layout_seats import LayoutSeats
from sync_server.seating.queries import StoredSeat
from tests.unit.sync_server.seating.plans import FAMILY, a_plan

MOST_BYTES = 150
"""For each seat; sixty thousand take nine megabytes."""

FRAMES = 40
"""Of the stack, so that what other threads keep meanwhile is not counted."""


def test_a_stadium_takes_little_memory() -> None:
    stands = [["." * 20 + " " + "." * 20] * 25] * 15
    tracemalloc.start(FRAMES)
    plan = a_plan(*stands)
    assert plan.zones and plan.places and plan.empty_map
    kept = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, __file__, all_frames=True)])
    tracemalloc.stop()
    used = sum(statistic.size for statistic in kept.statistics("filename"))
    assert len(plan.layout) == 15_000 and MOST_BYTES / 2 < used / len(plan.layout) < MOST_BYTES
    assert [row.min_distance for row in plan.rows()]


def test_aisles_are_gaps_in_a_row() -> None:
    plan = a_plan([".. ..", "....."])
    straight = plan.layout.rows[1]
    assert [*plan.layout.rows[0].seats] == [1, 2, None, 3, 4] and straight.seats == range(5, 10)
    assert (plan.beside(2), plan.beside(7)) == ((0, 1, 0, 3), (5, 6, 8, 9))
    assert (plan.layout.name(3), plan.layout.name(9)) == ("1A-4", "1B-5")


def test_seats_whose_ids_begin_alike_are_told_apart() -> None:
    ids = [f"01980000-0000-7000-8000-{end:012x}" for end in (9, 2, 5)]
    seats = [
        StoredSeat(at, id, f"A-{at}", 1, "", "A", 0, at - 1, str(at), at, 0.0, True, "standard", None, "", False)
        for at, id in enumerate(ids, 1)
    ]
    layout = LayoutSeats.of("layout", FAMILY, a_plan(["..."]).layout.zones, [], seats)
    assert [layout.find(id) for id in ids] == [1, 2, 3]
    assert layout.find("01980000-0000-7000-8000-000000000003") is None
    assert layout.find("ffffffff-ffff-fffe-8000-000000000000") is None and layout.find("nobody's") is None
