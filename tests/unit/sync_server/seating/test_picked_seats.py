"""Customers pick seats themselves."""

from __future__ import annotations

from sync_server.seating.search.allocation_grid import AllocationGrid
from sync_server.seating.search.offers import AllocationRules, Grade, Offer, Refusal, SeatRequest
from sync_server.seating.search.picked_seats import evaluate
from tests.unit.sync_server.seating.grids import a_grid

STRICT = AllocationRules()


def chosen(grid: AllocationGrid, *seats: int, rules: AllocationRules = STRICT, **request: bool) -> Offer | Refusal:
    return evaluate(grid, seats, SeatRequest(len(seats), **request), rules)


def accepted(grid: AllocationGrid, *seats: int, rules: AllocationRules = STRICT, **request: bool) -> Offer:
    answer = chosen(grid, *seats, rules=rules, **request)
    assert isinstance(answer, Offer), answer
    return answer


def refused(grid: AllocationGrid, *seats: int, rules: AllocationRules = STRICT, **request: bool) -> Refusal:
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
