"""What the search takes and returns: seat requests, offers of seats in clusters, and refusals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from sync_server.seating.search import bits
from sync_server.seating.search.allocation_grid import AllocationGrid, RowState


@dataclass(frozen=True, slots=True)
class AllocationRules:
    """The part of the seating policy that governs how seats are allocated."""

    orphan_avoidance_strict: bool = True
    group_adjacency_strict: bool = False
    max_group_split: int = 2  # rows between the clusters of one group
    prefer_clustering_over_selection: bool = False


@dataclass(frozen=True, slots=True)
class AccessibilityRules:
    """The part of the seating policy that governs wheelchair places."""

    enforce: bool = True
    release_percent: int = 85  # of the zone's seats sold or held
    max_wheelchairs: int = 1  # per booking


@dataclass(frozen=True, slots=True)
class SeatRequest:
    """The seats a group asks for."""

    size: int
    zones: frozenset[int] | None = None  # None: anywhere
    apart: bool = False  # the group does not mind sitting apart
    staff: bool = False  # sold by the box office: only taken seats are refused
    price_category: str | None = None  # None: any
    full_view: bool = False  # no seats with a restricted view
    unsplit: bool = False  # in one row or not at all, whatever single seats it leaves
    spares_blocks: bool = False  # no seats of blocks that are still whole


class Grade(StrEnum):
    """How good an offer is, best first."""

    WHOLE_BLOCK = "whole_block"  # a table or a family block, which the group fills
    TOGETHER = "together"
    NEARLY_SOLD_ROW = "nearly_sold_row"  # together; leaves a single seat in a nearly sold row
    CLUSTERS = "clusters"
    LEAVES_SINGLES = "leaves_singles"
    APART = "apart"


@dataclass(frozen=True, slots=True)
class Cluster:
    """Neighbours in one row."""

    row_state: RowState
    start: int
    count: int

    @property
    def mask(self) -> int:
        """The seats as bits of the row."""
        return bits.stretch(self.start, self.count)

    @property
    def restricted(self) -> int:
        """How many of the seats have a restricted view."""
        return (self.mask & self.row_state.row.restricted).bit_count()

    @property
    def restricted_seats(self) -> tuple[int, ...]:
        """The numbers of those."""
        found = (self.row_state.row.seats[place] for place in bits.places(self.mask & self.row_state.row.restricted))
        return tuple(seat for seat in found if seat is not None)

    @property
    def seats(self) -> tuple[int, ...]:
        """The numbers of the seats."""
        return tuple(
            seat for seat in self.row_state.row.seats[self.start : self.start + self.count] if seat is not None
        )


@dataclass(frozen=True, slots=True)
class Offer:
    """Seats for a group, cluster by cluster, and how many single seats they leave."""

    clusters: tuple[Cluster, ...]
    grade: Grade
    orphans: int
    description: str

    @property
    def seats(self) -> tuple[int, ...]:
        """The numbers of all seats."""
        return tuple(seat for cluster in self.clusters for seat in cluster.seats)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there are no seats, with a message for the customer; `instead` is what the same group could have."""

    reason: str
    message: str
    instead: Offer | None = None


def offer(clusters: Iterable[Cluster], grade: Grade) -> Offer:
    """An offer of these clusters, the one nearest the front first."""
    ordered = tuple(sorted(clusters, key=lambda cluster: (cluster.row_state.order, cluster.start)))
    return Offer(ordered, grade, orphans_left(ordered), describe(ordered))


def orphans_left(clusters: Iterable[Cluster]) -> int:
    """How many seats are left single when these are taken."""
    taken: dict[int, tuple[RowState, int]] = {}
    for cluster in clusters:
        row_state, mask = taken.get(cluster.row_state.rank, (cluster.row_state, 0))
        taken[cluster.row_state.rank] = row_state, mask | cluster.mask
    left = ((row, bits.orphaned(row.open, row.open & ~mask)) for row, mask in taken.values())
    return sum((singles & ~row.exempt).bit_count() for row, singles in left)


def clusters_of(grid: AllocationGrid, seats: Iterable[int]) -> tuple[Cluster, ...]:
    """Picked seats, grouped into clusters of neighbours."""
    masks: dict[int, int] = {}
    for seat in seats:
        row_state, place = grid.where(seat)
        masks[row_state.rank] = masks.get(row_state.rank, 0) | 1 << place
    return tuple(
        Cluster(grid.by_rank[rank], start, count) for rank, mask in masks.items() for start, count in bits.runs(mask)
    )


def describe(clusters: tuple[Cluster, ...]) -> str:
    """Where a group sits: "3 seats together in row A (5 to 7), 2 in row B (5 and 6), 1 row further back"."""
    if not clusters:
        return "no seats"
    first = clusters[0]
    parts = [_describe_first(first)]
    parts += [_describe_further(cluster, first) for cluster in clusters[1:]]
    return ", ".join(parts) + _describe_view(clusters)


def _describe_view(clusters: tuple[Cluster, ...]) -> str:
    restricted, seats = (sum(getattr(each, name) for each in clusters) for name in ("restricted", "count"))
    if not restricted:
        return ""
    return " with a restricted view" if restricted == seats else f"; {restricted} with a restricted view"


def _describe_first(cluster: Cluster) -> str:
    seats = "1 seat" if cluster.count == 1 else f"{cluster.count} seats together"
    return f"{seats} in {_describe_row(cluster)}"


def _describe_further(cluster: Cluster, first: Cluster) -> str:
    rows = cluster.row_state.order - first.row_state.order
    same_section = cluster.row_state.row.section == first.row_state.row.section
    text = f"{cluster.count} in {_describe_row(cluster)}"
    if not same_section or rows == 0:
        return text
    return f"{text}, {rows} row{'s' if rows > 1 else ''} further back"


def _describe_row(cluster: Cluster) -> str:
    row = cluster.row_state.row
    where = f"row {row.label}" if not row.zone_name else f"{row.zone_name}, row {row.label}"
    if not row.names:
        return where
    names = row.names[cluster.start : cluster.start + cluster.count]
    joiner = " and " if cluster.count == 2 else " to "
    return f"{where} ({names[0] if cluster.count == 1 else names[0] + joiner + names[-1]})"
