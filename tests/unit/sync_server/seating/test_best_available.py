"""Groups ask for the best seats left."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from sync_server.seating.search import bits
from sync_server.seating.search.allocation import best_available
from sync_server.seating.search.allocation_grid import AllocationGrid
from sync_server.seating.search.offers import AllocationRules, Grade, Offer, Refusal, SeatRequest
from tests.unit.sync_server.seating.grids import a_grid, drawn

STRICT = AllocationRules()
LENIENT = AllocationRules(orphan_avoidance_strict=False)
TOGETHER_ONLY = AllocationRules(group_adjacency_strict=True)


def offered(grid: AllocationGrid, size: int, rules: AllocationRules = STRICT, **request: bool) -> Offer:
    answer = best_available(grid, SeatRequest(size, **request), rules)
    assert isinstance(answer, Offer), answer
    return answer


def refused(grid: AllocationGrid, size: int, rules: AllocationRules = STRICT, **request: bool) -> Refusal:
    answer = best_available(grid, SeatRequest(size, **request), rules)
    assert isinstance(answer, Refusal), answer
    return answer


def test_first_group_sits_in_the_middle_of_the_front_row() -> None:
    grid = a_grid("." * 20, "." * 20)
    grid.take(offered(grid, 2).seats)
    assert drawn(grid) == ["." * 9 + "xx" + "." * 9, "." * 20]


def test_in_an_empty_zone_a_pair_sits_in_the_middle_though_it_leaves_two_runs_of_three() -> None:
    grid = a_grid("........", *["." * 20] * 6)
    grid.take(offered(grid, 2).seats)
    assert drawn(grid)[0] == "...xx..."


def test_in_a_full_zone_avoiding_a_run_of_three_is_worth_one_seat_off_centre() -> None:
    grid = a_grid("........", *["x" * 20] * 6)
    grid.take(offered(grid, 2).seats)
    assert drawn(grid)[0] in ("..xx....", "....xx..")


def test_a_small_zone_is_never_so_empty_that_pairs_spoil_its_rows() -> None:
    grid = a_grid("........", "........")
    for _ in range(8):
        grid.take(offered(grid, 2).seats)
    assert drawn(grid) == ["xxxxxxxx"] * 2


def test_a_full_zone_does_not_make_an_empty_one_careful() -> None:
    empty = a_grid("........", *["." * 20] * 6)
    full = [
        replace(row.row, zone=2, seats=range(129 + 20 * at, 149 + 20 * at))
        for at, row in enumerate(a_grid(*["x" * 20] * 6).rows)
    ]
    grid = AllocationGrid.of([*(row.row for row in empty.rows), *full])
    grid.take(range(129, 249))
    assert offered(grid, 2).seats == (4, 5)


def test_pair_sits_where_no_single_seat_is_left_beside_it() -> None:
    assert offered(a_grid(".x..x...x."), 2).seats == (3, 4)


def test_pair_leaves_the_better_row_rather_than_a_single_seat() -> None:
    grid = a_grid("x...x", "x..xx")
    assert offered(grid, 2).seats == (7, 8)


def test_pair_does_not_sit_across_an_aisle() -> None:
    assert offered(a_grid("x. .x", ".. .."), 2).clusters[0].row_state.row.label == "B"


def test_single_guest_takes_the_single_seat_that_is_left() -> None:
    assert offered(a_grid("..x.x.."), 1).seats == (4,)


def test_strict_rules_explain_why_there_are_no_seats() -> None:
    answer = refused(a_grid("x...xxxx"), 2)
    assert answer.reason == "leaves_single_seat"
    assert "single seat" in answer.message


def test_lenient_rules_allow_them() -> None:
    answer = offered(a_grid("x...xxxx"), 2, LENIENT)
    assert (answer.grade, answer.orphans) == (Grade.LEAVES_SINGLES, 1)


def test_single_seats_are_allowed_in_a_nearly_sold_row() -> None:
    grid = a_grid("x" * 28 + "..." + "x" * 4)
    answer = offered(grid, 2)
    assert (answer.grade, answer.orphans) == (Grade.NEARLY_SOLD_ROW, 1)


def test_the_booking_itself_counts_in_rows_of_up_to_twenty_seats_too() -> None:
    answer = offered(a_grid("x" * 17 + "..."), 2)
    assert (answer.grade, answer.orphans) == (Grade.NEARLY_SOLD_ROW, 1)


def test_row_that_is_then_exactly_nine_tenths_sold_is_not_nearly_sold() -> None:
    assert refused(a_grid("x" * 7 + "..."), 2).reason == "leaves_single_seat"


def test_blocked_seats_are_walls_and_do_not_count_as_sold() -> None:
    grid = a_grid("..........", "..........")
    grid.close(range(4, 11))
    assert offered(grid, 3).seats == (1, 2, 3)
    grid.close([11, 12, 13, 17, 18, 19, 20])
    assert refused(grid, 2, AllocationRules(group_adjacency_strict=True)).reason == "leaves_single_seat"


def test_group_that_fits_nowhere_together_is_split_with_nobody_alone() -> None:
    answer = offered(a_grid("xx...xxx", "xx..xxxx"), 5)
    assert answer.grade is Grade.CLUSTERS
    assert answer.description == "3 seats together in row A (3 to 5), 2 in row B (3 and 4), 1 row further back"


def test_three_are_not_split() -> None:
    assert refused(a_grid("x..xx", "x..xx"), 3).reason == "not_together"


def test_group_is_not_split_over_more_rows_than_allowed() -> None:
    far = a_grid("..xxx", "xxxxx", "xxxxx", "..xxx")
    assert refused(far, 4).reason == "not_together"
    assert offered(far, 4, AllocationRules(max_group_split=3)).seats == (1, 2, 16, 17)


def test_large_group_takes_as_many_clusters_as_it_needs() -> None:
    answer = offered(a_grid("..x..xx", "xx..xxx"), 6)
    assert sorted(cluster.count for cluster in answer.clusters) == [2, 2, 2]


def test_row_with_three_seats_takes_three_of_a_large_group() -> None:
    assert offered(a_grid("..", "...", "..."), 8).seats == (1, 2, 3, 4, 5, 6, 7, 8)


def test_strict_adjacency_does_not_split_groups() -> None:
    answer = refused(a_grid("xx...xxx", "xx..xxxx"), 5, TOGETHER_ONLY)
    assert "does not split groups" in answer.message


def test_friends_who_do_not_mind_sit_apart() -> None:
    grid = a_grid(".x.x.", "xxxxx")
    assert refused(grid, 3).reason == "not_together"
    answer = offered(grid, 3, apart=True)
    assert (answer.grade, sorted(answer.seats)) == (Grade.APART, [1, 3, 5])
    assert drawn(grid) == [".x.x.", "xxxxx"], "asking takes nothing"


def test_box_office_gets_what_the_public_does_not() -> None:
    assert offered(a_grid("x...xxxx"), 2, staff=True).orphans == 1


def test_sold_out() -> None:
    assert refused(a_grid("xxx"), 1).reason == "sold_out"


def test_group_stays_in_the_zone_it_chose() -> None:
    grid = a_grid("....", zone=7)
    assert isinstance(best_available(grid, SeatRequest(2, frozenset({8})), STRICT), Refusal)
    assert isinstance(best_available(grid, SeatRequest(2, frozenset({7})), STRICT), Offer)


def test_returned_seats_are_offered_again() -> None:
    grid = a_grid("xxxx")
    grid.release([2, 3])
    assert offered(grid, 2).seats == (2, 3)


ROW = st.text(alphabet="..x ", min_size=1, max_size=9).filter(lambda row: row.strip())
GRID = st.lists(ROW, min_size=1, max_size=4)


def every_tidy_place(grid: AllocationGrid, size: int) -> set[frozenset[int]]:
    """By brute force: all ways to seat so many in one row without making a seat single that was not."""
    found = set()
    for row_state in grid.rows:
        row = row_state.row.seats
        free = [seat if seat is not None and grid.is_open(seat) else None for seat in row]
        for start in range(len(row) - size + 1):
            group = free[start : start + size]
            after = [None if start <= place < start + size else seat for place, seat in enumerate(free)]
            if None not in group and singles(after) <= singles(free):
                found.add(frozenset(seat for seat in group if seat is not None))
    return found


def singles(row: list[int | None]) -> set[int]:
    walled = [None, *row, None]
    return {
        seat
        for left, seat, right in zip(walled, walled[1:], walled[2:], strict=False)
        if seat is not None and left is None and right is None
    }


@given(drawing=GRID, size=st.integers(1, 6))
def test_best_seats_are_free_together_and_tidy_wherever_brute_force_finds_any(drawing: list[str], size: int) -> None:
    grid = a_grid(*drawing)
    tidy = every_tidy_place(grid, size)
    answer = best_available(grid, SeatRequest(size), STRICT)
    if tidy:
        assert isinstance(answer, Offer)
        assert frozenset(answer.seats) in tidy
        assert (answer.grade, answer.orphans) == (Grade.TOGETHER, 0)
    elif isinstance(answer, Offer):
        assert answer.grade in {Grade.CLUSTERS, Grade.NEARLY_SOLD_ROW}


def tidy_counts(grid: AllocationGrid, row: int) -> set[int]:
    """By brute force: how many can be seated in a row in clusters of two or more, with no seat made single."""
    row_state = grid.rows[row]
    free = [seat for place, seat in enumerate(row_state.row.seats) if row_state.open >> place & 1 and seat is not None]
    counts = set()
    for chosen in range(1 << len(free)):
        taken = {seat for at, seat in enumerate(free) if chosen >> at & 1}
        mask = sum(1 << place for place, seat in enumerate(row_state.row.seats) if seat in taken)
        left = row_state.open & ~mask
        clusters_fit = all(length >= 2 for _, length in bits.runs(mask))
        if clusters_fit and (row_state.nearly_sold_with(len(taken)) or not bits.orphaned(row_state.open, left)):
            counts.add(len(taken))
    return counts


@given(drawing=st.lists(ROW, min_size=2, max_size=4), size=st.integers(4, 8), split=st.integers(0, 2))
def test_group_is_split_wherever_brute_force_can_split_it(drawing: list[str], size: int, split: int) -> None:
    grid = a_grid(*drawing)
    answer = best_available(grid, SeatRequest(size), AllocationRules(max_group_split=split))
    counts = [tidy_counts(grid, row) for row in range(len(drawing))]
    possible = any(size in sums(counts[row : row + split + 1]) for row in range(len(drawing)))
    assert isinstance(answer, Offer) or not possible
    if isinstance(answer, Offer) and answer.grade is Grade.CLUSTERS:
        assert possible
        orders = [cluster.row_state.order for cluster in answer.clusters]
        assert max(orders) - min(orders) <= split
        assert min(cluster.count for cluster in answer.clusters) >= 2
        assert all(grid.is_open(seat) for seat in answer.seats)
        assert len(set(answer.seats)) == size


def sums(sets: list[set[int]]) -> set[int]:
    found = {0}
    for each in sets:
        found = {one + other for one in found for other in each}
    return found


@given(drawing=GRID, moves=st.lists(st.tuples(st.booleans(), st.integers(1, 36)), max_size=30), size=st.integers(1, 5))
def test_grid_updated_seat_by_seat_equals_a_new_grid(
    drawing: list[str], moves: list[tuple[bool, int]], size: int
) -> None:
    grid = a_grid(*drawing)
    for take, seat in moves:
        if grid.has(seat):
            (grid.take if take else grid.release)([seat])
    rebuilt = a_grid(*drawn(grid))
    assert grid.fitting_rows(size) == rebuilt.fitting_rows(size)
    assert grid.fills == rebuilt.fills
    request = SeatRequest(size)
    one, other = (best_available(each, request, STRICT) for each in (grid, rebuilt))
    assert getattr(one, "seats", one) == getattr(other, "seats", other)
