"""Builds small grids from drawings: a dot is a free seat, an x a taken one, a space an aisle."""

from __future__ import annotations

from collections.abc import Sequence

from sync_server.seating.search.allocation_grid import AllocationGrid, Row


def a_grid(*drawing: str, zone: int = 1, section: str = "stalls") -> AllocationGrid:
    """A grid with one row per line, the stage above the first; seats are numbered from 1, line by line."""
    rows, taken, number = [], [], 0
    for depth, line in enumerate(drawing):
        seats: list[int | None] = []
        for mark in line:
            number += mark != " "
            seats.append(None if mark == " " else number)
            taken += [number] if mark == "x" else []
        rows.append(a_row(seats, depth, zone=zone, section=section))
    grid = AllocationGrid.of(rows)
    grid.take(taken)
    return grid


def a_row(seats: Sequence[int | None], depth: int, *, zone: int = 1, section: str = "stalls") -> Row:
    """A row of a grid; rows are labelled A, B, C … from the front."""
    middle = (len(seats) - 1) / 2
    points = tuple((place - middle, float(depth)) for place in range(len(seats)))
    names = tuple(str(place + 1) for place in range(len(seats)))
    return Row(zone, section, chr(ord("A") + depth), tuple(seats), points, (0.0, -2.0), names)


def drawn(grid: AllocationGrid) -> list[str]:
    """The grid as a drawing."""
    return [
        "".join(
            " " if seat is None else "." if row_state.open >> place & 1 else "x"
            for place, seat in enumerate(row_state.row.seats)
        )
        for row_state in grid.rows
    ]
