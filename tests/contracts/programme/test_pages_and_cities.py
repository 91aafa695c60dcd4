"""An event's page for everybody, and the cities that visitors are offered."""

from __future__ import annotations

from typing import Any

from sqlalchemy import text

from sync_server.outbox import joins
from sync_server.programme.schemas import EventPageView
from tests.builders import DAY, EVENING
from tests.contracts.programme.town import FEED, Town

CITIES = "/api/meta/cities"


def cities(town: Town, **asked: Any) -> list[tuple[str, int]]:
    return [(item["city"], item["events"]) for item in town.ask(CITIES, **asked).json["items"]]


def page(town: Town, name: str, **asked: Any) -> Any:
    answer = town.ask(f"{FEED}/{name}", **asked)
    assert answer.status_code == 200, answer.json
    return answer.json


def test_a_page_tells_what_visitors_need_and_nothing_internal(town: Town) -> None:
    words = {"description": "With strings", "settings": {"secret": "ours"}, "name_checks": True, "capacity": 4_711}
    event = town.publish("Night Music", **words)
    shown = page(town, event["id"])
    assert set(shown) == set(EventPageView.model_fields)
    assert (shown["name"], shown["description"], shown["sale_status"]) == ("Night Music", "With strings", "on_sale")
    told = str(shown)
    assert [word for word in ("secret", "4711", "created_by", "name_checks", "dedupe") if word in told] == []


def test_a_page_is_found_by_id_and_by_slug(town: Town) -> None:
    event = town.publish("Night Music")
    assert page(town, "night-music") == page(town, event["id"])
    rivals = town.another_house("rivals")
    theirs = town.publish("Night Music", desk=rivals)
    assert town.refused(f"{FEED}/night-music") == (400, "ambiguous_slug")
    assert page(town, "night-music", organisation="rivals")["id"] == theirs["id"]
    assert page(town, "night-music", organisation="marquee")["id"] == event["id"]


def test_what_visitors_may_not_see_answers_like_what_does_not_exist(town: Town) -> None:
    draft = town.draft("Draft")
    cancelled = town.publish("Cancelled")
    assert page(town, cancelled["id"])["status"] == "published"
    town.walk(cancelled, "cancel")
    missing = town.ask(f"{FEED}/00000000-0000-7000-8000-000000000000").json["error"]
    for event in (draft, cancelled):
        for name in (event["id"], event["slug"]):
            answer = town.ask(f"{FEED}/{name}")
            said = answer.json["error"]
            assert (answer.status_code, said["code"], said["message"]) == (404, missing["code"], missing["message"])
    for name in ("nothing", "x" * 300, "%00", "é"):
        assert town.refused(f"{FEED}/{name}") == (404, "event_not_found"), name
    assert town.refused(f"{FEED}/draft", organisation="nobody") == (404, "event_not_found")


def test_a_postponed_event_says_so_and_names_its_new_date(town: Town) -> None:
    event = town.publish("Night Music")
    town.walk(event, "postpone", reason="the singer's knee")
    shown = page(town, event["id"])
    assert (shown["status"], shown["rescheduled_at"], "knee" in str(shown)) == ("postponed", None, False)
    town.walk(event, "reschedule", rescheduled_at=EVENING + 9 * DAY)
    assert page(town, event["id"])["rescheduled_at"] == "2026-07-13T16:00:00Z"


def test_participants_are_those_who_bought_here_unless_joining_happens_elsewhere(town: Town) -> None:
    event = town.publish("Night Music")
    assert page(town, event["id"])["participants"] == 0
    town.sell(event, 3)
    town.office.work()
    assert page(town, event["id"])["participants"] == 3
    with town.office.database.writing() as session:
        for n in range(7):
            joins.count(session, joins.Join(f"m{n}", event["id"], 1), town.office.now)
    assert page(town, event["id"])["participants"] == 3
    with town.office.database.writing() as session:
        change = "UPDATE events SET participants_elsewhere = :yes WHERE id = :id"
        session.execute(text(change), {"yes": True, "id": event["id"]})
    town.forget()
    assert (page(town, event["id"])["participants"], town.page()["items"][0]["participants"]) == (7, 7)
    with town.office.database.writing() as session:
        joins.count(session, joins.Join("m7", event["id"], 1), town.office.now)
    assert page(town, event["id"])["participants"] == 8


def test_cities_are_offered_by_how_they_begin_whatever_the_accents(town: Town) -> None:
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


def test_a_city_is_counted_anew_when_an_event_comes_or_goes(town: Town) -> None:
    event = town.publish("Night Music", city="Zug")
    assert cities(town, prefix="zug") == [("Zug", 1)]
    town.publish("Day Music", city="Zug")
    assert cities(town, prefix="zug") == [("Zug", 2)]
    town.walk(event, "cancel")
    assert cities(town, prefix="zug") == [("Zug", 1)]


def test_clients_may_keep_cities_for_minutes(town: Town) -> None:
    answer = town.ask(CITIES)
    assert (answer.headers["Cache-Control"], bool(answer.headers["ETag"])) == ("public, max-age=300", True)
