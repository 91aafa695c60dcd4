"""The feed: who is listed, in which order, by which filters, page after page."""

from __future__ import annotations

from typing import Any

import pytest

from shared.clock import Millis
from sync_server.accounts import queries as accounts
from sync_server.accounts.cookies import COOKIE
from sync_server.events import service
from sync_server.plumbing.shapes import iso
from tests.builders import DAY, EVENING, HOUR
from tests.contracts.programme.town import FEED, Town


def walk(town: Town, *, between: Any = None, **asked: Any) -> list[str]:
    """All pages, one after the other; `between` happens after each."""
    seen: list[str] = []
    after: dict[str, str] = {}
    while True:
        page = town.page(**asked, **after)
        seen += [item["name"] for item in page["items"]]
        if page["next"] is None:
            return seen
        after = {"after": page["next"]}
        if between is not None:
            between(len(seen))


def test_events_of_all_houses_stand_in_the_order_of_their_start(town: Town) -> None:
    rivals = town.another_house("rivals")
    town.publish("Third", days=3)
    town.publish("First", days=1, desk=rivals)
    town.publish("Second", days=2)
    assert town.find() == ["First", "Second", "Third"]
    assert [item["organisation"]["slug"] for item in town.page()["items"]] == ["rivals", "marquee", "marquee"]


def test_only_what_visitors_may_see_is_listed(town: Town) -> None:
    town.draft("Draft")
    town.publish("Published", days=2)
    town.walk(town.publish("Live", days=3), "go-live")
    ended = town.publish("Ended", days=4)
    town.walk(ended, "go-live")
    town.walk(ended, "end")
    town.walk(town.publish("Cancelled", days=5), "cancel")
    town.walk(town.publish("Postponed", days=6), "postpone")
    town.walk(town.publish("Taken back", days=7), "unpublish")
    archived = town.publish("Archived", days=8)
    town.walk(archived, "cancel")
    town.walk(archived, "archive")
    assert town.find() == ["Published", "Live", "Postponed"]


def test_what_is_over_leaves_the_feed_by_itself_and_what_goes_on_stays(town: Town) -> None:
    town.publish("Matinee", days=1)
    town.walk(town.publish("Long night", days=1), "go-live")
    town.walk(town.publish("Waiting for a date", days=1), "postpone")
    town.publish("Tomorrow", days=2)
    town.advance(DAY + 4 * HOUR - 1)
    assert set(town.find()) == {"Matinee", "Long night", "Waiting for a date", "Tomorrow"}
    town.advance(1)
    assert set(town.find()) == {"Long night", "Waiting for a date", "Tomorrow"}
    town.advance(30 * DAY)
    assert town.find() == ["Long night"]
    town.office.work()
    town.office.advance(2 * HOUR)
    town.office.work()
    assert town.find() == ["Long night"]


def test_a_new_date_brings_an_event_back_to_where_it_takes_place(town: Town) -> None:
    moved = town.publish("Moved", days=1)
    town.publish("Between", days=3)
    town.walk(moved, "postpone")
    assert town.find() == ["Moved", "Between"]
    town.walk(moved, "reschedule", rescheduled_at=EVENING + 5 * DAY)
    assert town.find() == ["Between", "Moved"]
    town.advance(40 * DAY)
    assert town.find() == []
    town.walk(moved, "reschedule", rescheduled_at=town.office.now + DAY)
    assert town.find() == ["Moved"]


def at(start: Millis) -> dict[str, Millis]:
    """The times of an event that starts then."""
    return {"start_at": start, "end_at": start + HOUR, "sale_end_at": start}


def many(town: Town) -> None:
    for city in ("Berlin", "Zürich"):
        for category in ("Rock", "Oper"):
            for day in (1, 2, 3):
                town.publish(f"{category} {city} {day}", city=city, category=category, days=day)


