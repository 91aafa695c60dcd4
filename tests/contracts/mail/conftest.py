"""A server that sends its mails to a mail server of the tests, and an owner who invites people."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app_server import ApiClient, AppServer
from tests.services.mail_server import MailBox

MakeServer = Callable[..., AppServer]


@pytest.fixture
def make_server(database_url: str, tmp_path: Path, mail_box: MailBox) -> Iterator[MakeServer]:
    """Makes servers that send to `mail_box`, on one database."""
    made: list[AppServer] = []

    def make(**settings: Any) -> AppServer:
        known = {"mail_url": mail_box.url, "base_url": "https://gate.example"}
        made.append(AppServer(database_url, tmp_path, fresh=not made, **(known | settings)))
        return made[-1]

    yield make
    for server in made:
        server.close()


@pytest.fixture
def app_server(make_server: MakeServer) -> AppServer:
    return make_server()


@pytest.fixture
def olga(app_server: AppServer) -> ApiClient:
    app_server.user("olga@marquee.example", app_server.organisation("marquee"), "owner")
    return app_server.browser("olga@marquee.example")
