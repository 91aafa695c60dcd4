"""Answers that shared caches may keep: the same for everybody, whoever asks, and nothing in them is anybody's own."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from tests.app_server import ApiClient, AppServer
from tests.contracts.holds.seated_event import SeatedEvent, a_seated_event

SHARED = ("/api/public/", "/api/meta/", "/images/", "/accents/")
"""Where every answer may be shared."""
SHARED_PAGES = ("storefront.feed", "storefront.event", "storefront.seats", "storefront.embed_script")
"""By endpoint: pages of the shop that a crowd opens."""


@pytest.fixture
def sale(app_server: AppServer) -> SeatedEvent:
    return a_seated_event(app_server)


def crowd_addresses(sale: SeatedEvent) -> list[str]:
    """What a crowd repeats about this event."""
    event = f"/api/public/events/{sale.id}"
    pages = ["/api/public/events", event, "/api/meta/cities?prefix=b"]
    own = f"/o/{sale.slug}/events/{sale.event['slug']}"
    shop = [f"/o/{sale.slug}", f"/o/{sale.slug}?lang=de", own, f"{own}?lang=fr", f"{own}/seats"]
    return [*pages, *shop, *(f"{event}/{part}" for part in ("seatmap", "seatmap/plan", "seatmap/state", "occupancy"))]


def different_clients(sale: SeatedEvent) -> Iterable[ApiClient]:
    """An organiser at a browser, one with a token, a guest with a hold, and somebody unknown."""
    sale.app_server.user("olga@marquee.example", sale.organisation_id, "owner")
    guest = sale.guest()
    sale.reserve(guest, "A-1")
    sale.app_server.run_worker()
    unknown = ApiClient(sale.app_server.app.test_client(), {})
    return sale.app_server.browser("olga@marquee.example"), sale.api, guest, unknown


def test_what_a_crowd_repeats_is_the_same_for_everybody(sale: SeatedEvent) -> None:
    clients = different_clients(sale)
    for path in crowd_addresses(sale):
        answers = [client.ask("GET", path) for client in clients]
        assert {answer.status_code for answer in answers} == {200}, path
        assert len({answer.get_data() for answer in answers}) == 1, path
        for answer in answers:
            caching = answer.headers["Cache-Control"]
            assert caching.startswith("public, ") and caching.endswith("s-maxage=1"), (path, caching)
            assert "Set-Cookie" not in answer.headers and "csrf" not in answer.get_data(as_text=True), path
            assert "Cookie" not in answer.headers.get("Vary", ""), path


def test_who_has_it_already_is_told_so(sale: SeatedEvent) -> None:
    unknown = ApiClient(sale.app_server.app.test_client(), {})
    for path in crowd_addresses(sale):
        tag = unknown.ask("GET", path).headers["ETag"]
        again = unknown.ask("GET", path, **{"If-None-Match": tag})
        assert (again.status_code, again.get_data()) == (304, b""), path
        assert again.headers["ETag"] == tag and "s-maxage=1" in again.headers["Cache-Control"], path
    sale.reserve(sale.guest(), "A-1")
    sale.app_server.run_worker()
    for part in ("seatmap", "seatmap/state", "occupancy"):
        path = f"/api/public/events/{sale.id}/{part}"
        assert unknown.ask("GET", path, **{"If-None-Match": tag}).status_code == 200, path


def test_organisers_still_see_more_at_their_own_address(sale: SeatedEvent) -> None:
    sale.reserve(sale.guest(), "A-1")
    sale.app_server.run_worker()
    own = sale.api.ask("GET", f"{sale.path}/occupancy")
    assert own.json is not None and own.json["held"] == 1
    assert own.headers["Cache-Control"].startswith("private")
    assert "held" not in sale.api.get(f"/api/public/events/{sale.id}/occupancy")


def test_nothing_else_may_be_kept_by_shared_caches(sale: SeatedEvent) -> None:
    sale.app_server.user("olga@marquee.example", sale.organisation_id, "owner")
    clients = [
        sale.app_server.browser("olga@marquee.example"),
        sale.guest(),
        ApiClient(sale.app_server.app.test_client(), {}),
    ]
    paths = [
        re.sub("<[^>]+>", "1", rule.rule.replace("<event_id>", sale.id).replace("<slug>", sale.slug))
        for rule in sale.app_server.app.url_map.iter_rules()
        if "GET" in (rule.methods or ()) and not rule.rule.startswith((*SHARED, "/static"))
        if rule.endpoint not in SHARED_PAGES
    ]
    assert len(paths) > 60
    for path in paths:
        for client in clients:
            caching = client.ask("GET", path).headers.get("Cache-Control", "")
            assert "no-store" in caching or "private" in caching or "no-cache" in caching, (path, caching)
            assert "public" not in caching and "s-maxage" not in caching, (path, caching)


def test_a_draft_is_hidden_at_the_public_addresses_also_from_its_organiser(app_server: AppServer) -> None:
    sale = a_seated_event(app_server)
    sale.api.post(f"{sale.path}/unpublish", {}, 200)
    for part in ("", "/seatmap", "/seatmap/plan", "/seatmap/state", "/occupancy"):
        answer = sale.api.ask("GET", f"/api/public/events/{sale.id}{part}")
        assert (answer.status_code, answer.headers["Cache-Control"]) == (404, "no-store"), part
    assert sale.api.get(f"{sale.path}/seatmap/state")["zones"][0]["held"] == 0


def test_an_invalid_token_makes_no_difference(sale: SeatedEvent) -> None:
    """Nobody looks at it, so that no shared answer depends on one."""
    for path in crowd_addresses(sale):
        stranger = ApiClient(sale.app_server.app.test_client(), {"Authorization": "Bearer made up"})
        assert stranger.ask("GET", path).status_code == 200, path
