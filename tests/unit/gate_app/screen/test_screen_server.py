"""The gate's local web server: who may ask, what it sends, and how it ends."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from gate_app.screen.feed import Feed
from gate_app.screen.hosts import host_allowed
from gate_app.screen.pages import create_screen
from gate_app.screen.server import MOST_SCREENS, ScreenServer
from shared.errors import SettingsError
from tests.browser.gate_scenes import a_scan, a_status, already_used


@pytest.fixture
def feed() -> Feed:
    return Feed(time.monotonic_ns)


@pytest.fixture
def server(feed: Feed) -> Iterator[ScreenServer]:
    opened = ScreenServer(feed, port=0, names=["gate-a.venue.example"]).open()
    yield opened
    opened.close()


def ask(server: ScreenServer, path: str, host: str | None = None) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request("GET", path, headers={"Host": host} if host else {})
    return connection.getresponse()


def next_view(stream: http.client.HTTPResponse) -> dict[str, object]:
    """The state in the next message of a stream."""
    while True:
        line = stream.readline()
        assert line, "the stream ended"
        if line.startswith(b"data: "):
            view: dict[str, object] = json.loads(line[6:])
            return view


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("127.0.0.1:8100", True),
        ("192.168.4.20:8100", True),
        ("[::1]:8100", True),
        ("localhost", True),
        ("LOCALHOST.:8100", True),
        ("gate-a.venue.example:8100", True),
        ("evil.example", False),
        ("gate-a.venue.example.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("", False),
        ("[::1", True),
        ("0x7f.1", False),
    ],
)
def test_a_page_of_somebody_else_cannot_reach_the_gate_under_its_own_name(host: str, allowed: bool) -> None:
    assert host_allowed(host, ["gate-a.venue.example"]) is allowed


def test_a_foreign_name_is_refused_with_a_message(server: ScreenServer) -> None:
    answer = ask(server, "/view", host="evil.example")
    assert answer.status == 403
    assert b"does not accept that host name" in answer.read()


def test_the_page_needs_nothing_from_outside_and_runs_nothing_inline(server: ScreenServer) -> None:
    answer = ask(server, "/")
    page = answer.read().decode()
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page
    assert " style=" not in page
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("path", ["/", "/view", "/static/gate.js", "/nowhere"])
def test_every_answer_is_protected(server: ScreenServer, path: str) -> None:
    headers = ask(server, path).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize(
    ("path", "headers", "language"),
    [
        ("/", {}, "en"),
        ("/", {"Accept-Language": "fr-CA, en;q=0.5"}, "fr"),
        ("/?lang=af", {"Accept-Language": "fr"}, "af"),
        ("/?lang=xx", {}, "en"),
    ],
)
def test_a_page_speaks_as_asked_as_chosen_before_or_as_the_browser_prefers(
    path: str, headers: dict[str, str], language: str
) -> None:
    asked = create_screen(Feed(time.monotonic_ns), threading.Event()).test_client().get(path, headers=headers)
    assert f'<html lang="{language}">' in asked.text
    assert ("Set-Cookie" in asked.headers) == (path == "/?lang=af")


def test_what_was_chosen_on_this_screen_comes_before_what_the_browser_prefers() -> None:
    client = create_screen(Feed(time.monotonic_ns), threading.Event()).test_client()
    client.get("/?lang=de")
    assert '<html lang="de">' in client.get("/", headers={"Accept-Language": "fr"}).text


def test_a_gate_set_to_a_language_speaks_it_whatever_the_browser_prefers() -> None:
    client = create_screen(Feed(time.monotonic_ns), threading.Event(), language="af").test_client()
    assert 'lang="af"' in client.get("/", headers={"Accept-Language": "en"}).text
    assert "Nog geen" in client.get("/").text


def test_the_screen_is_read_only() -> None:
    app = create_screen(Feed(time.monotonic_ns), threading.Event())
    methods = {method for rule in app.url_map.iter_rules() for method in rule.methods or ()}
    assert methods == {"GET", "HEAD", "OPTIONS"}


def test_a_verdict_reaches_an_open_screen(server: ScreenServer, feed: Feed) -> None:
    stream = ask(server, "/stream")
    assert stream.headers["Content-Type"].startswith("text/event-stream")
    assert next_view(stream)["verdict"] is None
    feed.status(a_status())
    feed.show(already_used())
    tones: list[object] = []
    while not tones:
        verdict = next_view(stream)["verdict"]
        if isinstance(verdict, dict):
            tones.append(verdict["tone"])
    assert tones == ["deny"]


def test_one_screen_too_many_is_reported_so_and_a_place_is_free_again_afterwards(
    server: ScreenServer, feed: Feed
) -> None:
    streams = [ask(server, "/stream") for _ in range(MOST_SCREENS)]
    for stream in streams:
        next_view(stream)
    refused = ask(server, "/stream")
    assert refused.status == 503
    assert refused.headers["Retry-After"]
    for stream in streams:
        stream.close()
    assert status_once_freed(server, feed) == 200


def status_once_freed(server: ScreenServer, feed: Feed) -> int:
    """Screens that have gone are noticed at the next messages."""
    status = 503
    for _ in range(200):
        feed.show(a_scan())
        status = ask(server, "/stream").status
        if status == 200:
            break
        threading.Event().wait(0.05)
    return status


def test_full_of_screens_the_page_itself_is_still_served(server: ScreenServer) -> None:
    streams = [ask(server, "/stream") for _ in range(MOST_SCREENS)]
    for stream in streams:
        next_view(stream)
    assert ask(server, "/").status == 200


def test_closing_ends_open_streams_and_frees_the_port(feed: Feed) -> None:
    server = ScreenServer(feed, port=0).open()
    port = server.port
    stream = ask(server, "/stream")
    next_view(stream)
    server.close()
    server.close()
    assert stream.read() is not None
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", port))
    assert "screen" not in {thread.name for thread in threading.enumerate()}


def test_a_port_that_is_taken_is_reported_clearly(feed: Feed) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(SettingsError, match=f"Port {port} on 127.0.0.1 is in use"):
            ScreenServer(feed, port=port).open()


def test_a_host_that_this_machine_does_not_have_is_reported_clearly(feed: Feed) -> None:
    with pytest.raises(SettingsError, match=r"cannot open on gate\.invalid:0"):
        ScreenServer(feed, host="gate.invalid", port=0).open()


def test_a_name_with_several_addresses_is_served_and_closed_like_one(feed: Feed) -> None:
    server = ScreenServer(feed, host="localhost", port=0).open()
    assert ask(server, "/view").status == 200
    server.close()
    assert "screen" not in {thread.name for thread in threading.enumerate()}


def test_the_address_can_be_typed_into_a_browser(server: ScreenServer) -> None:
    assert server.address == f"http://127.0.0.1:{server.port}/"
