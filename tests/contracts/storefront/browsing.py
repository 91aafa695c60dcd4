"""A browser without JavaScript at a shop: it follows links, keeps cookies, and fills in the forms that it finds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from html.parser import HTMLParser
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.app_server import AppServer


class _Forms(HTMLParser):
    """The forms of a page: where each goes, and what it sends unless somebody changes it."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[tuple[str, dict[str, str]]] = []
        self._select: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append((found.get("action", ""), {}))
        elif tag == "select":
            self._select = found["name"]
        elif tag == "option" and self._select and (self._select not in self.forms[-1][1] or "selected" in found):
            self.forms[-1][1][self._select] = found["value"]
        elif tag == "input" and "name" in found and self.forms and _is_sent(found):
            self.forms[-1][1][found["name"]] = found.get("value", "")


def _is_sent(found: dict[str, str]) -> bool:
    return found.get("type") not in {"radio", "checkbox"} or "checked" in found


@dataclass
class Browser:
    """One browser; `page` is the last answer, after all redirects."""

    client: FlaskClient
    page: TestResponse | None = None

    @classmethod
    def at(cls, app_server: AppServer, address: str = "198.51.100.7") -> Browser:
        """A new browser."""
        client = app_server.app.test_client()
        client.environ_base["REMOTE_ADDR"] = address
        return cls(client)

    def get(self, path: str, status: int = 200, **headers: str) -> str:
        """Open a page."""
        return self._shown(self.client.get(path, headers=headers, follow_redirects=True), status)

    def send(self, ending: str, status: int = 200, **values: Any) -> str:
        """Fill in and send the form whose address ends so."""
        action, sent = next(form for form in self.forms if form[0].endswith(ending))
        data: dict[str, Any] = dict(sent)
        data |= {name: value if isinstance(value, list) else str(value) for name, value in values.items()}
        headers = {"Sec-Fetch-Site": "same-origin"}
        return self._shown(self.client.post(action, data=data, headers=headers, follow_redirects=True), status)

    @property
    def forms(self) -> list[tuple[str, dict[str, str]]]:
        """The forms of the page."""
        parser = _Forms()
        parser.feed(self.text)
        return parser.forms

    @property
    def text(self) -> str:
        """The page."""
        assert self.page is not None
        return self.page.text

    @property
    def path(self) -> str:
        """Where the browser is."""
        assert self.page is not None
        return self.page.request.path

    @property
    def words(self) -> str:
        """What is read on the page."""
        body = re.sub(r"<(script|style|head)\b.*?</\1>", " ", self.text, flags=re.DOTALL)
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())

    def _shown(self, answer: TestResponse, status: int) -> str:
        self.page = answer
        assert answer.status_code == status, f"{answer.status_code} at {self.path}: {self.words[:600]}"
        return self.words
