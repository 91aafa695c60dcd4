"""Guests of an old layout get seats in a new one: nobody is lost or seated twice, and no seat is given twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sync_server.reseating.free_seats import LayoutSeat
from sync_server.reseating.planning import Guest, SeatingPlan, plan

WHEELCHAIR, COMPANION = "wheelchair", "companion"


def a_row(label: str, width: int, *, first: int, depth: float = 0.0, **changed: object) -> list[LayoutSeat]:
    """Seats label-1 … label-width, numbered from `first`."""
    seats = [
        LayoutSeat(first + at, f"{label}-{at + 1}", "stalls", ("", label), at, (float(at), depth))
        for at in range(width)
    ]
    return [replace(seat, **changed) for seat in seats]  # type: ignore[arg-type]


def by_number(seats: list[LayoutSeat]) -> dict[int, LayoutSeat]:
    return {seat.number: seat for seat in seats}


def sold(seats: list[LayoutSeat], group_id: str = "") -> list[Guest]:
    return [Guest(1_000 + seat.number, seat.number, seat.number, group_id) for seat in seats]


def where(found: SeatingPlan, guests: list[Guest]) -> list[str]:
    everybody = found.stays | found.moves
    return [everybody[guest.ticket].seat_id for guest in guests]


def test_guests_keep_their_seats_even_if_seats_are_renumbered() -> None:
    old, new = a_row("A", 4, first=1), a_row("A", 4, first=11)
    guests = sold(old[:3])
    found = plan(guests, by_number(old), new)
    assert where(found, guests) == ["A-1", "A-2", "A-3"] and not found.moves
    assert [seat.number for seat in found.stays.values()] == [11, 12, 13]


def test_guest_whose_seat_is_gone_gets_the_nearest_one_at_the_same_price() -> None:
    old = a_row("A", 4, first=1) + a_row("B", 4, first=5, depth=1)
    new = a_row("A", 3, first=1, price="cheap") + a_row("B", 4, first=5, depth=1)
    guest = sold(old[3:4])
    assert where(plan(guest, by_number(old), new), guest) == ["B-4"]


def test_group_sits_together_again_in_the_nearest_row_with_room() -> None:
    old = a_row("A", 3, first=1) + a_row("B", 3, first=4, depth=1) + a_row("C", 3, first=7, depth=2)
    new = [*old[3:]]
    group, single = sold(old[:3], "the smiths"), sold([old[4]])
    found = plan(group + single, by_number(old), new)
    assert where(found, group) == ["C-1", "C-2", "C-3"] and where(found, single) == ["B-2"]


def test_movers_of_a_group_sit_near_those_who_stay() -> None:
    old = a_row("A", 2, first=1) + a_row("Z", 2, first=3, depth=30)
    new = [old[0], *a_row("B", 1, first=9, depth=1), *a_row("Y", 1, first=10, depth=29)]
    group = [Guest(1, 1, 1, "p"), Guest(2, 3, 2, "p")]
    assert where(plan(group, by_number(old), new), group) == ["A-1", "B-1"]


def test_four_are_split_into_two_and_two_rather_than_leaving_one_alone() -> None:
    old = a_row("A", 4, first=1)
    new = a_row("B", 3, first=11, depth=1) + a_row("C", 2, first=21, depth=2)
    group = sold(old, "four")
    rows = Counter(seat[0] for seat in where(plan(group, by_number(old), new), group))
    assert rows == {"B": 2, "C": 2}


def a_pair(label: str, first: int, depth: float, beside: int = 1) -> list[LayoutSeat]:
    seats = a_row(label, 1 + beside, first=first, depth=depth)
    companions = [replace(seat, kind=COMPANION) for seat in seats[1:]]
    return [replace(seats[0], kind=WHEELCHAIR, companions=tuple(seat.number for seat in companions)), *companions]


def test_companion_moves_with_the_wheelchair_user() -> None:
    old = a_pair("A", 1, 0)
    new = [old[1], *a_pair("B", 11, 1, beside=0), *a_pair("C", 21, 2)]
    guests = sold(old, "two")
    found = plan(guests, by_number(old), new)
    assert where(found, guests) == ["C-1", "C-2"], "A-2 still exists and B-1 is nearer, but they would be apart"


@pytest.mark.parametrize("unsuitable", [{"price": "gold"}, {"access": "members"}])
def test_companion_is_moved_only_to_a_seat_at_their_price_that_admits_them(unsuitable: dict[str, str]) -> None:
    old = a_pair("A", 1, 0)
    near, far = a_pair("B", 11, 1), a_pair("C", 21, 2)
    guests, new = sold(old, "two"), [near[0], replace(near[1], **unsuitable)]
    assert where(plan(guests, by_number(old), new + far), guests) == ["C-1", "C-2"]
    assert set(plan(guests, by_number(old), new).unplaced.values()) == {"no_wheelchair_place_with_companion_seats"}


def test_open_companion_seat_is_left_to_the_companion_whom_the_members_zone_does_not_admit() -> None:
    old, new = a_pair("A", 1, 0, beside=2), a_pair("B", 11, 1, beside=2)
    old[1], new[2] = replace(old[1], access="members"), replace(new[2], access="members")
    guests = sold(old, "three")
    assert where(plan(guests, by_number(old), new), guests) == ["B-1", "B-3", "B-2"]


def test_only_wheelchair_users_get_wheelchair_places() -> None:
    old = a_pair("A", 1, 0) + a_row("D", 1, first=5, depth=1)
    new = a_row("A", 2, first=1) + a_pair("D", 5, 1, beside=0)
    guests = sold([old[0], old[2]])
    found = plan(guests, by_number(old), new)
    assert where(found, guests) == ["D-1", "A-1"]


def test_unplaced_guests_are_listed_with_the_reason() -> None:
    old = a_pair("A", 1, 0) + a_row("B", 1, first=5, price="gold")
    guests = sold(old)
    found = plan([replace(guest, group_id="p") for guest in guests], by_number(old), a_row("C", 9, first=1))
    assert list(found.unplaced.values()) == [
        "no_wheelchair_place_with_companion_seats",
        "no_wheelchair_place_with_companion_seats",
        "no_seat_of_this_price_category",
    ]


def test_member_may_sit_outside_the_members_zone_but_not_the_other_way_round() -> None:
    old = a_row("A", 1, first=1) + a_row("M", 1, first=2, access="members")
    new = a_row("N", 1, first=7, access="members") + a_row("B", 1, first=8, depth=9)
    guests = sold(old)
    assert where(plan(guests, by_number(old), new), guests) == ["B-1", "N-1"]
    assert where(plan(guests[1:], by_number(old), new[1:]), guests[1:]) == ["B-1"]


KINDS = st.sampled_from(
    [("standard",)] * 4 + [("restricted_view",), (WHEELCHAIR,), (WHEELCHAIR, COMPANION), (WHEELCHAIR, COMPANION)]
)
SEATS = st.tuples(KINDS, st.sampled_from(["", "gold"]), st.sampled_from(["", "", "members"]))


@st.composite
def layouts(draw: st.DrawFn, first: int) -> list[LayoutSeat]:
    """A layout of three rows with all kinds of seats; the seat after a wheelchair place may be its companion seat."""
    seats: list[LayoutSeat] = []
    for depth, label in enumerate("ABC"):
        kinds_of_row = [(kind, *rest) for kinds, *rest in draw(st.lists(SEATS, max_size=5)) for kind in kinds]
        for place, (kind, price, access) in enumerate(kinds_of_row):
            at, number = (float(place), float(depth)), first + len(seats)
            seats.append(LayoutSeat(number, f"{label}-{place}", label, ("", label), place, at, kind, price, access))
    return paired(seats)


def paired(seats: list[LayoutSeat]) -> list[LayoutSeat]:
    next_seats = [seats[at + 1 : at + 2] for at in range(len(seats))]
    companions = [tuple(seat.number for seat in some if seat.kind == COMPANION) for some in next_seats]
    return [
        replace(seat, companions=found if seat.kind == WHEELCHAIR else ())
        for seat, found in zip(seats, companions, strict=True)
    ]


@st.composite
def rebuilt(draw: st.DrawFn, old: list[LayoutSeat]) -> list[LayoutSeat]:
    """The same layout with other numbers, after some seats were removed, blocked or changed."""
    seats = []
    for at, seat in enumerate(old):
        change = draw(st.sampled_from(["none"] * 4 + ["removed", "blocked", "standard", COMPANION]))
        kind = change if change in {"standard", COMPANION} else seat.kind
        if change != "removed":
            seats.append(replace(seat, number=100 + at, kind=kind, closed=change == "blocked"))
    return paired(seats)


@st.composite
def moves(draw: st.DrawFn) -> tuple[list[Guest], list[LayoutSeat], list[LayoutSeat], frozenset[int]]:
    old = draw(layouts(1))
    new = draw(st.one_of(rebuilt(old), layouts(100)))
    filled = draw(st.lists(st.booleans(), min_size=len(old), max_size=len(old)))
    group_ids = draw(st.lists(st.sampled_from(["", "p", "q"]), min_size=len(old), max_size=len(old)))
    guests = [
        Guest(seat.number + 1_000, seat.number, seat.number, group_id)
        for seat, sold_, group_id in zip(old, filled, group_ids, strict=True)
        if sold_
    ]
    return guests, old, new, frozenset(draw(st.sets(st.integers(100, 120), max_size=4)))


@given(moves())
def test_everybody_is_seated_once_or_listed_and_no_seat_is_given_twice(
    case: tuple[list[Guest], list[LayoutSeat], list[LayoutSeat], frozenset[int]],
) -> None:
    guests, old, new, excluded = case
    found = plan(guests, by_number(old), new, excluded)
    seated = found.stays | found.moves
    assert len(seated) == len(found.stays) + len(found.moves)
    assert Counter([*seated, *found.unplaced]) == Counter(guest.ticket for guest in guests)
    numbers = [seat.number for seat in seated.values()]
    assert len(set(numbers)) == len(numbers)
    assert not excluded.intersection(numbers)
    after, before = by_number(new), by_number(old)
    for guest in guests:
        if guest.ticket in seated:
            seat, was = seated[guest.ticket], before[guest.seat]
            assert after[seat.number] == seat and not seat.closed
            assert (seat.kind == WHEELCHAIR) == (was.kind == WHEELCHAIR)
            assert seat.access in {was.access, ""}
            assert guest.ticket in found.stays or seat.price == was.price
            assert (guest.ticket in found.stays) == (seat.seat_id == was.seat_id) or guest.ticket in found.moves


@given(moves())
def test_nobody_is_unplaced_while_a_suitable_seat_is_free(
    case: tuple[list[Guest], list[LayoutSeat], list[LayoutSeat], frozenset[int]],
) -> None:
    guests, old, new, excluded = case
    found = plan(guests, by_number(old), new, excluded)
    taken = {seat.number for seat in (found.stays | found.moves).values()} | excluded
    left = [seat for seat in new if not seat.closed and seat.number not in taken and seat.kind == "standard"]
    before = by_number(old)
    for ticket, why in found.unplaced.items():
        was = before[ticket - 1_000]
        if why == "no_seat_of_this_price_category":
            assert not [seat for seat in left if seat.price == was.price and seat.access in {was.access, ""}]


@given(moves())
def test_companions_are_never_separated(
    case: tuple[list[Guest], list[LayoutSeat], list[LayoutSeat], frozenset[int]],
) -> None:
    guests, old, new, excluded = case
    found = plan(guests, by_number(old), new, excluded)
    seated, before, at = found.stays | found.moves, by_number(old), {guest.seat: guest for guest in guests}
    for guest in guests:
        for beside in before[guest.seat].companions:
            other = at.get(beside)
            if other is not None and other.group_id == guest.group_id:
                assert (guest.ticket in seated) == (other.ticket in seated)
                if guest.ticket in seated:
                    assert seated[other.ticket].number in seated[guest.ticket].companions


@given(moves())
def test_plan_does_not_depend_on_the_order_of_tickets(
    case: tuple[list[Guest], list[LayoutSeat], list[LayoutSeat], frozenset[int]],
) -> None:
    guests, old, new, excluded = case
    one, other = (
        plan(guests, by_number(old), new, excluded),
        plan(guests[::-1], by_number(old[::-1]), new[::-1], excluded),
    )
    assert (one.stays, one.moves, one.unplaced) == (other.stays, other.moves, other.unplaced)
