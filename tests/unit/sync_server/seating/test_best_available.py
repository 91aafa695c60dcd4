"""Parties ask for the best seats left."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sync_server.seating import bits
from sync_server.seating.allocation import best_available
from sync_server.seating.hall import Hall
from sync_server.seating.offers import Grade, Manners, Offer, Refused, Wish
from tests.unit.sync_server.seating.halls import a_hall, drawn

STRICT = Manners()
EASY = Manners(orphan_avoidance_strict=False)
TOGETHER_ONLY = Manners(group_adjacency_strict=True)


def offered(hall: Hall, size: int, manners: Manners = STRICT, **wish: bool) -> Offer:
    answer = best_available(hall, Wish(size, **wish), manners)
    assert isinstance(answer, Offer), answer
    return answer


def refused(hall: Hall, size: int, manners: Manners = STRICT, **wish: bool) -> Refused:
    answer = best_available(hall, Wish(size, **wish), manners)
    assert isinstance(answer, Refused), answer
    return answer


def test_first_party_sits_in_the_middle_of_the_front_row() -> None:
    hall = a_hall("." * 20, "." * 20)
    hall.take(offered(hall, 2).seats)
    assert drawn(hall) == ["." * 9 + "xx" + "." * 9, "." * 20]


def test_place_that_leaves_no_run_of_three_is_worth_a_step_to_the_side() -> None:
    hall = a_hall("........")
    hall.take(offered(hall, 2).seats)
    assert drawn(hall) in (["..xx...."], ["....xx.."])


def test_pair_goes_where_no_single_seat_stays_beside_it() -> None:
    assert offered(a_hall(".x..x...x."), 2).seats == (3, 4)


def test_pair_leaves_the_better_row_rather_than_a_single_seat() -> None:
    hall = a_hall("x...x", "x..xx")
    assert offered(hall, 2).seats == (7, 8)


def test_pair_does_not_sit_across_an_aisle() -> None:
    assert offered(a_hall("x. .x", ".. .."), 2).clusters[0].standing.row.label == "B"


def test_single_guest_takes_the_single_seat_that_is_left() -> None:
    assert offered(a_hall("..x.x.."), 1).seats == (4,)


def test_strict_house_says_why_it_gives_no_seats() -> None:
    answer = refused(a_hall("x...xxxx"), 2)
    assert answer.reason == "leaves_single_seat"
    assert "single seat" in answer.words


def test_easy_house_gives_them() -> None:
    answer = offered(a_hall("x...xxxx"), 2, EASY)
    assert (answer.grade, answer.orphans) == (Grade.LEAVES_SINGLES, 1)


def test_single_seats_cannot_be_helped_in_a_row_that_is_nearly_sold() -> None:
    hall = a_hall("x" * 28 + "..." + "x" * 4)
    answer = offered(hall, 2)
    assert (answer.grade, answer.orphans) == (Grade.NEARLY_SOLD_ROW, 1)


def test_nine_tenths_are_not_more_than_nine_tenths() -> None:
    assert refused(a_hall("x" * 27 + "..."), 2).reason == "leaves_single_seat"


def test_blocked_seats_are_walls_and_do_not_count_as_sold() -> None:
    hall = a_hall("..........", "..........")
    hall.close(range(4, 11))
    assert offered(hall, 3).seats == (1, 2, 3)
    hall.close([11, 12, 13, 17, 18, 19, 20])
    assert refused(hall, 2, Manners(group_adjacency_strict=True)).reason == "leaves_single_seat"


def test_party_that_fits_nowhere_together_is_split_with_nobody_alone() -> None:
    answer = offered(a_hall("xx...xxx", "xx..xxxx"), 5)
    assert answer.grade is Grade.CLUSTERS
    assert answer.words == "3 seats together in row A (3 to 5), 2 in row B (3 and 4), 1 row further back"


def test_three_are_not_split() -> None:
    assert refused(a_hall("x..xx", "x..xx"), 3).reason == "not_together"


def test_party_is_not_split_over_more_rows_than_the_house_allows() -> None:
    far = a_hall("..xxx", "xxxxx", "xxxxx", "..xxx")
    assert refused(far, 4).reason == "not_together"
    assert offered(far, 4, Manners(max_group_split=3)).seats == (1, 2, 16, 17)


def test_large_party_takes_as_many_clusters_as_it_needs() -> None:
    answer = offered(a_hall("..x..xx", "xx..xxx"), 6)
    assert sorted(cluster.count for cluster in answer.clusters) == [2, 2, 2]


def test_row_with_three_seats_takes_three_of_a_large_party() -> None:
    assert offered(a_hall("..", "...", "..."), 8).seats == (1, 2, 3, 4, 5, 6, 7, 8)


def test_house_that_keeps_parties_together_splits_none() -> None:
    answer = refused(a_hall("xx...xxx", "xx..xxxx"), 5, TOGETHER_ONLY)
    assert "does not split parties" in answer.words


def test_friends_who_do_not_mind_sit_apart() -> None:
    hall = a_hall(".x.x.", "xxxxx")
    assert refused(hall, 3).reason == "not_together"
    answer = offered(hall, 3, apart=True)
    assert (answer.grade, sorted(answer.seats)) == (Grade.APART, [1, 3, 5])
    assert drawn(hall) == [".x.x.", "xxxxx"], "asking takes nothing"


def test_box_office_gets_what_the_public_does_not() -> None:
    assert offered(a_hall("x...xxxx"), 2, staff=True).orphans == 1


def test_sold_out_house_says_so() -> None:
    assert refused(a_hall("xxx"), 1).reason == "sold_out"


def test_party_stays_in_the_zone_it_chose() -> None:
    hall = a_hall("....", zone=7)
    assert isinstance(best_available(hall, Wish(2, frozenset({8})), STRICT), Refused)
    assert isinstance(best_available(hall, Wish(2, frozenset({7})), STRICT), Offer)


def test_returned_seats_are_offered_again() -> None:
    hall = a_hall("xxxx")
    hall.release([2, 3])
    assert offered(hall, 2).seats == (2, 3)


ROW = st.text(alphabet="..x ", min_size=1, max_size=9).filter(lambda row: row.strip())
HALL = st.lists(ROW, min_size=1, max_size=4)


def every_tidy_place(hall: Hall, size: int) -> set[frozenset[int]]:
    """By brute force: all ways to seat so many in one row without making a seat single that was not."""
    found = set()
    for standing in hall.rows:
        row = standing.row.seats
        free = [seat if seat is not None and hall.is_open(seat) else None for seat in row]
        for start in range(len(row) - size + 1):
            party = free[start : start + size]
            after = [None if start <= place < start + size else seat for place, seat in enumerate(free)]
            if None not in party and singles(after) <= singles(free):
                found.add(frozenset(seat for seat in party if seat is not None))
    return found


def singles(row: list[int | None]) -> set[int]:
    walled = [None, *row, None]
    return {
        seat
        for left, seat, right in zip(walled, walled[1:], walled[2:], strict=False)
        if seat is not None and left is None and right is None
    }


@given(drawing=HALL, size=st.integers(1, 6))
def test_best_seats_are_free_together_and_tidy_wherever_brute_force_finds_any(drawing: list[str], size: int) -> None:
    hall = a_hall(*drawing)
    tidy = every_tidy_place(hall, size)
    answer = best_available(hall, Wish(size), STRICT)
    if tidy:
        assert isinstance(answer, Offer)
        assert frozenset(answer.seats) in tidy
        assert (answer.grade, answer.orphans) == (Grade.TOGETHER, 0)
    elif isinstance(answer, Offer):
        assert answer.grade in {Grade.CLUSTERS, Grade.NEARLY_SOLD_ROW}


def tidy_counts(hall: Hall, row: int) -> set[int]:
    """By brute force: how many can be seated in a row in clusters of two or more, with no seat made single."""
    standing = hall.rows[row]
    free = [seat for place, seat in enumerate(standing.row.seats) if standing.open >> place & 1 and seat is not None]
    counts = set()
    for chosen in range(1 << len(free)):
        taken = {seat for at, seat in enumerate(free) if chosen >> at & 1}
        mask = sum(1 << place for place, seat in enumerate(standing.row.seats) if seat in taken)
        left = standing.open & ~mask
        clusters_fit = all(length >= 2 for _, length in bits.runs(mask))
        if clusters_fit and (standing.nearly_sold or not bits.orphaned(standing.open, left)):
            counts.add(len(taken))
    return counts


@given(drawing=st.lists(ROW, min_size=2, max_size=4), size=st.integers(4, 8), split=st.integers(0, 2))
def test_party_is_split_wherever_brute_force_can_split_it(drawing: list[str], size: int, split: int) -> None:
    hall = a_hall(*drawing)
    answer = best_available(hall, Wish(size), Manners(max_group_split=split))
    counts = [tidy_counts(hall, row) for row in range(len(drawing))]
    possible = any(size in sums(counts[row : row + split + 1]) for row in range(len(drawing)))
    assert isinstance(answer, Offer) or not possible
    if isinstance(answer, Offer) and answer.grade is Grade.CLUSTERS:
        assert possible
        orders = [cluster.standing.order for cluster in answer.clusters]
        assert max(orders) - min(orders) <= split
        assert min(cluster.count for cluster in answer.clusters) >= 2
        assert all(hall.is_open(seat) for seat in answer.seats)
        assert len(set(answer.seats)) == size


def sums(sets: list[set[int]]) -> set[int]:
    found = {0}
    for each in sets:
        found = {one + other for one in found for other in each}
    return found


@given(drawing=HALL, moves=st.lists(st.tuples(st.booleans(), st.integers(1, 36)), max_size=30), size=st.integers(1, 5))
def test_hall_corrected_seat_by_seat_is_the_hall_built_anew(
    drawing: list[str], moves: list[tuple[bool, int]], size: int
) -> None:
    hall = a_hall(*drawing)
    for take, seat in moves:
        if hall.has(seat):
            (hall.take if take else hall.release)([seat])
    anew = a_hall(*drawn(hall))
    assert hall.room(size) == anew.room(size)
    assert (hall.nearly_sold, hall.nearly_sold_by_rank) == (anew.nearly_sold, anew.nearly_sold_by_rank)
    asked = Wish(size)
    one, other = (best_available(each, asked, STRICT) for each in (hall, anew))
    assert getattr(one, "seats", one) == getattr(other, "seats", other)
