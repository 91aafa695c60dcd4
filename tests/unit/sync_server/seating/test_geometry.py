"""The positions of seats decide which seats are neighbours."""

from __future__ import annotations

from dataclasses import replace
from math import cos, pi, sin

from hypothesis import given
from hypothesis import strategies as st

from sync_server.seating.layouts.plan import PlannedSeat, ZonePlan, ZoneType
from sync_server.seating.search.geometry import focus, place_seats, place_zones


def a_zone(*seats: PlannedSeat) -> ZonePlan:
    return ZonePlan("Stalls", ZoneType.RESERVED_SEATING, len(seats), seats=seats)


def a_seat(number: int, x: float | None, y: float | None = 0.0, row: str = "A", **changed: bool) -> PlannedSeat:
    return PlannedSeat(f"{row}-{number}", row, str(number), x, y if x is not None else None, **changed)


def lined_up(zone: ZonePlan) -> list[tuple[str, int]]:
    return [(seat.plan.number, seat.place) for seat in place_seats(zone)]


def test_wide_gap_is_an_aisle() -> None:
    zone = a_zone(a_seat(1, 0), a_seat(2, 1), a_seat(3, 3.5), a_seat(4, 4.5))
    assert lined_up(zone) == [("1", 0), ("2", 1), ("3", 3), ("4", 4)]


def test_seats_without_positions_are_neighbours_as_listed_except_across_aisles() -> None:
    zone = a_zone(a_seat(1, None), a_seat(2, None, aisle_after=True), a_seat(3, None))
    assert lined_up(zone) == [("1", 0), ("2", 1), ("3", 3)]


def test_neighbours_follow_positions_where_odd_numbers_are_left_and_even_right() -> None:
    zone = a_zone(a_seat(1, -1), a_seat(2, 1), a_seat(3, -2), a_seat(4, 2), a_seat(5, -3), a_seat(6, 3))
    assert [number for number, _ in lined_up(zone)] == ["6", "4", "2", "1", "3", "5"] or [
        number for number, _ in lined_up(zone)
    ] == ["5", "3", "1", "2", "4", "6"]


@given(st.permutations(range(12)), st.floats(0, 2 * pi), st.floats(0.3, 0.9))
def test_seats_of_an_arc_are_ordered_however_they_are_listed(order: list[int], rotation: float, span: float) -> None:
    angles = [rotation + span * pi * seat / 12 for seat in range(12)]
    zone = a_zone(*(a_seat(seat, 40 * cos(angles[seat]), 40 * sin(angles[seat])) for seat in order))
    ordered = [int(number) for number, _ in lined_up(zone)]
    assert ordered in (list(range(12)), list(range(11, -1, -1)))
    assert [place for _, place in lined_up(zone)] == list(range(12))


def test_zone_faces_the_middle_of_its_first_row_by_default() -> None:
    zone = a_zone(a_seat(1, 0), a_seat(2, 2), a_seat(1, 0, 5, row="B"))
    assert focus(zone, place_seats(zone)) == (1.0, 0.0)


def test_zone_faces_what_the_house_faces_unless_it_has_a_focus_of_its_own() -> None:
    zone = a_zone(a_seat(1, 0))
    assert focus(zone, place_seats(zone), (5.0, -9.0)) == (5.0, -9.0)
    assert focus(replace(zone, focus=(2.0, 2.0)), place_seats(zone), (5.0, -9.0)) == (2.0, 2.0)


def test_zones_without_positions_are_one_behind_the_other_as_listed() -> None:
    rows = [a_seat(1, None), a_seat(1, None, row="B")]
    (_, stalls), (_, drawn), (_, balcony) = place_zones([a_zone(*rows), a_zone(a_seat(1, 3)), a_zone(*rows)])
    assert [seat.y for seat in (*stalls, *drawn, *balcony)] == [0.0, 1.0, 0.0, 3.0, 4.0]
