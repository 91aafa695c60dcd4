"""Customers pick seats themselves."""

from __future__ import annotations

from sync_server.seating.choices import judge
from sync_server.seating.hall import Hall
from sync_server.seating.offers import Grade, Manners, Offer, Refused, Wish
from tests.unit.sync_server.seating.halls import a_hall

STRICT = Manners()


def chosen(hall: Hall, *seats: int, manners: Manners = STRICT, **wish: bool) -> Offer | Refused:
    return judge(hall, seats, Wish(len(seats), **wish), manners)


def accepted(hall: Hall, *seats: int, manners: Manners = STRICT, **wish: bool) -> Offer:
    answer = chosen(hall, *seats, manners=manners, **wish)
    assert isinstance(answer, Offer), answer
    return answer


def refused(hall: Hall, *seats: int, manners: Manners = STRICT, **wish: bool) -> Refused:
    answer = chosen(hall, *seats, manners=manners, **wish)
    assert isinstance(answer, Refused), answer
    return answer


def test_choice_that_leaves_nobody_single_is_taken_as_it_is() -> None:
    assert accepted(a_hall("........"), 1, 2).grade is Grade.TOGETHER


def test_one_seat_beside_the_wall_is_left_single_and_the_customer_is_told_where_to_sit() -> None:
    answer = refused(a_hall("........"), 2, 3)
    assert answer.reason == "leaves_single_seat"
    assert answer.instead is not None
    assert answer.instead.seats in {(1, 2), (3, 4)}
    assert answer.instead.words in answer.words


def test_customer_is_sent_no_further_than_needed() -> None:
    answer = refused(a_hall("........", "xxxxxxxx", "........"), 18, 19)
    assert answer.instead is not None
    assert answer.instead.clusters[0].standing.row.label == "C"


def test_choice_stands_when_the_party_could_not_sit_without_leaving_a_single_seat() -> None:
    answer = accepted(a_hall("x...xx"), 2, 3)
    assert (answer.grade, answer.orphans) == (Grade.LEAVES_SINGLES, 1)


def test_choice_stands_in_a_row_that_is_nearly_sold() -> None:
    hall = a_hall("x" * 28 + "..." + "x" * 4, "." * 10)
    assert accepted(hall, 29, 30).grade is Grade.NEARLY_SOLD_ROW


def test_wish_to_sit_apart_must_be_said() -> None:
    hall = a_hall(".....", ".....")
    assert refused(hall, 2, 4).reason == "leaves_single_seat"
    assert accepted(hall, 2, 4, apart=True).orphans == 3


def test_wish_to_sit_apart_does_not_excuse_a_careless_pair() -> None:
    assert refused(a_hall("........"), 2, 3, apart=True).reason == "leaves_single_seat"


def test_easy_house_takes_every_choice_of_free_seats() -> None:
    easy = Manners(orphan_avoidance_strict=False)
    assert accepted(a_hall("........"), 2, 3, manners=easy).grade is Grade.LEAVES_SINGLES


def test_house_that_keeps_parties_together_refuses_a_split_one() -> None:
    together = Manners(group_adjacency_strict=True)
    answer = refused(a_hall("........", "........"), 1, 2, 9, 10, manners=together)
    assert (answer.reason, answer.instead is not None) == ("not_together", True)


def test_house_that_chooses_itself_says_which_seats_it_would_give() -> None:
    answer = refused(a_hall("........"), 1, 2, manners=Manners(prefer_clustering_over_selection=True))
    assert (answer.reason, answer.instead is not None) == ("seats_are_assigned", True)


def test_seat_that_was_sold_meanwhile() -> None:
    assert refused(a_hall(".x.."), 1, 2).reason == "seat_no_longer_available"
    assert refused(a_hall("...."), 99).reason == "seat_no_longer_available"


def test_box_office_leaves_single_seats_where_it_must() -> None:
    assert accepted(a_hall("........"), 2, 3, staff=True).orphans == 1


def test_box_office_cannot_sell_what_is_sold() -> None:
    assert refused(a_hall(".x.."), 2, staff=True).reason == "seat_no_longer_available"
