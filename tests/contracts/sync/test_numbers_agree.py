"""The numbers of the door agree wherever they stand: on the desk, in the API, on the wall and in the stream."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import orjson
import pytest

from tests.app_server import ApiClient, AppServer, Concert
from tests.contracts.sync.gates import Gate
from tests.contracts.sync.office_gates import a_gate, shown
from tests.stream_client import StreamClient

NUMBERS = ("inside", "inside_least", "inside_most")
SOLD = 12


@pytest.fixture
def desk(app_server: AppServer, concert: Concert) -> ApiClient:
    """The owner, signed in."""
    app_server.user("owner@marquee.example", app_server.event_key(concert.number).organisation_id, "owner")
    return app_server.browser("owner@marquee.example")


def on(page: str) -> dict[str, str]:
    """The numbers of a page by their names, each once however often it stands there."""
    return dict(re.findall(r'data-number="(\w+)">(\d+)<', page.split("data-gate", maxsplit=1)[0]))


def read(client: ApiClient, path: str) -> str:
    response = client.client.get(path)
    assert response.status_code == 200, path
    return response.get_data(as_text=True)


def an_evening(app_server: AppServer, concert: Concert) -> Gate:
    """Four of twelve guests are inside, one has left, one was refused; then the gate falls silent."""
    tickets = concert.issue(count=SOLD)["items"]
    _, gate = a_gate(app_server, concert)
    gate.anchor()
    for ticket in tickets[:5]:
        shown(gate, concert, ticket)
    shown(gate, concert, tickets[0], direction="exit", reason="exited")
    shown(gate, concert, tickets[1], admitted=False, reason="already_used")
    gate.anchor()
    gate.upload()
    gate.hello()
    app_server.advance(120_000)
    return gate


def test_desk_api_wall_and_stream_say_the_same(app_server: AppServer, concert: Concert, desk: ApiClient) -> None:
    an_evening(app_server, concert)
    api: dict[str, Any] = concert.api.get(f"{concert.path}/counters")
    assert {name: api[name] for name in ("sold", "inside", "entries", "exits", "refused", "silent")} == {
        "sold": SOLD,
        "inside": 4,
        "entries": 5,
        "exits": 1,
        "refused": 1,
        "silent": 1,
    }
    assert (api["inside_least"], api["inside_most"]) == (4, SOLD)  # an entry gate: somebody may have come, none left
    with StreamClient(app_server, concert.api, f"{concert.path}/live") as stream:
        frame = stream.until("counters").data
    everywhere = ("sold", "held", "inside", "inside_least", "inside_most", "entries", "exits", "refused", "conflicts")
    assert {name: frame[name] for name in everywhere} == {name: api[name] for name in everywhere}
    here = f"/admin/events/{concert.event['id']}"
    event, door = on(read(desk, here)), on(read(desk, f"{here}/door"))
    assert {name: int(event[name]) for name in everywhere} == {name: api[name] for name in everywhere}
    assert {name: int(door[name]) for name in NUMBERS} == {name: api[name] for name in NUMBERS}
    wall = read(desk, f"{here}/wall")
    assert int(on(wall)["inside"]) == api["inside"]
    assert f"between {api['inside_least']} and {api['inside_most']}" in wall


def test_half_hours_add_up_to_what_the_counters_say(app_server: AppServer, concert: Concert, desk: ApiClient) -> None:
    gate = an_evening(app_server, concert)
    shown(gate, concert, concert.ticket(), mode="test")  # which counts nowhere
    gate.anchor()
    gate.upload()
    api = concert.api.get(f"{concert.path}/counters")
    door = read(desk, f"/admin/events/{concert.event['id']}/door")
    rows = re.findall(r"<tr><td>\d\d:\d\d</td>" + r'<td class="n">(\d+)</td>' * 3, door)
    sums = [sum(int(row[column]) for row in rows) for column in range(3)]
    assert sums == [api["entries"], api["exits"], api["refused"]] == [5, 1, 1]
    drawn = re.search(r'data-chart="([^"]+)"', door)
    assert drawn
    lines = orjson.loads(unescape(drawn[1]))["lines"]
    assert [line["values"][-1] for line in lines] == [api["entries"], api["exits"]]


def test_a_gate_that_is_heard_again_closes_the_bounds(app_server: AppServer, concert: Concert) -> None:
    gate = an_evening(app_server, concert)
    gate.hello()
    api = concert.api.get(f"{concert.path}/counters")
    assert [api[name] for name in NUMBERS] == [4, 4, 4]
    assert [(gate["silent"], gate["unsent"]) for gate in api["gates"]] == [(0, 0)]


class TestWallLinks:
    """A screen has a link of its own, which shows figures and no names until it is ended."""

    @pytest.fixture
    def link(self, concert: Concert, desk: ApiClient) -> str:
        """The code of a wall's link, made on the desk."""
        form = {"name": "Control room", "csrf_token": desk.headers["X-CSRF-Token"]}
        made = desk.client.post(f"/admin/events/{concert.event['id']}/screens", data=form)
        assert made.status_code == 302
        found = re.search(r"/admin/wall#([\w-]+)", read(desk, made.location))
        assert found
        return found[1]

    def test_whoever_has_the_link_sees_figures_and_no_names(
        self, app_server: AppServer, concert: Concert, link: str
    ) -> None:
        concert.ticket(holder_name="Grace Hopper")
        screen = app_server.app.test_client()
        opened = screen.post("/admin/wall", data={"code": link})
        assert (opened.status_code, opened.location) == (302, "/admin/wall")
        page = screen.get("/admin/wall").get_data(as_text=True)
        assert concert.event["name"] in page
        assert "Grace" not in page and "owner@" not in page and "Sign out" not in page
        assert concert.event["name"] not in app_server.app.test_client().get("/admin/wall").text

    def test_the_code_stays_with_the_screen_and_out_of_every_address(self, app_server: AppServer, link: str) -> None:
        cookie = app_server.app.test_client().post("/admin/wall", data={"code": link}).headers["Set-Cookie"]
        assert all(part in cookie for part in ("HttpOnly", "SameSite=Strict", "Path=/admin/wall"))

    def test_an_ended_link_shows_nothing(
        self, app_server: AppServer, concert: Concert, desk: ApiClient, link: str
    ) -> None:
        screen = app_server.app.test_client()
        screen.post("/admin/wall", data={"code": link})
        screens = f"/admin/events/{concert.event['id']}/screens"
        end = re.search(rf"{screens}/[\w-]+/end", read(desk, screens))
        assert end
        csrf = {"csrf_token": desk.headers["X-CSRF-Token"]}
        assert desk.client.post(end[0], data=csrf).status_code == 302
        assert screen.get("/admin/wall").status_code == 410
        assert app_server.app.test_client().post("/admin/wall", data={"code": link}).status_code == 410
        lines = [line["action"] for line in concert.api.get("/api/audit")["items"]]
        assert {"wall_link.made", "wall_link.ended"} <= set(lines)

    def test_a_link_that_was_cut_off_or_changed_is_none(self, app_server: AppServer, link: str) -> None:
        changed = ("B" if link[0] == "A" else "A") + link[1:]
        screen = app_server.app.test_client()
        answers = {screen.post("/admin/wall", data={"code": bad}).status_code for bad in ("x", "", link[:-4], changed)}
        assert answers == {404}
