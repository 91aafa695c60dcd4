"""Guests of an old layout find their seats in a new one: nobody lost, nobody doubled, no seat given twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from sync_server.reseating.floor import Place
from sync_server.reseating.planning import Guest, Plan, plan

WHEELS, BESIDE = "wheelchair", "companion"


def a_row(label: str, width: int, *, first: int, depth: float = 0.0, **changed: object) -> list[Place]:
    """Seats label-1 … label-width, numbered from `first`."""
    seats = [
        Place(first + at, f"{label}-{at + 1}", "stalls", ("", label), at, (float(at), depth)) for at in range(width)
    ]
    return [replace(seat, **changed) for seat in seats]  # type: ignore[arg-type]


def by_number(seats: list[Place]) -> dict[int, Place]:
    return {seat.number: seat for seat in seats}


def sold(seats: list[Place], party: str = "") -> list[Guest]:
    return [Guest(1_000 + seat.number, seat.number, seat.number, party) for seat in seats]


def where(found: Plan, guests: list[Guest]) -> list[str]:
    everybody = found.stays | found.moves
    return [everybody[guest.ticket].seat_id for guest in guests]


def test_whoever_can_stay_stays_even_where_seats_are_numbered_anew() -> None:
    old, new = a_row("A", 4, first=1), a_row("A", 4, first=11)
    guests = sold(old[:3])
    found = plan(guests, by_number(old), new)
    assert where(found, guests) == ["A-1", "A-2", "A-3"] and not found.moves
    assert [seat.number for seat in found.stays.values()] == [11, 12, 13]


def test_guest_whose_seat_is_gone_gets_the_nearest_one_of_his_price() -> None:
    old = a_row("A", 4, first=1) + a_row("B", 4, first=5, depth=1)
    new = a_row("A", 3, first=1, price="cheap") + a_row("B", 4, first=5, depth=1)
    guest = sold(old[3:4])
    assert where(plan(guest, by_number(old), new), guest) == ["B-4"]


def test_party_sits_together_again_in_the_nearest_row_with_room() -> None:
    old = a_row("A", 3, first=1) + a_row("B", 3, first=4, depth=1) + a_row("C", 3, first=7, depth=2)
    new = [*old[3:]]
    party, single = sold(old[:3], "the smiths"), sold([old[4]])
    found = plan(party + single, by_number(old), new)
    assert where(found, party) == ["C-1", "C-2", "C-3"] and where(found, single) == ["B-2"]


def test_those_of_a_party_who_must_move_come_near_those_who_stay() -> None:
    old = a_row("A", 2, first=1) + a_row("Z", 2, first=3, depth=30)
    new = [old[0], *a_row("B", 1, first=9, depth=1), *a_row("Y", 1, first=10, depth=29)]
    party = [Guest(1, 1, 1, "p"), Guest(2, 3, 2, "p")]
    assert where(plan(party, by_number(old), new), party) == ["A-1", "B-1"]


def test_nobody_of_four_is_left_alone_where_two_and_two_will_do() -> None:
    old = a_row("A", 4, first=1)
    new = a_row("B", 3, first=11, depth=1) + a_row("C", 2, first=21, depth=2)
    party = sold(old, "four")
    rows = Counter(seat[0] for seat in where(plan(party, by_number(old), new), party))
    assert rows == {"B": 2, "C": 2}


def a_pair(label: str, first: int, depth: float, beside: int = 1) -> list[Place]:
    seats = a_row(label, 1 + beside, first=first, depth=depth)
    companions = [replace(seat, kind=BESIDE) for seat in seats[1:]]
    return [replace(seats[0], kind=WHEELS, companions=tuple(seat.number for seat in companions)), *companions]


def test_companion_goes_where_the_guest_in_the_wheelchair_goes() -> None:
    old = a_pair("A", 1, 0)
    new = [old[1], *a_pair("B", 11, 1, beside=0), *a_pair("C", 21, 2)]
    guests = sold(old, "two")
    found = plan(guests, by_number(old), new)
    assert where(found, guests) == ["C-1", "C-2"], "A-2 is still there, and B-1 nearer, but nobody would sit beside"


def test_guest_in_a_wheelchair_never_gets_a_chair_and_nobody_else_his_place() -> None:
    old = a_pair("A", 1, 0) + a_row("D", 1, first=5, depth=1)
    new = a_row("A", 2, first=1) + a_pair("D", 5, 1, beside=0)
    guests = sold([old[0], old[2]])
    found = plan(guests, by_number(old), new)
    assert where(found, guests) == ["D-1", "A-1"]


def test_whoever_finds_no_seat_is_named_with_the_reason() -> None:
    old = a_pair("A", 1, 0) + a_row("B", 1, first=5, price="gold")
    guests = sold(old)
    found = plan([replace(each, party="p") for each in guests], by_number(old), a_row("C", 9, first=1))
    assert list(found.unplaced.values()) == [
        "no_wheelchair_place_with_companion_seats",
        "no_wheelchair_place_with_companion_seats",
        "no_seat_of_this_price_category",
    ]


def test_members_seat_is_no_seat_for_others_but_a_member_may_sit_outside() -> None:
    old = a_row("A", 1, first=1) + a_row("M", 1, first=2, door="members")
    new = a_row("N", 1, first=7, door="members") + a_row("B", 1, first=8, depth=9)
    guests = sold(old)
    assert where(plan(guests, by_number(old), new), guests) == ["B-1", "N-1"]
    assert where(plan(guests[1:], by_number(old), new[1:]), guests[1:]) == ["B-1"]


KINDS = st.sampled_from([("standard",)] * 4 + [("restricted_view",), (WHEELS,), (WHEELS, BESIDE), (WHEELS, BESIDE)])
SEATS = st.tuples(KINDS, st.sampled_from(["", "gold"]), st.sampled_from(["", "", "members"]))


@st.composite
def houses(draw: st.DrawFn, first: int) -> list[Place]:
    """A house of three rows with all kinds of seats; a wheelchair place may have the seat after it beside it."""
    seats: list[Place] = []
    for depth, label in enumerate("ABC"):
        made = [(kind, *rest) for kinds, *rest in draw(st.lists(SEATS, max_size=5)) for kind in kinds]
        for place, (kind, price, door) in enumerate(made):
            at, number = (float(place), float(depth)), first + len(seats)
            seats.append(Place(number, f"{label}-{place}", label, ("", label), place, at, kind, price, door))
    return paired(seats)


def paired(seats: list[Place]) -> list[Place]:
    beside = [tuple(each.number for each in seats[at + 1 : at + 2] if each.kind == BESIDE) for at in range(len(seats))]
    return [
        replace(seat, companions=found if seat.kind == WHEELS else ())
        for seat, found in zip(seats, beside, strict=True)
    ]


@st.composite
def rebuilt(draw: st.DrawFn, old: list[Place]) -> list[Place]:
    """The same house with other numbers, after some seats were taken out, blocked or put to another use."""
    seats = []
    for at, seat in enumerate(old):
        fate = draw(st.sampled_from(["as it was"] * 4 + ["gone", "blocked", "standard", BESIDE]))
        kind = fate if fate in {"standard", BESIDE} else seat.kind
        if fate != "gone":
            seats.append(replace(seat, number=100 + at, kind=kind, closed=fate == "blocked"))
    return paired(seats)


@st.composite
def moves(draw: st.DrawFn) -> tuple[list[Guest], list[Place], list[Place], frozenset[int]]:
    old = draw(houses(1))
    new = draw(st.one_of(rebuilt(old), houses(100)))
    filled = draw(st.lists(st.booleans(), min_size=len(old), max_size=len(old)))
    parties = draw(st.lists(st.sampled_from(["", "p", "q"]), min_size=len(old), max_size=len(old)))
    guests = [
        Guest(seat.number + 1_000, seat.number, seat.number, party)
        for seat, sold_, party in zip(old, filled, parties, strict=True)
        if sold_
    ]
    return guests, old, new, frozenset(draw(st.sets(st.integers(100, 120), max_size=4)))


@given(moves())
def test_everybody_is_seated_once_or_named_and_no_seat_is_given_twice(
    case: tuple[list[Guest], list[Place], list[Place], frozenset[int]],
) -> None:
    guests, old, new, kept = case
    found = plan(guests, by_number(old), new, kept)
    seated = found.stays | found.moves
    assert len(seated) == len(found.stays) + len(found.moves)
    assert Counter([*seated, *found.unplaced]) == Counter(guest.ticket for guest in guests)
    numbers = [seat.number for seat in seated.values()]
    assert len(set(numbers)) == len(numbers)
    assert not kept.intersection(numbers)
    there, before = by_number(new), by_number(old)
    for guest in guests:
        if guest.ticket in seated:
            seat, was = seated[guest.ticket], before[guest.seat]
            assert there[seat.number] == seat and not seat.closed
            assert (seat.kind == WHEELS) == (was.kind == WHEELS)
            assert seat.door in {was.door, ""}
            assert guest.ticket in found.stays or seat.price == was.price
            assert (guest.ticket in found.stays) == (seat.seat_id == was.seat_id) or guest.ticket in found.moves


@given(moves())
def test_nobody_stands_while_a_seat_of_his_price_is_free(
    case: tuple[list[Guest], list[Place], list[Place], frozenset[int]],
) -> None:
    guests, old, new, kept = case
    found = plan(guests, by_number(old), new, kept)
    taken = {seat.number for seat in (found.stays | found.moves).values()} | kept
    left = [seat for seat in new if not seat.closed and seat.number not in taken and seat.kind == "standard"]
    before = by_number(old)
    for ticket, why in found.unplaced.items():
        was = before[ticket - 1_000]
        if why == "no_seat_of_this_price_category":
            assert not [seat for seat in left if seat.price == was.price and seat.door in {was.door, ""}]


@given(moves())
def test_companions_are_never_parted(case: tuple[list[Guest], list[Place], list[Place], frozenset[int]]) -> None:
    guests, old, new, kept = case
    found = plan(guests, by_number(old), new, kept)
    seated, before, at = found.stays | found.moves, by_number(old), {guest.seat: guest for guest in guests}
    for guest in guests:
        for beside in before[guest.seat].companions:
            other = at.get(beside)
            if other is not None and other.party == guest.party:
                assert (guest.ticket in seated) == (other.ticket in seated)
                if guest.ticket in seated:
                    assert seated[other.ticket].number in seated[guest.ticket].companions


@given(moves())
def test_plan_is_the_same_in_whatever_order_tickets_are_read(
    case: tuple[list[Guest], list[Place], list[Place], frozenset[int]],
) -> None:
    guests, old, new, kept = case
    one, other = plan(guests, by_number(old), new, kept), plan(guests[::-1], by_number(old[::-1]), new[::-1], kept)
    assert (one.stays, one.moves, one.unplaced) == (other.stays, other.moves, other.unplaced)
