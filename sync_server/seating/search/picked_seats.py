"""Checks seats that a customer picked against the rules that the search itself follows."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from math import dist

from sync_server.seating.search import bits
from sync_server.seating.search.allocation import best_available, together
from sync_server.seating.search.allocation_grid import WIDEST_SPLIT, AllocationGrid, Point, RowState
from sync_server.seating.search.clusters import leaves_no_singles, split_into_clusters
from sync_server.seating.search.offers import (
    AllocationRules,
    Cluster,
    Grade,
    Offer,
    Refusal,
    SeatRequest,
    clusters_of,
    offer,
    orphans_left,
)


def evaluate(
    grid: AllocationGrid, seats: Collection[int], request: SeatRequest, rules: AllocationRules
) -> Offer | Refusal:
    """The picked seats as an offer, or a refusal with seats that the same group could have instead.

    A choice that leaves a single seat is refused only if the same group could sit without leaving one.
    """
    unavailable = sorted(seat for seat in set(seats) if not grid.has(seat) or not grid.is_open(seat))
    if unavailable or not seats:
        return Refusal("seat_no_longer_available", "Some of these seats are no longer available. Choose others.")
    clusters = clusters_of(grid, seats)
    if request.staff:
        return offer(clusters, _grade(clusters))
    request = replace(
        request, size=len(set(seats)), zones=frozenset(cluster.row_state.row.zone for cluster in clusters)
    )
    return _rule_broken(grid, clusters, request, rules) or offer(clusters, _grade(clusters))


def _grade(clusters: tuple[Cluster, ...]) -> Grade:
    if not leaves_no_singles(clusters):
        return Grade.LEAVES_SINGLES
    if len(clusters) > 1:
        return Grade.APART if any(cluster.count == 1 for cluster in clusters) else Grade.CLUSTERS
    return Grade.NEARLY_SOLD_ROW if orphans_left(clusters) else Grade.TOGETHER


def _rule_broken(
    grid: AllocationGrid, clusters: tuple[Cluster, ...], request: SeatRequest, rules: AllocationRules
) -> Refusal | None:
    if rules.prefer_clustering_over_selection:
        return Refusal(
            "seats_are_assigned",
            "Seats are assigned at this event; you cannot choose them.",
            _instead(grid, clusters, request, rules),
        )
    if rules.group_adjacency_strict and len(clusters) > 1:
        return _not_together(grid, clusters, request, rules)
    if leaves_no_singles(clusters) or not rules.orphan_avoidance_strict or _wants_apart(clusters, request):
        return None
    return _leaving_singles(grid, clusters, request, rules)


def _wants_apart(clusters: tuple[Cluster, ...], request: SeatRequest) -> bool:
    return request.apart and len(clusters) > 1


def _not_together(
    grid: AllocationGrid, clusters: tuple[Cluster, ...], request: SeatRequest, rules: AllocationRules
) -> Refusal:
    instead = _instead(grid, clusters, request, rules)
    hint = f" Take {instead.description}." if instead else " Try fewer."
    return Refusal("not_together", f"This venue seats groups together in one row.{hint}", instead)


def _leaving_singles(
    grid: AllocationGrid, clusters: tuple[Cluster, ...], request: SeatRequest, rules: AllocationRules
) -> Refusal | None:
    instead = _tidy_nearby(grid, clusters, request, rules)
    if instead is None:
        return None
    singles = _describe_singles(clusters)
    message = f"These seats would leave {singles} that would be hard to sell. Take {instead.description}."
    return Refusal("leaves_single_seat", message, instead)


def _describe_singles(clusters: tuple[Cluster, ...]) -> str:
    count = orphans_left(clusters)
    return "a single seat" if count == 1 else f"{count} single seats"


def _instead(
    grid: AllocationGrid, clusters: tuple[Cluster, ...], request: SeatRequest, rules: AllocationRules
) -> Offer | None:
    found = _tidy_nearby(grid, clusters, request, rules) or best_available(grid, request, rules)
    return found if isinstance(found, Offer) else None


def _tidy_nearby(
    grid: AllocationGrid, clusters: tuple[Cluster, ...], request: SeatRequest, rules: AllocationRules
) -> Offer | None:
    """Where the same group can sit without leaving a single seat: in the rows around, else anywhere in its zones."""
    nearest = min(
        _around(grid, clusters[0], request.size), key=lambda cluster: _distance(cluster, clusters[0]), default=None
    )
    if nearest is not None:
        return offer([nearest], Grade.TOGETHER)
    found = together(grid, request)
    if found is None and len(clusters) > 1:
        found = split_into_clusters(grid, request, rules, tidy=True)
    return found


def _around(grid: AllocationGrid, chosen: Cluster, size: int) -> Iterator[Cluster]:
    for rows in range(-WIDEST_SPLIT, WIDEST_SPLIT + 1):
        row_state = grid.by_order.get(chosen.row_state.order + rows)
        if row_state is not None and _same_section(row_state, chosen.row_state):
            for start in bits.places(bits.tidy_starts(row_state.open, size)):
                yield Cluster(row_state, start, size)


def _same_section(one: RowState, other: RowState) -> bool:
    return (one.row.zone, one.row.section) == (other.row.zone, other.row.section)


def _distance(one: Cluster, other: Cluster) -> float:
    # The customer chose that row on purpose: one row away counts as much as four seats.
    rows = abs(one.row_state.order - other.row_state.order) * 4 * one.row_state.pitch
    return rows + dist(_first_seat(one), _first_seat(other))


def _first_seat(cluster: Cluster) -> Point:
    return cluster.row_state.row.points[cluster.start]
