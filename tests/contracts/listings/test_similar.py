"""What to go to instead of an event that is sold out."""

from __future__ import annotations

from typing import Any

from tests.builders import a_ticket_type
from tests.contracts.listings.town import FEED, Town


def sells(town: Town, event: dict[str, Any]) -> None:
    """It has tickets."""
    town.api.post(f"/api/events/{event['id']}/ticket-types", a_ticket_type())


def test_similar_events_are_on_sale_in_the_same_city_and_category_the_nearest_first(town: Town) -> None:
    wanted = town.publish("Choir", days=10, category="Jazz", city="Berlin")
    sells(town, wanted)
    sells(town, town.publish("Later", days=14, category="jazz", city="BERLIN", venue="Other Hall"))
    sells(town, town.publish("Sooner", days=9, category="Jazz", city="Berlin"))
    sells(town, town.publish("Elsewhere", days=10, category="Jazz", city="Hamburg"))
    sells(town, town.publish("Something else", days=10, category="Opera", city="Berlin"))
    sells(town, town.publish("Next year", days=60, category="Jazz", city="Berlin"))
    gone = town.publish("Gone", days=10.5, category="Jazz", city="Berlin", capacity=100)
    town.sell(gone, 100)
    town.draft("Secret", days=10, category="Jazz", city="Berlin")
    town.app_server.run_worker()
    found = town.visitor.get(f"{FEED}/{wanted['id']}/similar")["items"]
    assert [each["name"] for each in found] == ["Sooner", "Later"]
    assert [each["name"] for each in town.visitor.get(f"{FEED}/{gone['id']}/similar")["items"]][:1] == ["Choir"]
    assert town.visitor.refused("GET", f"{FEED}/019f0000-0000-7000-8000-000000000000/similar") == (
        404,
        "event_not_found",
    )
