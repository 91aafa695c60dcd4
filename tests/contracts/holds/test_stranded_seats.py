"""The platform's super admin releases single seats that the rules keep from everybody."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sync_server import __file__ as product
from tests.app_server import ApiClient, AppServer
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event
from tests.contracts.holds.test_group_holds import ask
from tests.contracts.seating.stage import with_wheelchairs

ROOT = Path(product).parents[1]


def with_a_table() -> dict[str, Any]:
    """A-1 is a wheelchair place and A-2 its companion seat; B-1 to B-3 are a table that is sold whole."""
    table = {"group_type": "vip_table", "seat_ids": ["B-1", "B-2", "B-3"], "sold_whole": True}
    return with_wheelchairs() | {"groups": [table]}


@pytest.fixture
def stranded(app_server: AppServer) -> SeatedEvent:
    """Five single seats are left; nobody may buy A-2 (companion), A-5 (blocked), B-1 or B-3 (a table sold in part)."""
    sale = a_seated_event(app_server, layout=with_a_table())
    sale.api.post(f"{sale.path}/seatmap/blocked", {"block": [sale.number("A-5")]}, 200)
    free = set(SEATS)
    sale.sell(*(name for name in sale.seats if name not in free))
    sale.api.patch("/api/organisation/seating-policy", {"companion_release_occupancy_threshold": 100})
    return sale


def super_admin(sale: SeatedEvent) -> ApiClient:
    sale.app_server.user("root@platform.example", platform="super_admin")
    root = sale.app_server.browser("root@platform.example")
    assert root.ask("POST", "/api/session/organisation", {"organisation_id": sale.organisation_id}).status_code == 204
    return root


PATH = "layout/stranded-seats"
SEATS = {"A-2": "companion", "A-5": "blocked", "A-7": None, "B-1": "sold_whole", "B-3": "sold_whole"}


def test_a_super_admin_puts_stranded_seats_on_sale_to_anybody(stranded: SeatedEvent) -> None:
    path, guest = f"{stranded.path}/{PATH}", stranded.guest()
    listed = stranded.api.get(path)["items"]
    assert {each["seat_id"]: each["held_back"] for each in listed} == SEATS
    assert listed[0]["words"] == "Stalls, row A, seat 2"
    for name in ("A-2", "A-5", "B-1"):
        assert stranded.refused(guest, name)[0] == 409
    root = super_admin(stranded)
    assert root.refused("POST", f"{path}/release", {}) == (400, "invalid_request")
    body = {"reason": "an evening nearly sold out"}
    root.post(f"{path}/release", {**body, "seat_ids": ["A-2"]}, 200)
    assert root.refused("POST", f"{path}/release", {**body, "seat_ids": ["A-1"]}) == (409, "not_stranded")
    assert root.post(f"{path}/release", body, 200)["items"]
    for name in SEATS:
        stranded.reserve(stranded.guest(), name)
    lines = stranded.rows("SELECT reason, after FROM audit_lines WHERE action = 'stranded_seats_released' ORDER BY id")
    assert [reason for reason, _ in lines] == ["an evening nearly sold out"] * 2
    assert "Stalls, row A, seat 2" in str(lines) and "Stalls, row B, seat 1" in str(lines)


def test_nobody_else_releases_them(stranded: SeatedEvent) -> None:
    stranded.app_server.user("owner@marquee.example", stranded.organisation_id, "owner")
    owner = stranded.app_server.browser("owner@marquee.example")
    token = stranded.app_server.api(stranded.organisation_id, ["edit_events", "change_status"])
    for who in (owner, token):
        assert who.refused("POST", f"{stranded.path}/{PATH}/release", {"reason": "we want to"}) == (403, "forbidden")
    assert stranded.refused(stranded.guest(), "A-2") == (409, "companion_seat_kept")


def test_a_released_seat_may_be_left_single(app_server: AppServer) -> None:
    sale = a_seated_event(app_server)
    sale.sell("A-2", *(name for name in sale.seats if name >= "A-4"))
    root = super_admin(sale)
    root.post(f"{sale.path}/{PATH}/release", {"seat_ids": ["A-1"], "reason": "nobody wants it"}, 200)
    assert sale.api.get(f"{sale.path}/{PATH}")["items"] != []
    ask(sale, sale.guest(), best=1)


def test_the_operator_releases_them_at_the_command_line(stranded: SeatedEvent) -> None:
    app_server = stranded.app_server
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GATEHOUSE_")}
    environment["GATEHOUSE_DATABASE_URL"] = app_server.url
    environment["GATEHOUSE_MASTER_KEY_FILE"] = str(app_server.folder / "master.key")

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "sync_server", "seats", *arguments, "--org", stranded.slug],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    listed = [json.loads(line) for line in command("stranded", stranded.id).stdout.splitlines()]
    assert {each["seat_id"]: each["held_back"] for each in listed} == SEATS
    assert command("release", stranded.id).returncode == 2, "a reason is required"
    done = command("release", stranded.id, "A-2", "--reason", "the tour's own guests")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"released": ["A-2"]}), done.stderr
    app_server.advance(1)
    stranded.reserve(stranded.guest(), "A-2")
    assert stranded.rows("SELECT actor_kind, reason FROM audit_lines WHERE action = 'stranded_seats_released'") == [
        ("operator", "the tour's own guests")
    ]
