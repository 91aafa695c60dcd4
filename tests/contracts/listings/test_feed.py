"""The feed: which events are listed, in which order, by which filters, page by page."""

from __future__ import annotations

from typing import Any

import pytest

from shared.clock import Millis
from sync_server.accounts import queries as accounts
from sync_server.accounts.sign_in.cookies import COOKIE
from sync_server.events import service
from sync_server.plumbing.api.schemas import iso
from tests.builders import DAY, EVENING, HOUR
from tests.contracts.listings.town import FEED, Town


def all_pages(town: Town, *, between: Any = None, **query: Any) -> list[str]:
    """The names on all pages; `between` is called after each page."""
    seen: list[str] = []
    after: dict[str, str] = {}
    while True:
        page = town.page(**query, **after)
        seen += [item["name"] for item in page["items"]]
        if page["next"] is None:
            return seen
        after = {"after": page["next"]}
        if between is not None:
            between(len(seen))


def test_events_of_all_organisers_are_in_order_of_start(town: Town) -> None:
    rivals = town.another_organiser("rivals")
    town.publish("Third", days=3)
    town.publish("First", days=1, api=rivals)
    town.publish("Second", days=2)
    assert town.find() == ["First", "Second", "Third"]
    assert [item["organisation"]["slug"] for item in town.page()["items"]] == ["rivals", "marquee", "marquee"]


def test_only_visible_events_are_listed(town: Town) -> None:
    town.draft("Draft")
    town.publish("Published", days=2)
    town.change_status(town.publish("Live", days=3), "go-live")
    ended = town.publish("Ended", days=4)
    town.change_status(ended, "go-live")
    town.change_status(ended, "end")
    town.change_status(town.publish("Cancelled", days=5), "cancel")
    town.change_status(town.publish("Postponed", days=6), "postpone")
    town.change_status(town.publish("Taken back", days=7), "unpublish")
    archived = town.publish("Archived", days=8)
    town.change_status(archived, "cancel")
    town.change_status(archived, "archive")
    assert town.find() == ["Published", "Live", "Postponed"]


def test_past_events_leave_the_feed_and_live_ones_stay(town: Town) -> None:
    town.publish("Matinee", days=1)
    town.change_status(town.publish("Long night", days=1), "go-live")
    town.change_status(town.publish("Waiting for a date", days=1), "postpone")
    town.publish("Tomorrow", days=2)
    town.advance(DAY + 4 * HOUR - 1)
    assert set(town.find()) == {"Matinee", "Long night", "Waiting for a date", "Tomorrow"}
    town.advance(1)
    assert set(town.find()) == {"Long night", "Waiting for a date", "Tomorrow"}
    town.advance(30 * DAY)
    assert town.find() == ["Long night"]
    town.app_server.run_worker()
    town.app_server.advance(2 * HOUR)
    town.app_server.run_worker()
    assert town.find() == ["Long night"]


def test_rescheduled_event_is_listed_at_its_new_date(town: Town) -> None:
    moved = town.publish("Moved", days=1)
    town.publish("Between", days=3)
    town.change_status(moved, "postpone")
    assert town.find() == ["Moved", "Between"]
    town.change_status(moved, "reschedule", rescheduled_at=EVENING + 5 * DAY)
    assert town.find() == ["Between", "Moved"]
    town.advance(40 * DAY)
    assert town.find() == []
    town.change_status(moved, "reschedule", rescheduled_at=town.app_server.now + DAY)
    assert town.find() == ["Moved"]


def at(start: Millis) -> dict[str, Millis]:
    """The times of an event with that start."""
    return {"start_at": start, "end_at": start + HOUR, "sale_end_at": start}


def publish_many(town: Town) -> None:
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
def test_filters_alone_and_combined(town: Town, sort: str) -> None:
    town.another_organiser("rivals")
    publish_many(town)
    town.sell(town.page()["items"][7], 3)
    town.work()
    for query, count in FILTERS:
        assert len(town.find(sort=sort, **query)) == count, query
        names = all_pages(town, sort=sort, limit=1, **query)
        assert len(names) == len(set(names)) == count, query


