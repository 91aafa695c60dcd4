"""Houses that publish events in several cities, and a visitor who signed in nowhere."""

from __future__ import annotations

from typing import Any

from tests.builders import DAY, EVENING, HOUR, a_ticket_type, a_venue, a_wish, an_event
from tests.office import Desk, Office

FEED = "/api/public/events"


class Town:
    """Valid by default, one thing overridden."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.desk = office.desk(office.organisation("marquee"))
        self.visitor = Desk(office.app.test_client(), {})
        self._venues: dict[tuple[int, str, str], str] = {}

    def another_house(self, slug: str) -> Desk:
        return self.office.desk(self.office.organisation(slug))

    def draft(
        self,
        name: str,
        *,
        city: str = "Berlin",
        venue: str = "Harbour Hall",
        days: float = 1,
        desk: Desk | None = None,
        **changed: Any,
    ) -> dict[str, Any]:
        """An event that starts so many days after the evening."""
        whose = desk or self.desk
        place = (id(whose), city, venue)
        if place not in self._venues:
            self._venues[place] = whose.post("/api/venues", a_venue(name=venue, city=city))["id"]
        start = EVENING + int(days * DAY)
        words = {"name": name, "start_at": start, "end_at": start + 4 * HOUR} | changed
        made: dict[str, Any] = whose.post("/api/events", an_event(self._venues[place], **words))
        return made

    def publish(self, name: str, **changed: Any) -> dict[str, Any]:
        """The same, published."""
        event = self.draft(name, **changed)
        self.walk(event, "publish", changed.get("desk"))
        return event

    def walk(self, event: dict[str, Any], step: str, desk: Desk | None = None, **words: Any) -> None:
        (desk or self.desk).post(f"/api/events/{event['id']}/{step}", words, 200)

    def sell(self, event: dict[str, Any], count: int) -> None:
        """Tickets of that event, in one order each ten."""
        path = f"/api/events/{event['id']}"
        self.desk.post(f"{path}/ticket-types", a_ticket_type())
        self.desk.post(f"{path}/tickets", a_wish(count=count))

    def find(self, **asked: Any) -> list[str]:
        """Names on one page of the feed; `starts_from` is `from`."""
        return [item["name"] for item in self.page(**asked)["items"]]

    def page(self, **asked: Any) -> Any:
        """One page of the feed."""
        answer = self.ask(FEED, **asked)
        assert answer.status_code == 200, answer.get_data(as_text=True)[:500]
        return answer.json

    def ask(self, path: str, **asked: Any) -> Any:
        """Any question of the visitor."""
        if "starts_from" in asked:
            asked["from"] = asked.pop("starts_from")
        return self.visitor.client.get(path, query_string=asked)

    def refused(self, path: str, **asked: Any) -> tuple[int, str]:
        """Status and code word of a refusal."""
        answer = self.ask(path, **asked)
        return answer.status_code, answer.json["error"]["code"]

    def forget(self) -> None:
        """The clock was set by hand: what memory keeps by a clock of its own is dropped."""
        for family in ("feed", "cities", "event"):
            self.office.parts.cache.forget_family("public", family)

    def advance(self, ms: int) -> None:
        self.office.advance(ms)
        self.forget()

    def work(self) -> None:
        """The worker hears what was sold, and a minute later ranks events anew."""
        for _ in range(3):
            self.office.work()
            self.advance(61_000)
