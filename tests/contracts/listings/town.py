"""Organisers who publish events in several cities, and a visitor who is not signed in."""

from __future__ import annotations

from typing import Any

from tests.app_server import ApiClient, AppServer
from tests.builders import DAY, EVENING, HOUR, a_ticket_request, a_ticket_type, a_venue, an_event

FEED = "/api/public/events"


class Town:
    """Creates events that are valid by default, and reads the listings."""

    def __init__(self, app_server: AppServer) -> None:
        self.app_server = app_server
        self.api = app_server.api(app_server.organisation("marquee"))
        self.visitor = ApiClient(app_server.app.test_client(), {})
        self._venues: dict[tuple[int, str, str], str] = {}

    def another_organiser(self, slug: str) -> ApiClient:
        return self.app_server.api(self.app_server.organisation(slug))

    def draft(
        self,
        name: str,
        *,
        city: str = "Berlin",
        venue: str = "Harbour Hall",
        days: float = 1,
        api: ApiClient | None = None,
        **changed: Any,
    ) -> dict[str, Any]:
        """An event that starts so many days after the first evening."""
        organiser = api or self.api
        key = (id(organiser), city, venue)
        if key not in self._venues:
            self._venues[key] = organiser.post("/api/venues", a_venue(name=venue, city=city))["id"]
        start = EVENING + int(days * DAY)
        fields = {"name": name, "start_at": start, "end_at": start + 4 * HOUR} | changed
        event: dict[str, Any] = organiser.post("/api/events", an_event(self._venues[key], **fields))
        return event

    def publish(self, name: str, **changed: Any) -> dict[str, Any]:
        """A published event."""
        event = self.draft(name, **changed)
        self.change_status(event, "publish", changed.get("api"))
        return event

    def change_status(self, event: dict[str, Any], step: str, api: ApiClient | None = None, **fields: Any) -> None:
        (api or self.api).post(f"/api/events/{event['id']}/{step}", fields, 200)

    def sell(self, event: dict[str, Any], count: int) -> None:
        """Issue tickets of that event."""
        path = f"/api/events/{event['id']}"
        self.api.post(f"{path}/ticket-types", a_ticket_type())
        self.api.post(f"{path}/tickets", a_ticket_request(count=count))

    def find(self, **query: Any) -> list[str]:
        """Names on one page of the feed; `starts_from` is `from`."""
        return [item["name"] for item in self.page(**query)["items"]]

    def page(self, **query: Any) -> Any:
        """One page of the feed."""
        response = self.ask(FEED, **query)
        assert response.status_code == 200, response.get_data(as_text=True)[:500]
        return response.json

    def ask(self, path: str, **query: Any) -> Any:
        """A request of the visitor."""
        if "starts_from" in query:
            query["from"] = query.pop("starts_from")
        return self.visitor.client.get(path, query_string=query)

    def refused(self, path: str, **query: Any) -> tuple[int, str]:
        """Status and error code of a refused request."""
        response = self.ask(path, **query)
        return response.status_code, response.json["error"]["code"]

    def clear_caches(self) -> None:
        """Cached entries expire by a clock of their own, not by the one that tests set."""
        for family in ("feed", "cities", "event"):
            self.app_server.parts.cache.invalidate_family("public", family)

    def advance(self, ms: int) -> None:
        self.app_server.advance(ms)
        self.clear_caches()

    def work(self) -> None:
        """Run the worker until sales are counted and events ranked again."""
        for _ in range(3):
            self.app_server.run_worker()
            self.advance(61_000)