FILTERS: list[tuple[dict[str, Any], int]] = [
    ({"city": "zurich"}, 6),
    ({"city": "ZU\u0308RICH"}, 6),
    ({"city": "Zür"}, 0),
    ({"category": "rock"}, 6),
    ({"city": "Berlin", "category": "OPER"}, 3),
    ({"starts_from": iso(EVENING + 2 * DAY)}, 8),
    ({"to": iso(EVENING + 2 * DAY)}, 4),
    ({"starts_from": iso(EVENING + 2 * DAY), "to": iso(EVENING + 2 * DAY + 1)}, 4),
    ({"organisation": "marquee"}, 12),
    ({"organisation": "rivals"}, 0),
    ({"organisation": "nobody"}, 0),
    ({"q": "oper"}, 6),
    ({"city": "\0", "category": "\0", "organisation": "\0"}, 12),
    ({"city": "Berlin", "category": "Rock", "starts_from": iso(EVENING + 2 * DAY), "organisation": "marquee"}, 2),
    ({"city": "Berlin", "category": "Rock", "to": iso(EVENING + 2 * DAY), "q": "ro ber"}, 0),
    ({"city": "Berlin", "category": "Rock", "to": iso(EVENING + 2 * DAY), "q": "rock ber"}, 1),
    ({"city": "", "category": " ", "organisation": "", "q": " "}, 12),
]


@pytest.mark.parametrize("sort", ["latest", "trending"])
def test_filters_narrow_the_feed_alone_and_together(town: Town, sort: str) -> None:
    town.another_house("rivals")
    many(town)
    town.sell(town.page()["items"][7], 3)
    town.work()
    for asked, found in FILTERS:
        assert len(town.find(sort=sort, **asked)) == found, asked
        once = walk(town, sort=sort, limit=1, **asked)
        assert len(once) == len(set(once)) == found, asked


