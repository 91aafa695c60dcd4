"""The best seats left for a party: together and leaving nobody a single seat, as near the stage as that allows."""

from __future__ import annotations

from collections.abc import Iterator

from sync_server.seating import bits
from sync_server.seating.clusters import in_clusters
from sync_server.seating.hall import Hall, Standing, burden
from sync_server.seating.offers import Cluster, Grade, Manners, Offer, Refused, Wish, offer


def best_available(hall: Hall, wish: Wish, manners: Manners) -> Offer | Refused:
    """The best seats that the policy allows to give to this party, or why there are none."""
    for found in _in_order_of_goodness(hall, wish, manners):
        if found is not None:
            return found
    return _refusal(hall, wish, manners)


def _in_order_of_goodness(hall: Hall, wish: Wish, manners: Manners) -> Iterator[Offer | None]:
    yield together(hall, wish)
    yield in_a_nearly_sold_row(hall, wish)
    if wish.staff or not manners.group_adjacency_strict:
        yield in_clusters(hall, wish, manners, tidy=True)
    if wish.staff or not manners.orphan_avoidance_strict:
        yield together_anyhow(hall, wish)
        if wish.staff or not manners.group_adjacency_strict:
            yield in_clusters(hall, wish, manners, tidy=False)
    if wish.apart or wish.staff:
        yield apart(hall, wish)


def together(hall: Hall, wish: Wish) -> Offer | None:
    """Neighbours in one row that leave no single seat."""
    rows = hall.room(wish.size).tidy_by_rank & hall.zones_by_rank(wish.zones)
    return _nearest(hall, rows, wish.size, Grade.TOGETHER)


def in_a_nearly_sold_row(hall: Hall, wish: Wish) -> Offer | None:
    """Neighbours in a row that is as good as sold: a single seat left there cannot be helped."""
    rows = hall.room(wish.size).any_by_rank & hall.nearly_sold_by_rank & hall.zones_by_rank(wish.zones)
    return _nearest(hall, rows, wish.size, Grade.NEARLY_SOLD_ROW)


def together_anyhow(hall: Hall, wish: Wish) -> Offer | None:
    """Neighbours in one row, with a single seat left beside them."""
    rows = hall.room(wish.size).any_by_rank & hall.zones_by_rank(wish.zones)
    return _nearest(hall, rows, wish.size, Grade.LEAVES_SINGLES)


def _nearest(hall: Hall, rows: int, size: int, grade: Grade) -> Offer | None:
    best: Cluster | None = None
    least = float("inf")
    for rank in bits.places(rows):
        standing = hall.by_rank[rank]
        if standing.floor - hall.bargain >= least:
            break
        cost, start = nearest_start(standing, size)
        if cost < least:
            best, least = Cluster(standing, start, size), cost
    return None if best is None else offer([best], grade)


def nearest_start(standing: Standing, size: int) -> tuple[float, int]:
    """What the best place for `size` neighbours in a row that has room costs, and where it is."""
    known = standing.best.get(size)
    if known is None:
        found = bits.tidy_starts(standing.open, size) or bits.starts(standing.open, size)
        known = standing.best[size] = min((_cost(standing, start, size), start) for start in bits.places(found))
    return known


def _cost(standing: Standing, start: int, size: int) -> float:
    left, right = bits.beside(standing.open, start, size)
    spoilt = burden(left) + burden(right) - burden(left + size + right)
    return standing.away(start, size) + standing.pitch * spoilt


def apart(hall: Hall, wish: Wish) -> Offer | None:
    """The nearest free seats, one by one, for a party that need not sit together."""
    taken: list[Cluster] = []
    for _ in range(wish.size):
        alone = Wish(1, wish.zones)
        found = together(hall, alone) or together_anyhow(hall, alone)
        if found is None:
            break
        hall.take(found.seats)
        taken += found.clusters
    hall.release(seat for cluster in taken for seat in cluster.seats)
    return offer(taken, Grade.APART) if len(taken) == wish.size else None


def _refusal(hall: Hall, wish: Wish, manners: Manners) -> Refused:
    rows = hall.zones_by_rank(wish.zones)
    if not hall.room(1).any_by_rank & rows:
        return Refused("sold_out", "There are no free seats left here.")
    return Refused(*_why(hall, wish, manners, rows))


def _why(hall: Hall, wish: Wish, manners: Manners, rows: int) -> tuple[str, str]:
    if hall.room(wish.size).any_by_rank & rows:
        return (
            "leaves_single_seat",
            f"No suitable seats: every place left for {wish.size} would leave a single seat beside it, which could "
            "hardly be sold. Try another number of seats, or choose seats yourself.",
        )
    if manners.group_adjacency_strict:
        return (
            "not_together",
            f"There are no {wish.size} seats together any more, and this house does not split parties. Try fewer.",
        )
    return (
        "not_together",
        f"There are no {wish.size} seats together any more, nor in groups of two or more within "
        f"{manners.max_group_split} rows. Try fewer, or say that you do not mind sitting apart.",
    )
