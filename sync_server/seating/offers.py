"""What the search answers with: seats in clusters, or a refusal in words; and what a party asks for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from sync_server.seating import bits
from sync_server.seating.hall import Hall, Standing


@dataclass(frozen=True, slots=True)
class Manners:
    """How carefully seats are given away: the part of the seating policy that the search obeys."""

    orphan_avoidance_strict: bool = True
    group_adjacency_strict: bool = False
    max_group_split: int = 2  # rows between the clusters of one party
    prefer_clustering_over_selection: bool = False


@dataclass(frozen=True, slots=True)
class Care:
    """The part of the seating policy that is about wheelchair places."""

    enforce: bool = True
    release_percent: int = 85  # of the zone's seats sold or held
    max_wheelchairs: int = 1  # of one booking


@dataclass(frozen=True, slots=True)
class Wish:
    """What a party asks for."""

    size: int
    zones: frozenset[int] | None = None  # None: anywhere
    apart: bool = False  # they said themselves that they need not sit together
    staff: bool = False  # the box office decides: nothing but taken seats stands in its way


class Grade(StrEnum):
    """How good an offer is, best first."""

    TOGETHER = "together"
    NEARLY_SOLD_ROW = "nearly_sold_row"  # together; leaves a single seat in a row that is as good as sold
    CLUSTERS = "clusters"
    LEAVES_SINGLES = "leaves_singles"
    APART = "apart"


@dataclass(frozen=True, slots=True)
class Cluster:
    """Neighbours in one row."""

    standing: Standing
    start: int
    count: int

    @property
    def mask(self) -> int:
        """Their seats, as bits of the row."""
        return bits.stretch(self.start, self.count)

    @property
    def seats(self) -> tuple[int, ...]:
        """Their seats, by number."""
        return tuple(seat for seat in self.standing.row.seats[self.start : self.start + self.count] if seat is not None)


@dataclass(frozen=True, slots=True)
class Offer:
    """Seats for a party, cluster by cluster, and how many single seats they leave."""

    clusters: tuple[Cluster, ...]
    grade: Grade
    orphans: int
    words: str

    @property
    def seats(self) -> tuple[int, ...]:
        """All seats, by number."""
        return tuple(seat for cluster in self.clusters for seat in cluster.seats)


@dataclass(frozen=True, slots=True)
class Refused:
    """Why there are no seats, in words for the customer; `instead` is what the same party could have."""

    reason: str
    words: str
    instead: Offer | None = None


def offer(clusters: Iterable[Cluster], grade: Grade) -> Offer:
    """An offer of these clusters, nearest the front first."""
    ordered = tuple(sorted(clusters, key=lambda cluster: (cluster.standing.order, cluster.start)))
    return Offer(ordered, grade, orphans_left(ordered), describe(ordered))


def orphans_left(clusters: Iterable[Cluster]) -> int:
    """How many seats become single when these are taken."""
    taken: dict[int, tuple[Standing, int]] = {}
    for cluster in clusters:
        standing, mask = taken.get(cluster.standing.rank, (cluster.standing, 0))
        taken[cluster.standing.rank] = standing, mask | cluster.mask
    return sum(bits.orphaned(row.open, row.open & ~mask).bit_count() for row, mask in taken.values())


def clusters_of(hall: Hall, seats: Iterable[int]) -> tuple[Cluster, ...]:
    """Seats that somebody picked, as clusters of neighbours."""
    masks: dict[int, int] = {}
    for seat in seats:
        standing, place = hall.where(seat)
        masks[standing.rank] = masks.get(standing.rank, 0) | 1 << place
    return tuple(
        Cluster(hall.by_rank[rank], start, count) for rank, mask in masks.items() for start, count in bits.runs(mask)
    )


def describe(clusters: tuple[Cluster, ...]) -> str:
    """Where a party sits: "3 seats together in row A (5 to 7), 2 in row B (5 and 6), 1 row further back"."""
    if not clusters:
        return "no seats"
    first = clusters[0]
    parts = [_first_words(first)]
    parts += [_further_words(cluster, first) for cluster in clusters[1:]]
    return ", ".join(parts)


def _first_words(cluster: Cluster) -> str:
    seats = "1 seat" if cluster.count == 1 else f"{cluster.count} seats together"
    return f"{seats} in {_row_words(cluster)}"


def _further_words(cluster: Cluster, first: Cluster) -> str:
    rows = cluster.standing.order - first.standing.order
    same_section = cluster.standing.row.section == first.standing.row.section
    words = f"{cluster.count} in {_row_words(cluster)}"
    if not same_section or rows == 0:
        return words
    return f"{words}, {rows} row{'s' if rows > 1 else ''} further back"


def _row_words(cluster: Cluster) -> str:
    row = cluster.standing.row
    where = f"row {row.label}" if not row.zone_name else f"{row.zone_name}, row {row.label}"
    if not row.names:
        return where
    names = row.names[cluster.start : cluster.start + cluster.count]
    joint = " and " if cluster.count == 2 else " to "
    return f"{where} ({names[0] if cluster.count == 1 else names[0] + joint + names[-1]})"
