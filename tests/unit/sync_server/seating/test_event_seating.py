"""The seating of an event is updated while guests book and cancel, some of them in wheelchairs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sync_server.seating.event_seating import EventSeating, require_offer
from sync_server.seating.layouts.plan import GroupPlan, GroupType
from sync_server.seating.rules import Policy
from sync_server.seating.search.offers import Grade, Offer, Refusal, SeatRequest
from sync_server.seating.search.row_shares import RowShare
from sync_server.seating.taken import SOLD
from tests.unit.sync_server.seating.plans import a_plan

BLOCKED = frozenset({8})
SEATS = st.sets(st.integers(1, 24))


def a_seating(**policy: object) -> EventSeating:
    """Three rows of eight; the first two seats are a wheelchair place with its companion seat, and seat 8 is broken."""
    event_policy = replace(Policy(), **policy)  # type: ignore[arg-type]
    return EventSeating(a_plan(["wc......", "........", "........"], blocked=BLOCKED, policy=event_policy))


def sell(seating: EventSeating, *seats: int) -> None:
    """Make these the only seats taken."""
    seating.apply([(seat, SOLD) for seat in seats], 0)


def seats_of(answer: Offer | Refusal) -> tuple[int, ...] | str:
    return answer.seats if isinstance(answer, Offer) else answer.reason


def state(seating: EventSeating) -> list[tuple[int, int]]:
    return [(row.open, row.usable) for row in seating.grid.rows]


@given(st.lists(SEATS, min_size=1, max_size=6))
def test_seating_updated_step_by_step_equals_a_new_one(evening: list[set[int]]) -> None:
    updated, rebuilt = a_seating(), a_seating()
    for seats in evening:
        sell(updated, *seats)
    sell(rebuilt, *evening[-1])
    assert state(updated) == state(rebuilt)
    assert updated.live.occupancy(1) == rebuilt.live.occupancy(1) == 100.0 * len(evening[-1]) / 23


MINUTES = st.integers(1, 9)
SALES = st.dictionaries(st.integers(1, 24), st.one_of(MINUTES, st.just(SOLD)), max_size=8)  # until when


@given(st.lists(st.tuples(SALES, SEATS, SEATS, st.integers(0, 2)), min_size=1, max_size=8))
def test_seating_that_follows_changes_equals_one_built_now(
    evening: list[tuple[dict[int, int], set[int], set[int], int]],
) -> None:
    """Seats are sold, held until a minute and freed; holds run out; answers are set aside and settled."""
    following, stored, now = a_seating(), dict[int, int](), 0
    for sales, freed, aside, minutes in evening:
        now += minutes
        stored = {seat: until for seat, until in (stored | sales).items() if seat not in freed}
        touched = {*sales, *freed}
        following.set_aside(aside)
        following.apply([(seat, stored[seat]) for seat in touched if seat in stored], now, touched)
        assert aside <= following.taken()
        following.settle(aside)
        following.apply(
            [(seat, stored[seat]) for seat in following.doubtful if seat in stored], now, following.doubtful
        )
        following.doubtful.clear()
        built = a_seating()
        built.apply(stored.items(), now)
        assert (state(following), following.taken()) == (state(built), built.taken())
        assert seats_of(following.best(SeatRequest(2))) == seats_of(built.best(SeatRequest(2)))


def test_an_answer_that_is_being_written_is_offered_to_nobody_else() -> None:
    seating = a_seating()
    first = require_offer(seating.best(SeatRequest(2)), seating.plan)
    seating.set_aside(first.seats)
    second = require_offer(seating.best(SeatRequest(2)), seating.plan)
    assert not {*first.seats} & {*second.seats}
    seating.settle(first.seats)
    assert require_offer(seating.best(SeatRequest(2)), seating.plan).seats == second.seats, "nobody has looked yet"
    seating.apply((), 0, seating.doubtful)
    assert require_offer(seating.best(SeatRequest(2)), seating.plan).seats == first.seats, "it was not written"


@given(SEATS, st.integers(1, 6), st.integers(0, 99))
def test_drawn_places_are_as_good_and_leave_the_grid_as_it_was(seats: set[int], size: int, number: int) -> None:
    seating = a_seating()
    sell(seating, *seats)
    before = state(seating)
    best, drawn = seating.best(SeatRequest(size)), seating.one_of_the_best(SeatRequest(size), lambda of: number % of)
    assert state(seating) == before
    if isinstance(best, Offer):
        assert isinstance(drawn, Offer) and drawn.grade is best.grade and not {*drawn.seats} & seating.taken()


@given(SEATS, st.sets(st.integers(1, 24), min_size=1, max_size=4))
def test_searching_changes_nothing(seats: set[int], picked: set[int]) -> None:
    seating = a_seating()
    sell(seating, *seats)
    before = state(seating)
    seating.evaluate(picked, SeatRequest(len(picked)))
    seating.best(SeatRequest(3, apart=True))
    seating.best_with_wheelchairs(1, 1)
    assert state(seating) == before


@given(SEATS, st.integers(1, 6))
def test_public_is_never_offered_reserved_blocked_or_sold_seats(seats: set[int], size: int) -> None:
    seating = a_seating()
    sell(seating, *seats)
    answer = seating.best(SeatRequest(size, apart=True))
    if isinstance(answer, Offer):
        reserved = {1} if seating.live.occupancy(1) >= 85 else {1, 2}
        assert not {*answer.seats} & (seats | BLOCKED | reserved)


def test_companion_seat_beside_a_booked_wheelchair_place_is_not_a_single_seat() -> None:
    seating = a_seating()
    answer = seating.evaluate([1], SeatRequest(1))
    assert isinstance(answer, Offer)
    assert seating.companions_kept([1]) == (2,)


def test_sold_wheelchair_place_is_not_offered_again() -> None:
    seating = a_seating()
    sell(seating, 1)
    for answer in (seating.evaluate([1], SeatRequest(1)), seating.best_with_wheelchairs(1, 0)):
        assert isinstance(answer, Refusal)


def test_companion_seat_is_released_when_the_zone_fills_and_reserved_again_when_guests_cancel() -> None:
    seating = a_seating()
    sell(seating, *range(3, 24))
    assert seating.grid.is_open(2)
    sell(seating, *range(3, 12))
    assert not seating.grid.is_open(2)


def test_without_accessibility_rules_every_seat_is_offered() -> None:
    seating = a_seating(enforce_accessibility_rules=False)
    sell(seating, *range(3, 25))
    answer = seating.best(SeatRequest(2))
    assert isinstance(answer, Offer)
    assert answer.seats == (1, 2)


def the_best(seating: EventSeating, size: int, **wish: Any) -> Offer:
    return require_offer(seating.best(SeatRequest(size, **wish)), seating.plan)


def test_the_zone_nearest_to_the_stage_is_offered_first_whatever_each_zone_faces() -> None:
    """Each zone of this plan faces its own front; only the house knows that the second is nearer to the stage."""
    balcony, stalls = ["........"] * 2, ["........"] * 2
    seating = EventSeating(a_plan(balcony, stalls, depths=(20, 0), focus=(0.0, -2.0)))
    assert {seating.plan.layout.zone_of(seat) for seat in the_best(seating, 4).seats} == {2}
    sell(seating, *range(17, 33))
    assert {seating.plan.layout.zone_of(seat) for seat in the_best(seating, 4).seats} == {1}


def test_a_guest_who_wishes_a_price_category_gets_no_other_and_leaves_no_single_seat_beside_it() -> None:
    seating = EventSeating(a_plan(["ffffbbbb", "bbbbbbbb"]))
    assert the_best(seating, 2, price_category="f").seats == (3, 4)
    assert the_best(seating, 2, price_category="b").seats == (5, 6)
    sell(seating, 3)
    assert the_best(seating, 2, price_category="f").seats == (1, 2)
    sell(seating, 1, 2, 3)
    assert seats_of(seating.best(SeatRequest(1, price_category="f"))) == (4,), "five is free beside it"
    sell(seating, 1, 2, 3, 4)
    refused = seating.best(SeatRequest(1, price_category="f"))
    assert isinstance(refused, Refusal) and refused.reason == "sold_out" and "“f”" in refused.message


def test_seats_with_a_restricted_view_are_offered_last_and_said_to_be_so() -> None:
    seating = EventSeating(a_plan(["..rrr...", "........"]))
    assert {*the_best(seating, 2).seats} <= {*range(9, 17)}
    sell(seating, *range(9, 17))
    assert the_best(seating, 2).seats in ((1, 2), (7, 8))
    sell(seating, 6, 7, 8, *range(9, 17))
    found = the_best(seating, 3)
    assert (found.seats, found.clusters[0].restricted_seats) == ((1, 2, 3), (3,)), "no more of them than needed"
    assert found.description.endswith("; 1 with a restricted view")


def test_a_group_is_split_rather_than_seated_together_with_a_restricted_view() -> None:
    seating = EventSeating(a_plan(["rrrr", ".. .."]))
    found = the_best(seating, 4)
    assert (found.seats, found.grade) == ((5, 6, 7, 8), Grade.CLUSTERS)


def test_a_party_that_fills_a_family_block_is_offered_it_and_others_break_it_last() -> None:
    block = GroupPlan(GroupType.FAMILY_BLOCK, ("1A-3", "1A-4", "1A-5", "1A-6"), {"name": "Family 1"})
    seating = EventSeating(a_plan(["........", "........"], groups=[block]))
    whole = the_best(seating, 4)
    assert (whole.seats, whole.grade) == ((3, 4, 5, 6), Grade.WHOLE_BLOCK)
    assert {*the_best(seating, 2).seats} <= {*range(9, 17)}, "the block is nearer, but whole"
    sell(seating, 3)
    assert the_best(seating, 2).seats == (4, 5), "a broken block is nothing special"
    sell(seating, 1, 2, 7, 8, *range(9, 17))
    assert the_best(seating, 2).seats == (3, 4)


def a_hall_with_a_table() -> EventSeating:
    table = GroupPlan(GroupType.VIP_TABLE, ("1A-3", "1A-4", "1A-5"), {"name": "Table 1"}, sold_whole=True)
    return EventSeating(a_plan(["........"], groups=[table]))


def test_a_table_that_is_sold_whole_is_never_sold_in_part() -> None:
    seating = a_hall_with_a_table()
    assert the_best(seating, 3).seats == (3, 4, 5)
    assert not {3, 4, 5} & {*the_best(seating, 2).seats}
    part = seating.evaluate([4], SeatRequest(1))
    assert isinstance(part, Refusal) and part.reason == "sold_whole"
    assert "Table 1" in part.message and "1A-3, 1A-5" in part.message
    assert isinstance(seating.evaluate([3, 4, 5], SeatRequest(3)), Offer)
    assert isinstance(seating.evaluate([4], SeatRequest(1, staff=True)), Offer), "the box office may"
    sell(seating, 1, 2, 6, 7, 8)
    assert seats_of(seating.best(SeatRequest(1))) == "sold_out"
    sell(seating, 3)
    assert isinstance(seating.evaluate([4, 5], SeatRequest(2)), Offer), "the rest of what the box office sold in part"


@given(SEATS, st.integers(1, 4))
def test_following_the_sale_of_blocks_equals_a_seating_built_now(seats: set[int], size: int) -> None:
    following, built = a_hall_with_a_table(), a_hall_with_a_table()
    sell(following, *(seat for seat in seats if seat % 2))
    sell(following, *seats)
    sell(built, *seats)
    assert seats_of(following.best(SeatRequest(size))) == seats_of(built.best(SeatRequest(size)))


def a_crowd(seating: EventSeating, pairs: int) -> list[tuple[int, ...]]:
    """What so many guests of one process are given, before any of it is written."""
    found = []
    for _ in range(pairs):
        offer = require_offer(seating.best_beside_others(SeatRequest(2)), seating.plan)
        seating.set_aside(offer.seats)
        found.append(offer.seats)
    return found


def test_a_guest_who_is_alone_is_given_the_best_seats_by_every_process() -> None:
    best = a_hall().best(SeatRequest(2))
    assert a_crowd(a_hall(0), 1) == a_crowd(a_hall(1), 1) == [seats_of(best)]


def test_crowds_of_two_processes_are_given_seats_in_different_rows() -> None:
    ours, theirs = a_crowd(a_hall(0), 9), a_crowd(a_hall(1), 9)
    assert {*ours[1:]}.isdisjoint(theirs[1:]), "only the first of each cannot know of the others"
    together = {seat for pair in ours + theirs for seat in pair}
    assert together <= {*range(1, 49)}, "no further back than in the six rows that the crowd fills nearly"


def test_a_process_whose_own_rows_are_full_gives_what_is_left() -> None:
    seating = a_hall(0)
    sell(seating, *(seat for seat in range(1, 65) if (seat - 1) // 8 % 2 == 0))
    assert len({seat for pair in a_crowd(seating, 16) for seat in pair}) == 32
    assert isinstance(seating.best_beside_others(SeatRequest(2)), Refusal)


def a_hall(number: int = 0) -> EventSeating:
    """Eight rows of eight, in one of two processes."""
    return EventSeating(a_plan(["........"] * 8, policy=Policy()), RowShare(number, 2))
