"""The cameras' pictures on the screen: who may see them, and what a silent camera costs."""

import http.client
import threading
import time
from collections.abc import Iterator

import pytest

from gate_app.screen.feed import Feed
from gate_app.screen.live_pictures import LivePictures
from gate_app.screen.pages import create_screen
from gate_app.screen.server import ScreenServer
from hardware.ports import Picture


class Camera:
    """A camera with a few pictures; afterwards it is silent."""

    def __init__(self, *pictures: bytes) -> None:
        self.pictures = pictures
        self.waited: list[float] = []

    def picture(self, after: int, timeout_s: float) -> Picture | None:
        if after + 1 < len(self.pictures):
            return Picture(after + 1, self.pictures[after + 1])
        self.waited.append(timeout_s)
        return None


@pytest.fixture
def server() -> Iterator[ScreenServer]:
    pictures = LivePictures({"left lane": Camera(b"\xff\xd8 one", b"\xff\xd8 two")})
    opened = ScreenServer(Feed(time.monotonic_ns), port=0, pictures=pictures).open()
    yield opened
    opened.close()


def ask(server: ScreenServer, path: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request("GET", path)
    return connection.getresponse()


def test_a_screen_asks_for_one_picture_after_the_other(server: ScreenServer) -> None:
    assert ask(server, "/cameras").read() == b'{"cameras":["left lane"]}\n'
    first = ask(server, "/picture?camera=left%20lane")
    assert (first.status, first.read(), first.headers["Content-Type"]) == (200, b"\xff\xd8 one", "image/jpeg")
    second = ask(server, f"/picture?camera=left%20lane&after={first.headers['Picture-Number']}")
    assert second.read() == b"\xff\xd8 two"
    assert ask(server, f"/picture?camera=left%20lane&after={second.headers['Picture-Number']}").status == 204


@pytest.mark.parametrize("path", ["/picture", "/picture?camera=cellar", "/picture?camera="])
def test_a_camera_that_is_not_there_is_not_found(server: ScreenServer, path: str) -> None:
    assert ask(server, path).status == 404


def test_a_number_that_is_none_is_the_newest_picture(server: ScreenServer) -> None:
    assert ask(server, "/picture?camera=left%20lane&after=x").status == 200


@pytest.mark.parametrize(
    ("viewers", "address", "seen"),
    [
        ("here", "127.0.0.1", True),
        ("here", "::1", True),
        ("here", "192.168.4.20", False),
        ("here", "", False),
        ("network", "192.168.4.20", True),
        ("never", "127.0.0.1", False),
    ],
)
def test_guests_are_seen_only_where_the_settings_say(viewers: str, address: str, seen: bool) -> None:
    pictures = LivePictures({"lane": Camera(b"jpeg")}, viewers)  # type: ignore[arg-type]  # one of the three
    client = create_screen(Feed(lambda: 0), threading.Event(), pictures=pictures).test_client()
    asked = client.get("/picture?camera=lane", environ_base={"REMOTE_ADDR": address})
    listed = client.get("/cameras", environ_base={"REMOTE_ADDR": address})
    assert (asked.status_code == 200, listed.json) == (seen, {"cameras": ["lane"] if seen else []})
