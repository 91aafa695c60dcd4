"""Customers pick seats themselves."""

from __future__ import annotations

from collections.abc import Collection
from math import dist
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sync_server.seating.search.allocation_grid import AllocationGrid
from sync_server.seating.search.offers import AllocationRules, Grade, Offer, Refusal, SeatRequest, clusters_of
from sync_server.seating.search.picked_seats import evaluate
from tests.unit.sync_server.seating.grids import a_grid

STRICT = AllocationRules()


def chosen(
    grid: AllocationGrid,
    *seats: int,
    rules: AllocationRules = STRICT,
    owned: Collection[int] = (),
    **request: bool,
) -> Offer | Refusal:
    return evaluate(grid, seats, SeatRequest(len(seats), **request), rules, owned)


def accepted(grid: AllocationGrid, *seats: int, rules: AllocationRules = STRICT, **request: Any) -> Offer:
    answer = chosen(grid, *seats, rules=rules, **request)
    assert isinstance(answer, Offer), answer
    return answer


def refused(grid: AllocationGrid, *seats: int, rules: AllocationRules = STRICT, **request: Any) -> Refusal:
    answer = chosen(grid, *seats, rules=rules, **request)
    assert isinstance(answer, Refusal), answer
    return answer


def test_choice_that_leaves_no_single_seat_is_accepted() -> None:
    assert accepted(a_grid("........"), 1, 2).grade is Grade.TOGETHER


def test_leaving_a_single_seat_by_the_wall_is_refused_with_an_alternative() -> None:
    answer = refused(a_grid("........"), 2, 3)
    assert answer.reason == "leaves_single_seat"
    assert answer.instead is not None
    assert answer.instead.seats in {(1, 2), (3, 4)}
    assert answer.instead.description in answer.message


def test_alternative_is_as_near_as_possible() -> None:
    answer = refused(a_grid("........", "xxxxxxxx", "........"), 18, 19)
    assert answer.instead is not None
    assert answer.instead.clusters[0].row_state.row.label == "C"


def test_choice_is_accepted_when_the_group_could_not_sit_without_leaving_a_single_seat() -> None:
    answer = accepted(a_grid("x...xx"), 2, 3)
    assert (answer.grade, answer.orphans) == (Grade.LEAVES_SINGLES, 1)


def test_choice_is_accepted_in_a_nearly_sold_row() -> None:
    grid = a_grid("x" * 28 + "..." + "x" * 4, "." * 10)
    assert accepted(grid, 29, 30).grade is Grade.NEARLY_SOLD_ROW


def test_sitting_apart_must_be_requested() -> None:
    grid = a_grid(".....", ".....")
    assert refused(grid, 2, 4).reason == "leaves_single_seat"
    assert accepted(grid, 2, 4, apart=True).orphans == 3


def test_sitting_apart_does_not_excuse_a_pair_that_leaves_a_single_seat() -> None:
    assert refused(a_grid("........"), 2, 3, apart=True).reason == "leaves_single_seat"


def test_lenient_rules_accept_any_free_seats() -> None:
    lenient = AllocationRules(orphan_avoidance_strict=False)
    assert accepted(a_grid("........"), 2, 3, rules=lenient).grade is Grade.LEAVES_SINGLES


def test_strict_adjacency_refuses_a_split_group() -> None:
    together = AllocationRules(group_adjacency_strict=True)
    answer = refused(a_grid("........", "........"), 1, 2, 9, 10, rules=together)
    assert (answer.reason, answer.instead is not None) == ("not_together", True)


def test_assigned_seating_refuses_with_the_seats_it_would_assign() -> None:
    answer = refused(a_grid("........"), 1, 2, rules=AllocationRules(prefer_clustering_over_selection=True))
    assert (answer.reason, answer.instead is not None) == ("seats_are_assigned", True)


def test_seat_that_was_sold_meanwhile() -> None:
    assert refused(a_grid(".x.."), 1, 2).reason == "seat_no_longer_available"
    assert refused(a_grid("...."), 99).reason == "seat_no_longer_available"


def test_box_office_may_leave_single_seats() -> None:
    assert accepted(a_grid("........"), 2, 3, staff=True).orphans == 1


def test_box_office_cannot_sell_what_is_sold() -> None:
    assert refused(a_grid(".x.."), 2, staff=True).reason == "seat_no_longer_available"


def test_one_more_seat_is_offered_beside_those_that_the_guest_has() -> None:
    grid = a_grid("xx......", "........")
    answer = refused(grid, 4, owned=(1, 2))
    assert answer.instead is not None and answer.instead.seats == (3,)


def test_a_friend_is_not_sent_away_from_the_party() -> None:
    """Another row has seats that leave no single one, but the two already here have theirs."""
    grid = a_grid("xxxx..xx", "........")
    assert accepted(grid, 5, owned=(3, 4)).orphans == 1
    assert refused(grid, 5).instead is not None, "without a party another row will do"


def test_those_who_chose_seats_together_are_not_offered_seats_apart() -> None:
    assigned = AllocationRules(prefer_clustering_over_selection=True)
    grid = a_grid("x.....xx", "xx..xx..")
    apart = refused(grid, 11, 12, 15, 16, rules=assigned)
    assert apart.instead is not None and len(apart.instead.clusters) == 2
    assert refused(grid, 2, 3, 4, 5, rules=assigned).instead is None, "only two pairs would leave no single seat"


ROW = st.text(alphabet="..x ", min_size=2, max_size=9).filter(lambda row: row.strip())


@given(drawing=st.lists(ROW, min_size=1, max_size=4), choice=st.sets(st.integers(1, 36)), own=st.integers(1, 36))
def test_no_alternative_is_further_from_the_party_than_the_choice(
    drawing: list[str], choice: set[int], own: int
) -> None:
    grid = a_grid(*drawing)
    free = [seat for seat in choice if grid.has(seat) and grid.is_open(seat) and seat != own]
    if not free or not grid.has(own):
        return
    grid.take([own])
    answer = chosen(grid, *free, owned=[own])
    if isinstance(answer, Refusal) and answer.instead is not None:
        assert furthest(grid, answer.instead.seats, own) <= furthest(grid, free, own) + 1e-9
        assert len(answer.instead.clusters) <= len(clusters_of(grid, free))


def furthest(grid: AllocationGrid, seats: Collection[int], own: int) -> float:
    """How far the cluster that is furthest away sits from a seat, from its nearest end."""
    row, place = grid.where(own)
    ends = (
        (cluster.row_state.row.points[cluster.start], cluster.row_state.row.points[cluster.start + cluster.count - 1])
        for cluster in clusters_of(grid, seats)
    )
    return max(min(dist(end, row.row.points[place]) for end in both) for both in ends)
