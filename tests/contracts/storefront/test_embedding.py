"""Shops inside pages of other websites: only of listed ones, and only what is the same for everybody."""

from __future__ import annotations

import re
from html import unescape

import pytest

from tests.app_server import ApiClient
from tests.contracts.storefront.conftest import Evening

BAND = "https://band.example"
DESIGN = "/api/organisation/ticket-design"


def policy(evening: Evening, path: str, **query: str) -> str:
    """Who may show a page in a frame."""
    answer = evening.app_server.app.test_client().get(path, query_string=query)
    found = [part for part in answer.headers["Content-Security-Policy"].split("; ") if "frame-ancestors" in part]
    return found[0].removeprefix("frame-ancestors ")


def test_only_listed_websites_may_show_the_public_pages(evening: Evening, api: ApiClient) -> None:
    assert api.patch(DESIGN, {"embed_origins": [BAND]})["embed_origins"] == [BAND]
    for path in ("/o/marquee", evening.path):
        assert policy(evening, path, embedded_by=BAND) == BAND
        assert policy(evening, path) == "'none'"
        for other in ("https://band.example.evil.example", "http://band.example", "*", "https://band.example x"):
            assert policy(evening, path, embedded_by=other) == "'none'", other
    for path in ("/o/marquee/account", "/o/marquee/sign-in", f"{evening.path}/seats", f"{evening.path}/checkout"):
        assert policy(evening, path, embedded_by=BAND) == "'none'", path


def test_no_website_may_before_the_organiser_lists_one(evening: Evening) -> None:
    assert policy(evening, evening.path, embedded_by=BAND) == "'none'"


def test_inside_a_frame_only_public_links_stay_in_it(evening: Evening, api: ApiClient) -> None:
    api.patch(DESIGN, {"embed_origins": [BAND]})
    evening.app_server.run_worker()
    client = evening.app_server.app.test_client()
    feed = client.get("/o/marquee", query_string={"embedded_by": BAND}).text
    assert '<base target="_blank">' in feed
    address = f"{evening.path}?embedded_by=https%3A%2F%2Fband.example&amp;all_events=1"
    assert f'<a target="_self" class="sheet event-card" href="{address}"' in feed
    assert 'name="embedded_by" value="https://band.example"' in feed
    assert "shop-head" not in feed
    page = client.get(evening.path).text
    assert "_self" not in page
    assert "embedded" not in page


def test_an_event_alone_leads_to_all_events_only_where_the_website_shows_them(evening: Evening, api: ApiClient) -> None:
    api.patch(DESIGN, {"embed_origins": [BAND]})
    evening.app_server.run_worker()
    client = evening.app_server.app.test_client()
    alone = client.get(evening.path, query_string={"embedded_by": BAND}).text
    assert 'class="shop embedded"' in alone and "See all events" not in alone
    feed = client.get("/o/marquee", query_string={"embedded_by": BAND}).text
    (card,) = re.findall(rf'href="({evening.path}[^"]*)"', feed)
    assert "See all events" in client.get(unescape(card)).text
    assert "See all events" not in client.get(evening.path, query_string={"all_events": "1"}).text, "outside of frames"


@pytest.mark.parametrize(
    "wrong",
    ["*", "band.example", "https://band.example/", "https://band.example/tickets", "http://band.example", "null"],
)
def test_what_is_no_website_is_refused(evening: Evening, api: ApiClient, wrong: str) -> None:
    assert api.patch(DESIGN, {"embed_origins": [wrong]}, 400)["error"]["code"] == "invalid_request"


def test_the_script_knows_its_shop_by_its_address(evening: Evening) -> None:
    client = evening.app_server.app.test_client()
    answer = client.get("/o/marquee/embed.js")
    assert answer.headers["Content-Type"].startswith("text/javascript")
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert client.get("/o/marquee/embed.js", headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
    assert client.get("/o/nobody/embed.js").status_code == 404
