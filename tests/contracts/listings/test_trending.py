"""Trending: ranked by interest and start, in generations that readers stay in."""

from __future__ import annotations

import random
from typing import Any

import pytest
from sqlalchemy import text

from sync_server.listings import interest
from sync_server.outbox.broker import joins
from sync_server.plumbing.jobs import Message
from tests.builders import DAY, HOUR, MINUTE
from tests.contracts.listings.town import FEED, Town


def trending(town: Town, **query: Any) -> list[str]:
    return town.find(sort="trending", **query)


def seat_held(town: Town, event: dict[str, Any], n: int) -> list[Message]:
    subjects = {"event": event["id"], "event_number": event["number"]}
    return [Message(f"m{i}", "seat_held", "o", town.app_server.now, subjects, {}, 0) for i in range(n)]


def test_best_sellers_come_first_and_others_by_start(town: Town) -> None:
    events = [town.publish(f"Act {n}", days=n) for n in range(1, 6)]
    assert trending(town) == ["Act 1", "Act 2", "Act 3", "Act 4", "Act 5"]
    town.sell(events[3], 5)
    town.sell(events[4], 10)
    town.work()
    assert trending(town) == ["Act 5", "Act 4", "Act 1", "Act 2", "Act 3"]


def test_nearer_event_wins_with_equal_sales(town: Town) -> None:
    far, near = town.publish("Far", days=40), town.publish("Near", days=3)
    for event in (far, near):
        town.sell(event, 5)
    town.work()
    assert trending(town) == ["Near", "Far"]


def test_joins_elsewhere_and_holds_count(town: Town) -> None:
    held, joined = town.publish("Held", days=3), town.publish("Joined", days=4)
    town.publish("Quiet", days=1)
    with town.app_server.database.writing() as session:
        for n in range(4):
            joins.count(session, joins.Join(f"m{n}", joined["id"], 1), town.app_server.now)
        joins.count(session, joins.Join("m5", joined["id"], -1), town.app_server.now)
    with town.app_server.database.writing() as session:
        interest.count_interest(session, seat_held(town, held, 2))
    town.work()
    assert trending(town) == ["Joined", "Held", "Quiet"]


def test_interest_fades(town: Town) -> None:
    old, new = town.publish("Old", days=20), town.publish("New", days=20.1)
    town.publish("Quiet", days=10)
    town.sell(old, 10)
    town.work()
    town.advance(2 * DAY)
    town.sell(new, 5)
    town.work()
    assert trending(town) == ["New", "Old", "Quiet"]
    town.advance(4 * DAY)
    town.work()
    assert trending(town) == ["Quiet", "Old", "New"]


def test_pages_neither_skip_nor_repeat_while_scores_change(town: Town) -> None:
    events = {f"Act {n}": town.publish(f"Act {n}", days=n) for n in range(1, 11)}
    for n in (2, 4, 6, 8):
        town.sell(events[f"Act {n}"], n)
    town.work()
    order = trending(town)
    assert set(order[:4]) == {"Act 2", "Act 4", "Act 6", "Act 8"}
    seen: list[str] = []
    after: dict[str, str] = {}
    sells = iter(["Act 9", "Act 2", "Act 1", "Act 10", "Act 7"])
    while True:
        page = town.page(sort="trending", limit=2, **after)
        seen += [item["name"] for item in page["items"]]
        if page["next"] is None:
            break
        after = {"after": page["next"]}
        event = events[next(sells)]
        town.api.post(f"/api/events/{event['id']}/ticket-types", {"name": "More", "price_cents": 1, "quantity": 90})
        kinds = town.api.get(f"/api/events/{event['id']}/ticket-types")["items"]
        town.api.post(f"/api/events/{event['id']}/tickets", {"ticket_type": kinds[-1]["number"], "count": 20})
        town.work()
    assert seen == order
    assert trending(town) != order


def test_cursor_of_an_expired_generation_is_refused(town: Town) -> None:
    events = [town.publish(f"Act {n}", days=n) for n in range(1, 5)]
    town.sell(events[2], 5)
    town.work()
    after = town.page(sort="trending", limit=1)["next"]
    behind = town.page(sort="trending", limit=2)["next"]
    town.sell(events[3], 9)
    town.work()
    town.advance(25 * MINUTE)
    town.work()
    assert trending(town, limit=1, after=after) == ["Act 1"]
    town.advance(10 * MINUTE)
    town.sell(events[1], 10)
    town.work()
    for cursor in (after, behind):
        assert town.refused(FEED, sort="trending", after=cursor) == (400, "cursor_expired")
    assert trending(town, limit=1) == ["Act 2"]


def test_unchanged_order_makes_no_generation(town: Town) -> None:
    town.sell(town.publish("Act", days=2), 5)
    town.work()
    after = town.page(sort="trending", limit=1)
    generations = _generations(town)
    town.advance(HOUR)
    town.work()
    assert _generations(town) == generations == 1
    assert town.page(sort="trending", limit=1) == after


def _generations(town: Town) -> int:
    with town.app_server.database.reading() as session:
        return int(session.execute(text("SELECT count(*) FROM trending_generations")).scalar_one())


@pytest.mark.parametrize("sort", ["latest", "trending"])
@pytest.mark.parametrize("seed", [1, 2])
def test_no_event_is_seen_twice_whatever_happens_between_pages(town: Town, sort: str, seed: int) -> None:
    """Random changes between pages; untouched events are seen exactly once."""
    randomness = random.Random(seed)
    events = {f"Act {n}": town.publish(f"Act {n}", days=n % 7 + 1) for n in range(16)}
    for name in ("Act 3", "Act 5", "Act 11"):
        town.sell(events[name], 3)
    town.work()
    seen: list[str] = []
    touched: set[str] = set()
    after: dict[str, str] = {}
    while True:
        page = town.page(sort=sort, limit=2, **after)
        seen += [item["name"] for item in page["items"]]
        if page["next"] is None:
            break
        after = {"after": page["next"]}
        for name in randomness.sample(sorted(events), 3):
            touched.add(name)
            _random_change(town, randomness, events[name])
        town.advance(1 + randomness.randrange(MINUTE))
        town.app_server.run_worker()
    assert len(seen) == len(set(seen))
    assert set(events) - touched <= set(seen)


def _random_change(town: Town, randomness: random.Random, event: dict[str, Any]) -> None:
    """One change; the server may refuse it."""
    path = f"/api/events/{event['id']}"
    start = town.app_server.now + randomness.randrange(1, 12) * DAY
    ask = town.api.ask
    changes = (
        lambda: ask("PATCH", path, {"start_at": start, "end_at": start + HOUR, "sale_end_at": start}),
        lambda: ask("POST", f"{path}/unpublish", {}),
        lambda: ask("POST", f"{path}/publish", {}),
        lambda: ask("POST", f"{path}/postpone", {}),
        lambda: ask("POST", f"{path}/reschedule", {"rescheduled_at": start}),
        lambda: ask("POST", f"{path}/tickets", {"ticket_type": 1, "count": 2}),
    )
    assert randomness.choice(changes)().status_code < 500
