"""What an organiser has on: found, filtered, in the visitor's language, the same for everybody."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import pytest
from flask.testing import FlaskClient
from PIL import Image

from tests.app_server import ApiClient, AppServer
from tests.builders import DAY, EVENING, HOUR, a_ticket_type, a_venue, an_event


@pytest.fixture
def visitor(app_server: AppServer, api: ApiClient) -> FlaskClient:
    """Somebody unknown, at a shop with two events in two cities."""
    for name, city, days in (("Night Music", "Berlin", 3), ("Brass <Band>", "Hamburg", 9)):
        venue = api.post("/api/venues", a_venue(name=f"Hall of {city}", city=city))
        times = {"start_at": EVENING + days * DAY, "end_at": EVENING + days * DAY + HOUR}
        event = api.post("/api/events", an_event(venue["id"], name=name, **times))
        api.post(f"/api/events/{event['id']}/ticket-types", a_ticket_type())
        api.post(f"/api/events/{event['id']}/publish", {}, 200)
    app_server.run_worker()
    return app_server.app.test_client()


def names(html: str) -> list[str]:
    return re.findall(r"<h2 class=\"event-card-name\"[^>]*>(.*?)</h2>", html)


def test_events_are_found_by_word_city_and_date(visitor: FlaskClient) -> None:
    shown = {
        query: names(visitor.get(f"/o/marquee{query}").text)
        for query in (
            "",
            "?q=brass",
            "?city=Berlin",
            "?from=2026-07-10",
            "?to=2026-07-07",
            "?q=opera",
            "?sort=trending",
        )
    }
    both, first, second = ["Night Music", "Brass &lt;Band&gt;"], ["Night Music"], ["Brass &lt;Band&gt;"]
    assert shown == {
        "": both,
        "?q=brass": second,
        "?city=Berlin": first,
        "?from=2026-07-10": second,
        "?to=2026-07-07": first,
        "?q=opera": [],
        "?sort=trending": both,
    }
    assert "Nothing matches" in visitor.get("/o/marquee?q=opera").text
    assert visitor.get("/o/marquee?from=yesterday&after=made-up&q=%00").status_code == 200


def test_the_language_is_asked_for_or_preferred_and_travels_in_the_address(visitor: FlaskClient) -> None:
    german = visitor.get("/o/marquee", headers={"Accept-Language": "de-AT,de;q=0.9"})
    assert (
        '<html lang="de">' in german.text and "Fr., 7. Juli" not in german.text and "Di., 7. Juli 2026" in german.text
    )
    assert german.headers["Vary"] == "Accept-Language" and "Set-Cookie" not in german.headers
    french = visitor.get("/o/marquee?lang=fr", headers={"Accept-Language": "de"})
    assert '<html lang="fr">' in french.text and re.findall(r'href="/o/marquee/events/[^"]*\?lang=fr"', french.text)
    visitor.set_cookie("gatehouse_language", "af")
    assert '<html lang="en">' in visitor.get("/o/marquee").text, "no cookie counts where a crowd comes"


def test_made_covers_are_pictures_for_ever_and_tell_strangers_nothing(visitor: FlaskClient) -> None:
    path = re.findall(r'src="(/o/marquee/events/[^"]+[.]svg)"', visitor.get("/o/marquee").text)[0]
    cover = visitor.get(path)
    assert cover.content_type == "image/svg+xml" and "immutable" in cover.headers["Cache-Control"]
    assert "Night Music" in cover.text and cover.headers["Content-Security-Policy"] == "default-src 'none'"
    guessed = re.sub(r"-[0-9a-f]{16}[.]svg", "-0000000000000000.svg", path)
    assert (visitor.get(guessed).status_code, "Night Music" in visitor.get(guessed).text) == (404, False)


def test_a_shared_link_has_a_picture_of_its_event(visitor: FlaskClient) -> None:
    event = re.findall(r'href="(/o/marquee/events/[^"?]+)"', visitor.get("/o/marquee").text)[0]
    html = visitor.get(event).text
    (address,) = re.findall(r'property="og:image" content="https://shop.example([^"]+[.]png)"', html)
    shared = visitor.get(address)
    assert shared.content_type == "image/png" and "immutable" in shared.headers["Cache-Control"]
    with Image.open(io.BytesIO(shared.data)) as picture:
        assert picture.size == (1200, 630)
        assert len(picture.getcolors(100_000) or ()) > 4, "ground, two shapes, and words on them"
    assert visitor.get(re.sub("-[0-9a-f]{16}[.]png", "-0000000000000000.png", address)).status_code == 404
    (about,) = re.findall(r'<script type="application/ld[+]json">(.*?)</script>', html)
    assert json.loads(about)["image"] == [f"https://shop.example{address}"]


def test_accents_are_the_same_for_everybody(visitor: FlaskClient) -> None:
    path = re.findall(r'href="(/accents/[^"]+)"', visitor.get("/o/marquee").text)[0]
    assert visitor.get(path).headers["Cache-Control"].endswith("immutable")
    assert [visitor.get(f"/accents/{name}.css").status_code for name in ("zzz", "12345", "ABCDEF")] == [404] * 3


def test_what_is_not_there_is_a_page(visitor: FlaskClient) -> None:
    for path in ("/o/nobody", "/o/nobody/logo-1.png", "/o/nobody/x/y"):
        answer = visitor.get(path, headers={"Accept-Language": "de"})
        assert (answer.status_code, answer.mimetype) == (404, "text/html")
        assert "keinen Shop" in answer.text and answer.headers["Cache-Control"] == "no-store"


def test_an_address_that_leads_nowhere_keeps_the_look_of_the_shop(visitor: FlaskClient) -> None:
    answer = visitor.get("/o/marquee/a/b/c")
    assert (answer.status_code, answer.mimetype) == (404, "text/html")
    assert "This page is not here" in answer.text and 'href="/o/marquee"' in answer.text


def test_an_empty_shop_says_so(app_server: AppServer, api: ApiClient) -> None:
    assert "Nothing on sale yet" in app_server.app.test_client().get("/o/marquee").text


def test_the_logo_stands_in_for_the_name(app_server: AppServer, visitor: FlaskClient, api: ApiClient) -> None:
    import io

    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", (40, 20), "#0f766e").save(out, "PNG")
    api.client.put("/api/organisation/ticket-design/logo", data=out.getvalue(), headers=api.headers)
    app_server.parts.cache.invalidate_family("public", "shop")
    path = re.findall(r'src="(/o/marquee/logo-[^"]+)"', visitor.get("/o/marquee").text)[0]
    assert visitor.get(path).mimetype == "image/png"


def test_search_engines_find_every_field_that_they_ask_for(app_server: AppServer, api: ApiClient) -> None:
    """Those that Google documents for events: three are required, the others recommended."""
    venue = api.post("/api/venues", a_venue())
    times = {"start_at": EVENING + DAY, "end_at": EVENING + DAY + HOUR, "sale_start_at": EVENING - DAY}
    event = api.post("/api/events", an_event(venue["id"], name="Night Music", **times))
    kinds = (
        {"name": "Now"},
        {"name": "Gone", "sale_end_at": EVENING - 1},
        {"name": "Soon", "sale_start_at": EVENING + HOUR},
    )
    for kind in kinds:
        api.post(f"/api/events/{event['id']}/ticket-types", a_ticket_type(**kind))
    api.post(f"/api/events/{event['id']}/publish", {}, 200)

    def about() -> dict[str, Any]:
        app_server.parts.cache.invalidate_family("public", "shop")
        html = app_server.app.test_client().get("/o/marquee/events/night-music").text
        (found,) = re.findall(r'<script type="application/ld[+]json">(.*?)</script>', html)
        return dict(json.loads(found))

    shown = about()
    required, recommended = {"name", "startDate", "location"}, {"description", "endDate", "eventStatus", "image"}
    assert required | recommended | {"offers", "organizer", "url"} <= shown.keys()
    assert (
        shown["startDate"] == "2026-07-05T18:00+02:00" and shown["location"]["address"]["addressLocality"] == "Berlin"
    )
    assert shown["organizer"]["url"] == "https://shop.example/o/marquee"
    assert [(each["name"], each["availability"].rpartition("/")[2]) for each in shown["offers"]] == [
        ("Now", "InStock"),
        ("Gone", "SoldOut"),
        ("Soon", "PreOrder"),
    ]
    needed = {"price", "priceCurrency", "availability", "url", "validFrom"}
    assert all(needed <= each.keys() for each in shown["offers"])
    api.post(f"/api/events/{event['id']}/postpone", {"reason": "storm"}, 200)
    postponed = about()
    assert postponed["eventStatus"].endswith("/EventPostponed") and postponed["startDate"] == shown["startDate"]
    assert {each["availability"].rpartition("/")[2] for each in postponed["offers"]} <= {"SoldOut", "PreOrder"}
