"""A browser at the desk, without a browser: it opens pages, sends forms, and reads what they say."""

from __future__ import annotations

import re
from html import unescape
from typing import Any, NamedTuple

from werkzeug.test import TestResponse

from tests.app_server import ApiClient, AppServer, Concert, a_concert
from tests.builders import a_gate

EMAIL = "owner@marquee.example"


class Desk(NamedTuple):
    """Somebody signed in as the owner of an organisation with one concert that is on sale."""

    server: AppServer
    concert: Concert
    owner: ApiClient
    organisation_id: str

    @property
    def event(self) -> str:
        """The address of the concert's page."""
        return f"/admin/events/{self.concert.event['id']}"

    def open(self, path: str) -> str:
        """The words of a page."""
        return words_of(self.owner.client.get(path))

    def send(self, path: str, **fields: Any) -> TestResponse:
        """Send a form."""
        sent: TestResponse = self.owner.client.post(
            path, data={"csrf_token": self.owner.headers["X-CSRF-Token"], **fields}
        )
        return sent


def a_desk(app_server: AppServer) -> Desk:
    """The owner, who has opened nothing yet."""
    organisation_id = app_server.organisation("marquee")
    api = app_server.api(organisation_id)
    concert = a_concert(api)
    api.post(f"/api/venues/{concert.venue['id']}/gates", a_gate())
    api.post(f"{concert.path}/publish", {}, 200)
    app_server.user(EMAIL, organisation_id, "owner")
    return Desk(app_server, concert, app_server.browser(EMAIL), organisation_id)


def words_of(response: TestResponse) -> str:
    """What a page says, in one line."""
    page = re.sub(r"(?s)<(style|script).*?</\1>|<[^>]*>", " ", response.get_data(as_text=True))
    return " ".join(unescape(page).split())


def mistakes_of(response: TestResponse) -> dict[str, str]:
    """What is said beside the fields of a page, by their names."""
    page = response.get_data(as_text=True)
    wrong = re.findall(
        r'<(?:input|textarea)[^>]*name="([^"]+)"[^>]*aria-describedby="([^"]+)"[^>]*aria-invalid="true"', page
    )
    said = dict(re.findall(r'<span class="error" id="([^"]+)">([^<]*)</span>', page))
    return {name: unescape(said.get(id, "")) for name, id in wrong}