def test_pages_give_everything_once_also_where_many_start_together(town: Town) -> None:
    names = {town.publish(f"Act {n}", days=1 + n // 4)["name"] for n in range(11)}
    for limit in (1, 3, 11):
        seen = walk(town, limit=limit)
        assert len(seen) == 11 and set(seen) == names


def test_an_event_that_vanishes_between_pages_is_gone_and_the_others_are_all_there(town: Town) -> None:
    events = [town.publish(f"Act {n}", days=n + 1) for n in range(6)]
    gone = {2: events[1], 4: events[4]}

    def between(seen: int) -> None:
        town.walk(gone[seen], "cancel")

    assert walk(town, limit=2, between=between) == ["Act 0", "Act 1", "Act 2", "Act 3", "Act 5"]


def test_nobody_meets_an_event_twice_that_was_moved_while_he_read(town: Town) -> None:
    events = [town.publish(f"Act {n}", days=n + 1) for n in range(6)]

    def between(seen: int) -> None:
        if seen == 2:
            town.advance(1)
            later = EVENING + 20 * DAY
            town.desk.patch(f"/api/events/{events[0]['id']}", at(later))
            town.walk(events[1], "unpublish")
            town.desk.patch(f"/api/events/{events[1]['id']}", at(later))
            town.walk(events[1], "publish")

    assert walk(town, limit=2, between=between) == [f"Act {n}" for n in range(6)]
    assert set(town.find()[-2:]) == {"Act 0", "Act 1"}


def test_an_event_that_comes_closer_to_where_the_reader_goes_is_met(town: Town) -> None:
    """Moved from a place he has not reached: he cannot have seen it."""
    events = [town.publish(f"Act {n}", days=n + 1) for n in range(6)]

    def between(seen: int) -> None:
        if seen == 2:
            town.advance(1)
            sooner = EVENING + int(3.5 * DAY)
            town.desk.patch(f"/api/events/{events[5]['id']}", at(sooner))

    assert walk(town, limit=2, between=between) == ["Act 0", "Act 1", "Act 2", "Act 5", "Act 3", "Act 4"]


def damaged(cursor: str) -> list[str]:
    swapped = cursor[:10] + ("A" if cursor[10] != "A" else "B") + cursor[11:]
    return ["", "abc", "????", "e30", "\u00e9", cursor[:-1], cursor + "A", swapped, cursor[::-1], "A" * 399]


@pytest.mark.parametrize("sort", ["latest", "trending"])
def test_a_damaged_cursor_is_refused_in_words(town: Town, sort: str) -> None:
    for n in range(3):
        town.publish(f"Act {n}", days=n + 1)
    good = town.page(sort=sort, limit=1)["next"]
    for bad in damaged(good):
        assert town.refused(FEED, sort=sort, after=bad) == (400, "bad_cursor"), bad


def test_a_cursor_belongs_to_the_question_it_was_given_for(town: Town) -> None:
    for n in range(3):
        town.publish(f"Act {n}", days=n + 1)
    after = town.page(limit=1, city="Berlin")["next"]
    assert town.find(after=after, limit=5, city="BERLIN") == ["Act 1", "Act 2"]
    for other in ({}, {"city": "Bern"}, {"city": "Berlin", "sort": "trending"}, {"city": "Berlin", "q": "act"}):
        assert town.refused(FEED, after=after, **other) == (400, "bad_cursor")


@pytest.mark.parametrize(
    "asked",
    [
        {"sort": "newest"},
        {"limit": 0},
        {"limit": 101},
        {"limit": "many"},
        {"starts_from": "tomorrow"},
        {"starts_from": "2026-07-05T00:00:00Z", "to": "2026-07-04T00:00:00Z"},
        {"colour": "red"},
        {"city": "x" * 51},
        {"q": "x" * 5_001},
        {"after": "x" * 401},
    ],
)
def test_a_question_that_cannot_be_is_refused_in_words(town: Town, asked: dict[str, Any]) -> None:
    assert town.refused(FEED, **asked) == (400, "invalid_request")


def test_a_change_is_in_the_feed_as_soon_as_it_is_committed(town: Town) -> None:
    event = town.publish("Old name")
    assert town.find() == ["Old name"]
    town.desk.patch(f"/api/events/{event['id']}", {"name": "New name"})
    assert (town.find(), town.find(q="old"), town.find(q="new")) == (["New name"], [], ["New name"])


def test_a_change_that_is_rolled_back_leaves_the_listing_as_it_was(town: Town) -> None:
    event = town.publish("Night Music")
    with pytest.raises(ZeroDivisionError), town.office.database.writing() as session:
        owner = accounts.organisation_by_slug(session, "marquee")
        assert owner is not None
        service.change_event(session, owner.id, event["id"], {"name": "Day Music"}, town.office.deed())
        session.flush()
        raise ZeroDivisionError
    assert (town.find(q="day"), town.find(q="night")) == ([], ["Night Music"])


def test_clients_may_keep_a_page_for_moments_and_ask_whether_it_changed(town: Town) -> None:
    town.publish("Night Music")
    first = town.ask(FEED)
    assert first.headers["Cache-Control"] == "public, max-age=15"
    again = town.visitor.client.get(FEED, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    town.publish("Day Music")
    fresh = town.visitor.client.get(FEED, headers={"If-None-Match": first.headers["ETag"]})
    assert (fresh.status_code, len(fresh.json["items"])) == (200, 2)


def test_the_organisers_address_answers_strangers_with_the_feed_and_organisers_with_their_own(town: Town) -> None:
    town.publish("Night Music")
    town.draft("Draft")
    answer = town.ask("/api/events")
    assert [item["name"] for item in answer.json["items"]] == ["Night Music"]
    assert (answer.headers["Cache-Control"], {*answer.vary}) == ("private, max-age=15", {"Authorization", "Cookie"})
    assert {item["name"] for item in town.desk.get("/api/events")["items"]} == {"Night Music", "Draft"}
    assert "capacity" in town.desk.get("/api/events")["items"][0]
    for token in ("Bearer nobody", "nonsense", ""):
        assert town.visitor.client.get("/api/events", headers={"Authorization": token}).status_code == 401, token
    town.visitor.client.set_cookie("colour", "red")
    assert town.ask("/api/events").status_code == 200
    town.visitor.client.set_cookie(COOKIE, "of yesterday")
    assert town.ask("/api/events").status_code == 401