def test_pages_have_every_event_once_even_with_equal_starts(town: Town) -> None:
    names = {town.publish(f"Act {n}", days=1 + n // 4)["name"] for n in range(11)}
    for limit in (1, 3, 11):
        seen = all_pages(town, limit=limit)
        assert len(seen) == 11 and set(seen) == names


def test_event_that_is_cancelled_between_pages_is_the_only_one_missing(town: Town) -> None:
    events = [town.publish(f"Act {n}", days=n + 1) for n in range(6)]
    gone = {2: events[1], 4: events[4]}

    def between(seen: int) -> None:
        town.change_status(gone[seen], "cancel")

    assert all_pages(town, limit=2, between=between) == ["Act 0", "Act 1", "Act 2", "Act 3", "Act 5"]


def test_event_that_is_moved_later_between_pages_is_not_seen_twice(town: Town) -> None:
    events = [town.publish(f"Act {n}", days=n + 1) for n in range(6)]

    def between(seen: int) -> None:
        if seen == 2:
            town.advance(1)
            later = EVENING + 20 * DAY
            town.api.patch(f"/api/events/{events[0]['id']}", at(later))
            town.change_status(events[1], "unpublish")
            town.api.patch(f"/api/events/{events[1]['id']}", at(later))
            town.change_status(events[1], "publish")

    assert all_pages(town, limit=2, between=between) == [f"Act {n}" for n in range(6)]
    assert set(town.find()[-2:]) == {"Act 0", "Act 1"}


def test_event_that_is_moved_earlier_between_pages_is_seen(town: Town) -> None:
    """Moved from a place that the reader has not reached, so they cannot have seen it."""
    events = [town.publish(f"Act {n}", days=n + 1) for n in range(6)]

    def between(seen: int) -> None:
        if seen == 2:
            town.advance(1)
            sooner = EVENING + int(3.5 * DAY)
            town.api.patch(f"/api/events/{events[5]['id']}", at(sooner))

    assert all_pages(town, limit=2, between=between) == ["Act 0", "Act 1", "Act 2", "Act 5", "Act 3", "Act 4"]


def damaged(cursor: str) -> list[str]:
    swapped = cursor[:10] + ("A" if cursor[10] != "A" else "B") + cursor[11:]
    return ["", "abc", "????", "e30", "\u00e9", cursor[:-1], cursor + "A", swapped, cursor[::-1], "A" * 399]


@pytest.mark.parametrize("sort", ["latest", "trending"])
def test_damaged_cursor_is_refused(town: Town, sort: str) -> None:
    for n in range(3):
        town.publish(f"Act {n}", days=n + 1)
    good = town.page(sort=sort, limit=1)["next"]
    for bad in damaged(good):
        assert town.refused(FEED, sort=sort, after=bad) == (400, "bad_cursor"), bad


def test_cursor_is_valid_for_its_own_criteria_only(town: Town) -> None:
    for n in range(3):
        town.publish(f"Act {n}", days=n + 1)
    after = town.page(limit=1, city="Berlin")["next"]
    assert town.find(after=after, limit=5, city="BERLIN") == ["Act 1", "Act 2"]
    for other in ({}, {"city": "Bern"}, {"city": "Berlin", "sort": "trending"}, {"city": "Berlin", "q": "act"}):
        assert town.refused(FEED, after=after, **other) == (400, "bad_cursor")


@pytest.mark.parametrize(
    "query",
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
def test_invalid_query_is_refused(town: Town, query: dict[str, Any]) -> None:
    assert town.refused(FEED, **query) == (400, "invalid_request")


def test_change_is_in_the_feed_once_committed(town: Town) -> None:
    event = town.publish("Old name")
    assert town.find() == ["Old name"]
    town.api.patch(f"/api/events/{event['id']}", {"name": "New name"})
    assert (town.find(), town.find(q="old"), town.find(q="new")) == (["New name"], [], ["New name"])


def test_change_that_is_rolled_back_does_not_touch_the_listing(town: Town) -> None:
    event = town.publish("Night Music")
    with pytest.raises(ZeroDivisionError), town.app_server.database.writing() as session:
        owner = accounts.organisation_by_slug(session, "marquee")
        assert owner is not None
        service.change_event(session, owner.id, event["id"], {"name": "Day Music"}, town.app_server.context())
        session.flush()
        raise ZeroDivisionError
    assert (town.find(q="day"), town.find(q="night")) == ([], ["Night Music"])


def test_page_can_be_cached_and_revalidated(town: Town) -> None:
    town.publish("Night Music")
    first = town.ask(FEED)
    assert first.headers["Cache-Control"] == "public, max-age=15, s-maxage=1"
    again = town.visitor.client.get(FEED, headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    town.publish("Day Music")
    fresh = town.visitor.client.get(FEED, headers={"If-None-Match": first.headers["ETag"]})
    assert (fresh.status_code, len(fresh.json["items"])) == (200, 2)


def test_events_path_serves_visitors_the_feed_and_organisers_their_events(town: Town) -> None:
    town.publish("Night Music")
    town.draft("Draft")
    response = town.ask("/api/events")
    assert [item["name"] for item in response.json["items"]] == ["Night Music"]
    assert (response.headers["Cache-Control"], {*response.vary}) == ("private, max-age=15", {"Authorization", "Cookie"})
    assert {item["name"] for item in town.api.get("/api/events")["items"]} == {"Night Music", "Draft"}
    assert "capacity" in town.api.get("/api/events")["items"][0]
    for token in ("Bearer nobody", "nonsense", ""):
        assert town.visitor.client.get("/api/events", headers={"Authorization": token}).status_code == 401, token
    town.visitor.client.set_cookie("colour", "red")
    assert town.ask("/api/events").status_code == 200
    town.visitor.client.set_cookie(COOKIE, "of yesterday")
    assert town.ask("/api/events").status_code == 401
