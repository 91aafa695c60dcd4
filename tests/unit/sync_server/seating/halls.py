"""Builds small halls from drawings: a dot is a free seat, an x a taken one, a space an aisle."""

from __future__ import annotations

from collections.abc import Sequence

from sync_server.seating.hall import Hall, Row


def a_hall(*drawing: str, zone: int = 1, section: str = "stalls") -> Hall:
    """A hall with one row a line, the stage above the first; seats are numbered from 1, line by line."""
    rows, taken, number = [], [], 0
    for depth, line in enumerate(drawing):
        seats: list[int | None] = []
        for mark in line:
            number += mark != " "
            seats.append(None if mark == " " else number)
            taken += [number] if mark == "x" else []
        rows.append(a_row(seats, depth, zone=zone, section=section))
    hall = Hall.of(rows)
    hall.take(taken)
    return hall


def a_row(seats: Sequence[int | None], depth: int, *, zone: int = 1, section: str = "stalls") -> Row:
    """A row of a hall, called A, B, C … from the front."""
    middle = (len(seats) - 1) / 2
    points = tuple((place - middle, float(depth)) for place in range(len(seats)))
    names = tuple(str(place + 1) for place in range(len(seats)))
    return Row(zone, section, chr(ord("A") + depth), tuple(seats), points, (0.0, -2.0), names)


def drawn(hall: Hall) -> list[str]:
    """The hall as a drawing again."""
    return [
        "".join(
            " " if seat is None else "." if standing.open >> place & 1 else "x"
            for place, seat in enumerate(standing.row.seats)
        )
        for standing in hall.rows
    ]
