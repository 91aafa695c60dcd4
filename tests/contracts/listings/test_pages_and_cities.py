"""The public page of an event, and city suggestions."""

from __future__ import annotations

from typing import Any

from sqlalchemy import text

from sync_server.listings.schemas import EventPageView
from sync_server.outbox.broker import joins
from tests.builders import DAY, EVENING, a_ticket_type
from tests.contracts.listings.town import FEED, Town

CITIES = "/api/meta/cities"


def cities(town: Town, **query: Any) -> list[tuple[str, int]]:
    return [(item["city"], item["events"]) for item in town.ask(CITIES, **query).json["items"]]


def page(town: Town, name: str, **query: Any) -> Any:
    response = town.ask(f"{FEED}/{name}", **query)
    assert response.status_code == 200, response.json
    return response.json


def test_page_has_public_fields_only(town: Town) -> None:
    fields = {"description": "With strings", "settings": {"secret": "ours"}, "name_checks": True, "capacity": 4_711}
    event = town.publish("Night Music", **fields)
    town.api.post(f"/api/events/{event['id']}/ticket-types", a_ticket_type())
    shown = page(town, event["id"])
    assert set(shown) == set(EventPageView.model_fields)
    assert (shown["name"], shown["description"], shown["sale_status"]) == ("Night Music", "With strings", "on_sale")
    text = str(shown)
    assert [word for word in ("secret", "4711", "created_by", "name_checks", "dedupe") if word in text] == []


def test_page_is_found_by_id_and_slug(town: Town) -> None:
    event = town.publish("Night Music")
    assert page(town, "night-music") == page(town, event["id"])
    rivals = town.another_organiser("rivals")
    theirs = town.publish("Night Music", api=rivals)
    assert town.refused(f"{FEED}/night-music") == (400, "ambiguous_slug")
    assert page(town, "night-music", organisation="rivals")["id"] == theirs["id"]
    assert page(town, "night-music", organisation="marquee")["id"] == event["id"]


def test_hidden_event_is_answered_like_a_missing_one(town: Town) -> None:
    draft = town.draft("Draft")
    cancelled = town.publish("Cancelled")
    assert page(town, cancelled["id"])["status"] == "published"
    town.change_status(cancelled, "cancel")
    missing = town.ask(f"{FEED}/00000000-0000-7000-8000-000000000000").json["error"]
    for event in (draft, cancelled):
        for name in (event["id"], event["slug"]):
            response = town.ask(f"{FEED}/{name}")
            error = response.json["error"]
            assert (response.status_code, error["code"], error["message"]) == (404, missing["code"], missing["message"])
    for name in ("nothing", "x" * 300, "%00", "é"):
        assert town.refused(f"{FEED}/{name}") == (404, "event_not_found"), name
    assert town.refused(f"{FEED}/draft", organisation="nobody") == (404, "event_not_found")


def test_postponed_event_has_its_new_date(town: Town) -> None:
    event = town.publish("Night Music")
    town.change_status(event, "postpone", reason="the singer's knee")
    shown = page(town, event["id"])
    assert (shown["status"], shown["rescheduled_at"], "knee" in str(shown)) == ("postponed", None, False)
    town.change_status(event, "reschedule", rescheduled_at=EVENING + 9 * DAY)
    assert page(town, event["id"])["rescheduled_at"] == "2026-07-13T16:00:00Z"


def test_participants_are_tickets_or_joins_elsewhere(town: Town) -> None:
    event = town.publish("Night Music")
    assert page(town, event["id"])["participants"] == 0
    town.sell(event, 3)
    town.app_server.run_worker()
    assert page(town, event["id"])["participants"] == 3
    with town.app_server.database.writing() as session:
        for n in range(7):
            joins.count(session, joins.Join(f"m{n}", event["id"], 1), town.app_server.now)
    assert page(town, event["id"])["participants"] == 3
    with town.app_server.database.writing() as session:
        change = "UPDATE events SET participants_elsewhere = :yes WHERE id = :id"
        session.execute(text(change), {"yes": True, "id": event["id"]})
    town.clear_caches()
    assert (page(town, event["id"])["participants"], town.page()["items"][0]["participants"]) == (7, 7)
    with town.app_server.database.writing() as session:
        joins.count(session, joins.Join("m7", event["id"], 1), town.app_server.now)
    assert page(town, event["id"])["participants"] == 8


def test_cities_are_suggested_by_prefix_whatever_the_accents(town: Town) -> None:
    for city, events in {"Zürich": 3, "ZÜRICH": 1, "Zug": 1, "Łódź": 2, "Berlin": 1, "東京": 1}.items():
        for n in range(events):
            town.publish(f"{city} {n}", city=city, days=n + 1)
    town.draft("Draft", city="Zwickau")
    assert cities(town, prefix="zu") == [("Zürich", 4), ("Zug", 1)]
    assert cities(town, prefix="ZU\u0308R") == cities(town, prefix="zur ") == [("Zürich", 4)]
    assert cities(town, prefix="lod") == [("Łódź", 2)]
    assert cities(town, prefix="東") == [("東京", 1)]
    assert cities(town, prefix="zu\0") == cities(town, prefix="zu")
    assert cities(town, prefix="zw") == cities(town, prefix="%") == cities(town, prefix="_") == []
    assert [city for city, _ in cities(town)] == ["Zürich", "Łódź", "Berlin", "Zug", "東京"]
    assert town.refused(CITIES, prefix="x" * 51) == (400, "invalid_request")


def test_city_is_counted_again_when_an_event_comes_or_goes(town: Town) -> None:
    event = town.publish("Night Music", city="Zug")
    assert cities(town, prefix="zug") == [("Zug", 1)]
    town.publish("Day Music", city="Zug")
    assert cities(town, prefix="zug") == [("Zug", 2)]
    town.change_status(event, "cancel")
    assert cities(town, prefix="zug") == [("Zug", 1)]


def test_cities_can_be_cached_for_minutes(town: Town) -> None:
    response = town.ask(CITIES)
    assert (response.headers["Cache-Control"], bool(response.headers["ETag"])) == (
        "public, max-age=300, s-maxage=1",
        True,
    )
