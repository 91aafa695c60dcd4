"""Checks seats that a customer picked against the rules that the search itself follows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
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
    grid: AllocationGrid,
    seats: Collection[int],
    request: SeatRequest,
    rules: AllocationRules,
    owned: Iterable[int] = (),
) -> Offer | Refusal:
    """The picked seats as an offer, or a refusal with seats that the same group could have instead.

    A choice that leaves a single seat is refused only if the same group could sit without leaving one. `owned` are the
    seats that the guest has already: no refusal names seats that would part the group from them.
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
    party = clusters_of(grid, filter(grid.has, owned))
    return _Choice(grid, clusters, party, request, rules).rule_broken() or offer(clusters, _grade(clusters))


def _grade(clusters: tuple[Cluster, ...]) -> Grade:
    if not leaves_no_singles(clusters):
        return Grade.LEAVES_SINGLES
    if len(clusters) > 1:
        return Grade.APART if any(cluster.count == 1 for cluster in clusters) else Grade.CLUSTERS
    return Grade.NEARLY_SOLD_ROW if orphans_left(clusters) else Grade.TOGETHER


@dataclass(frozen=True, slots=True)
class _Choice:
    """Seats that may be had, and what is known of the group that picked them."""

    grid: AllocationGrid
    clusters: tuple[Cluster, ...]
    party: tuple[Cluster, ...]  # what the guest has already
    request: SeatRequest
    rules: AllocationRules

    def rule_broken(self) -> Refusal | None:
        """Why the choice is refused."""
        if self.rules.prefer_clustering_over_selection:
            message = "Seats are assigned at this event; you cannot choose them."
            return Refusal("seats_are_assigned", message, self._instead())
        if self.rules.group_adjacency_strict and len(self.clusters) > 1:
            return self._not_together()
        if leaves_no_singles(self.clusters) or not self.rules.orphan_avoidance_strict or self._wants_apart:
            return None
        return self._leaving_singles()

    @property
    def _wants_apart(self) -> bool:
        return self.request.apart and len(self.clusters) > 1

    def _not_together(self) -> Refusal:
        instead = self._instead()
        hint = f" Take {instead.description}." if instead else " Try fewer."
        return Refusal("not_together", f"This venue seats groups together in one row.{hint}", instead)

    def _leaving_singles(self) -> Refusal | None:
        instead = self._tidy_nearby()
        if instead is None:
            return None
        singles = _describe_singles(self.clusters)
        message = f"These seats would leave {singles} that would be hard to sell. Take {instead.description}."
        return Refusal("leaves_single_seat", message, instead)

    def _instead(self) -> Offer | None:
        return self._tidy_nearby() or self._acceptable(best_available(self.grid, self.request, self.rules))

    def _tidy_nearby(self) -> Offer | None:
        """Where the same group can sit without leaving a single seat: nearby, else anywhere in its zones."""
        size, first = self.request.size, self.clusters[0]
        around = [cluster for cluster in _around(self.grid, first, size) if self._keeps_together([cluster])]
        nearest = min(around, key=lambda cluster: _distance(cluster, first), default=None)
        if nearest is not None:
            return offer([nearest], Grade.TOGETHER)
        found = together(self.grid, self.request)
        if found is None and len(self.clusters) > 1:
            found = split_into_clusters(self.grid, self.request, self.rules, tidy=True)
        return self._acceptable(found)

    def _acceptable(self, found: Offer | Refusal | None) -> Offer | None:
        return found if isinstance(found, Offer) and self._keeps_together(found.clusters) else None

    def _keeps_together(self, clusters: Sequence[Cluster]) -> bool:
        """Whether these part the group no more than its own choice does, from one another and from what it has."""
        if len(clusters) > len(self.clusters):
            return False
        if not self.party:
            return True
        if any(_adjoin(cluster, own) for cluster in self.clusters for own in self.party):
            return any(_adjoin(cluster, own) for cluster in clusters for own in self.party)
        return self._from_party(clusters) <= self._from_party(self.clusters)

    def _from_party(self, clusters: Sequence[Cluster]) -> float:
        return max(min(_gap(cluster, own) for own in self.party) for cluster in clusters)


def _adjoin(one: Cluster, other: Cluster) -> bool:
    return one.row_state is other.row_state and (
        one.start + one.count == other.start or other.start + other.count == one.start
    )


def _gap(one: Cluster, other: Cluster) -> float:
    return min(dist(here, there) for here in _ends(one) for there in _ends(other))


def _ends(cluster: Cluster) -> tuple[Point, Point]:
    points = cluster.row_state.row.points
    return points[cluster.start], points[cluster.start + cluster.count - 1]


def _describe_singles(clusters: tuple[Cluster, ...]) -> str:
    count = orphans_left(clusters)
    return "a single seat" if count == 1 else f"{count} single seats"


def _around(grid: AllocationGrid, chosen: Cluster, size: int) -> Iterator[Cluster]:
    for rows in range(-WIDEST_SPLIT, WIDEST_SPLIT + 1):
        row_state = grid.by_order.get(chosen.row_state.order + rows)
        if row_state is not None and _same_section(row_state, chosen.row_state):
            for start in bits.places(row_state.tidy_starts(size)):
                yield Cluster(row_state, start, size)


def _same_section(one: RowState, other: RowState) -> bool:
    return (one.row.zone, one.row.section) == (other.row.zone, other.row.section)


def _distance(one: Cluster, other: Cluster) -> float:
    # The customer chose that row on purpose: one row away counts as much as four seats.
    rows = abs(one.row_state.order - other.row_state.order) * 4 * one.row_state.pitch
    return rows + dist(_first_seat(one), _first_seat(other))


def _first_seat(cluster: Cluster) -> Point:
    return cluster.row_state.row.points[cluster.start]
