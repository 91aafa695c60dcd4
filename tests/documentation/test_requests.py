"""The requests that pages show are sent by bash and curl as they stand, and none of them is refused."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from PIL import Image

from tests.app_server import AppServer, Concert, a_concert
from tests.builders import a_ticket_type, a_venue
from tests.documentation.blocks import blocks
from tests.served_app import served

PAGES: Final = (
    "api.md",
    "discover.md",
    "first-evening.md",
    "first-sale.md",
    "holds.md",
    "organise.md",
    "staff.md",
    "webhooks.md",
)
HEADERS: Final = 'A="Authorization: Bearer $TOKEN"; S=http://localhost:8000/api; J="Content-Type: application/json"\n'
PLACEHOLDERS: Final = {
    "http://localhost:8000": "$SERVER",
    "http://127.0.0.1:8000": "$SERVER",
    "ght_…": "$TOKEN",
    "$S/o/demo": "$S/o/harbour-hall",
    "events/EVENT": "events/$EVENT",
    "tickets/TICKET": "tickets/$TICKET",
}
"""What readers replace by what they have."""


@pytest.fixture
def app_server(sqlite_url: str, tmp_path: Path) -> Iterator[AppServer]:
    """What is documented is the same on every database."""
    made = AppServer(sqlite_url, tmp_path)
    yield made
    made.close()


def script_of(page: str) -> str:
    """All requests of a page, one after another, as its reader would send them."""
    found = [block.text for block in blocks() if block.page == page and block.kind == "sh"]
    text = HEADERS + "".join(each for each in found if "curl" in each or each.startswith("A="))
    for placeholder, value in PLACEHOLDERS.items():
        text = text.replace(placeholder, value)
    return f"set -euo pipefail\n{text}"


def what_readers_have(app_server: AppServer, folder: Path, *, with_ticket: bool) -> dict[str, str]:
    """Everything that the variables of the pages name."""
    organisation = app_server.organisation("harbour-hall")
    api = app_server.api(organisation)
    concert = a_concert(api, kind=a_ticket_type(name="Early"), slug="prepared", name="Prepared")
    hook = api.post("/api/webhooks", {"url": "https://shop.example.org/", "facts": ["*"]})
    _listed(Concert(api, concert.venue, api.post("/api/events", _night_music(concert))))
    app_server.run_worker()
    for name in ("hall.jpg", "hall.png"):
        Image.new("RGB", (1600, 900), "darkred").save(folder / name)
    return {
        "TOKEN": api.headers["Authorization"].removeprefix("Bearer "),
        "VENUE": concert.venue["id"],
        "ARENA": api.post("/api/venues", a_venue(name="Arena"))["id"],
        "EVENT": concert.event["id"],
        "TICKET": concert.ticket()["id"] if with_ticket else "",
        "WEBHOOK": hook["id"],
    }


def _night_music(concert: Concert) -> dict[str, object]:
    times = {"start_at": "2027-05-04T18:00:00Z", "end_at": "2027-05-05T00:00:00Z"}
    return {"venue_id": concert.venue["id"], "name": "Night Music", "description": "Choirs by night."} | times


def _listed(concert: Concert) -> None:
    concert.api.post(f"{concert.path}/publish", {}, 200)


@pytest.mark.parametrize("page", PAGES)
def test_requests_of_a_page_are_answered(app_server: AppServer, tmp_path: Path, page: str) -> None:
    curl = tmp_path / "bin" / "curl"
    curl.parent.mkdir()
    curl.write_text(f'#!/bin/sh\nexec {shutil.which("curl")} --fail-with-body "$@"\n')
    curl.chmod(0o755)
    known = what_readers_have(app_server, tmp_path, with_ticket="$TICKET" in script_of(page))
    with served(app_server) as address:
        environment = known | {"SERVER": address, "PATH": f"{curl.parent}:{os.environ['PATH']}", "LANG": "C.UTF-8"}
        command = ["bash", "-xc", script_of(page)]
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )
    assert done.returncode == 0, f"{done.stdout[-800:]}\n{done.stderr[-1500:]}"


def test_every_page_with_requests_is_tried() -> None:
    shown = {block.page for block in blocks() if block.kind == "sh" and "curl " in block.text}
    assert shown == set(PAGES)
