"""Judges seats that a customer picked by the same rule by which the house would have chosen."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from math import dist

from sync_server.seating import bits
from sync_server.seating.allocation import best_available, together
from sync_server.seating.clusters import in_clusters, tidy_enough
from sync_server.seating.hall import WIDEST_SPLIT, Hall, Point, Standing
from sync_server.seating.offers import (
    Cluster,
    Grade,
    Manners,
    Offer,
    Refused,
    Wish,
    clusters_of,
    offer,
    orphans_left,
)


def judge(hall: Hall, seats: Collection[int], wish: Wish, manners: Manners) -> Offer | Refused:
    """The choice as an offer, or why not, with seats that the same party could have instead.

    A choice that leaves a single seat is refused only where the same party could sit without leaving one.
    """
    gone = sorted(seat for seat in set(seats) if not hall.has(seat) or not hall.is_open(seat))
    if gone or not seats:
        return Refused("seat_no_longer_available", "Some of these seats are not free any more. Choose others.")
    clusters = clusters_of(hall, seats)
    if wish.staff:
        return offer(clusters, _grade(clusters))
    here = replace(wish, size=len(set(seats)), zones=frozenset(cluster.standing.row.zone for cluster in clusters))
    return _impolite(hall, clusters, here, manners) or offer(clusters, _grade(clusters))


def _grade(clusters: tuple[Cluster, ...]) -> Grade:
    if not tidy_enough(clusters):
        return Grade.LEAVES_SINGLES
    if len(clusters) > 1:
        return Grade.APART if any(cluster.count == 1 for cluster in clusters) else Grade.CLUSTERS
    return Grade.NEARLY_SOLD_ROW if orphans_left(clusters) else Grade.TOGETHER


def _impolite(hall: Hall, clusters: tuple[Cluster, ...], wish: Wish, manners: Manners) -> Refused | None:
    if manners.prefer_clustering_over_selection:
        return Refused(
            "seats_are_assigned", "Here the house chooses the seats.", _instead(hall, clusters, wish, manners)
        )
    if manners.group_adjacency_strict and len(clusters) > 1:
        return _scattered(hall, clusters, wish, manners)
    if tidy_enough(clusters) or not manners.orphan_avoidance_strict or _asked_for(clusters, wish):
        return None
    return _leaving_singles(hall, clusters, wish, manners)


def _asked_for(clusters: tuple[Cluster, ...], wish: Wish) -> bool:
    return wish.apart and len(clusters) > 1


def _scattered(hall: Hall, clusters: tuple[Cluster, ...], wish: Wish, manners: Manners) -> Refused:
    instead = _instead(hall, clusters, wish, manners)
    hint = f" Take {instead.words}." if instead else " Try fewer."
    return Refused("not_together", f"This house seats parties together, in one row.{hint}", instead)


def _leaving_singles(hall: Hall, clusters: tuple[Cluster, ...], wish: Wish, manners: Manners) -> Refused | None:
    instead = _tidy_nearby(hall, clusters, wish, manners)
    if instead is None:
        return None
    words = f"This choice would leave {_single_words(clusters)} that could hardly be sold. Take {instead.words}."
    return Refused("leaves_single_seat", words, instead)


def _single_words(clusters: tuple[Cluster, ...]) -> str:
    count = orphans_left(clusters)
    return "a single seat" if count == 1 else f"{count} single seats"


def _instead(hall: Hall, clusters: tuple[Cluster, ...], wish: Wish, manners: Manners) -> Offer | None:
    found = _tidy_nearby(hall, clusters, wish, manners) or best_available(hall, wish, manners)
    return found if isinstance(found, Offer) else None


def _tidy_nearby(hall: Hall, clusters: tuple[Cluster, ...], wish: Wish, manners: Manners) -> Offer | None:
    """Where the same party sits without leaving a single seat: in the rows around, else anywhere in its zones."""
    near = min(_around(hall, clusters[0], wish.size), key=lambda each: _away(each, clusters[0]), default=None)
    if near is not None:
        return offer([near], Grade.TOGETHER)
    found = together(hall, wish)
    if found is None and len(clusters) > 1:
        found = in_clusters(hall, wish, manners, tidy=True)
    return found


def _around(hall: Hall, chosen: Cluster, size: int) -> Iterator[Cluster]:
    for rows in range(-WIDEST_SPLIT, WIDEST_SPLIT + 1):
        standing = hall.by_order.get(chosen.standing.order + rows)
        if standing is not None and _same_section(standing, chosen.standing):
            for start in bits.places(bits.tidy_starts(standing.open, size)):
                yield Cluster(standing, start, size)


def _same_section(one: Standing, other: Standing) -> bool:
    return (one.row.zone, one.row.section) == (other.row.zone, other.row.section)


def _away(one: Cluster, other: Cluster) -> float:
    # Whoever chose a row meant it: another row counts for as much as four seats.
    rows = abs(one.standing.order - other.standing.order) * 4 * one.standing.pitch
    return rows + dist(_first_seat(one), _first_seat(other))


def _first_seat(cluster: Cluster) -> Point:
    return cluster.standing.row.points[cluster.start]
