"""Owners and admins read their organisation's audit log, and export it for others to verify."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sync_server.audit import erasure, rules
from sync_server.audit.chain_check import CHAIN_START, ChainPosition
from sync_server.audit.exported_file import prove_file
from sync_server.plumbing.api.schemas import iso
from tests.app_server import ApiClient, AppServer, Concert
from tests.builders import a_venue
from tests.contracts.server.test_audit_sealing import seal


def listed(api: ApiClient, query: str = "") -> list[Any]:
    """All lines, page by page."""
    items, after = [], ""
    while True:
        page = api.get(f"/api/audit?limit=2{query}{after}")
        items += page["items"]
        if page["next"] is None:
            return items
        after = f"&after={page['next']}"


def test_newest_first_in_pages_without_gaps(app_server: AppServer, api: ApiClient) -> None:
    for number in range(5):
        app_server.advance(1_000)
        api.post("/api/venues", a_venue(name=f"Hall {number}", slug=f"hall-{number}"))
    lines = listed(api)
    assert [line["at"] for line in lines] == sorted((line["at"] for line in lines), reverse=True)
    made = [line["after"]["name"] for line in lines if line["action"] == "venue.created"]
    assert made == [f"Hall {number}" for number in (4, 3, 2, 1, 0)]


def test_a_line_says_who_from_where_before_and_after_and_why(app_server: AppServer, concert: Concert) -> None:
    org = concert.api.get("/api/session")["organisation"]["id"]
    olga = app_server.user("olga@marquee.example", org, "owner")
    browser = app_server.browser("olga@marquee.example")
    browser.post(f"{concert.path}/cancel", {"reason": "storm"}, 200, **{"User-Agent": "Door/1"})
    (line,) = listed(browser, "&action=event_cancelled")
    assert (line["actor_kind"], line["actor_id"], line["ip"], line["user_agent"]) == (
        "user",
        olga,
        "127.0.0.1",
        "Door/1",
    )
    assert (line["before"]["status"], line["after"]["status"], line["reason"]) == ("draft", "cancelled", "storm")
    assert (line["subject_kind"], line["subject_id"], line["personal"]) == ("event", concert.event["id"], "kept")


def test_platform_staff_are_logged_as_such_with_the_tenants_approval(app_server: AppServer, concert: Concert) -> None:
    org = concert.api.get("/api/session")["organisation"]["id"]
    tina = app_server.user("tina@platform.example", platform="tenant_manager")
    browser = app_server.browser("tina@platform.example")
    browser.ask("POST", "/api/session/organisation", {"organisation_id": org})
    browser.post(f"{concert.path}/cancel", {"reason": "storm"}, 200, **{"X-Tenant-Approval": "mail of 4 July"})
    (line,) = listed(concert.api, "&action=event_cancelled&actor_kind=platform")
    assert (line["actor_id"], line["approval"]) == (tina, "mail of 4 July")


def test_filters(app_server: AppServer, api: ApiClient) -> None:
    app_server.advance(60_000)
    first = api.post("/api/venues", a_venue(name="One", slug="one"))
    since = app_server.now
    app_server.advance(60_000)
    api.post("/api/venues", a_venue(name="Two", slug="two"))
    assert [line["subject_id"] for line in listed(api, f"&subject_kind=venue&subject_id={first['id']}")] == [
        first["id"]
    ]
    here = f"&action=venue.created&since={iso(since)}&until={iso(app_server.now)}"
    assert [line["after"]["name"] for line in listed(api, here)] == ["One"]
    actor = listed(api, "&action=venue.created")[0]["actor_id"]
    assert len(listed(api, f"&actor_id={actor}&action=venue.created")) == 2
    assert listed(api, "&actor_id=nobody") == []


@pytest.mark.parametrize("query", ["colour=red", "since=yesterday", "after=nonsense", "limit=0"])
def test_invalid_filters(api: ApiClient, query: str) -> None:
    assert api.refused("GET", f"/api/audit?{query}")[0] == 400


def test_staff_may_not_read_it_and_nobody_reads_anothers(app_server: AppServer, api: ApiClient) -> None:
    org = api.get("/api/session")["organisation"]["id"]
    app_server.user("stan@marquee.example", org, "staff")
    stan = app_server.browser("stan@marquee.example")
    for path in ("/api/audit", "/api/audit/seal", "/api/audit/export"):
        assert stan.refused("GET", path) == (403, "forbidden")
    api.post("/api/venues", a_venue())
    rivals = app_server.api(app_server.organisation("rivals"))
    assert not any(line["subject_kind"] == "venue" for line in listed(rivals))
    seal(app_server)
    assert exported(rivals)[-1]["chain"] != org


def test_how_far_it_is_sealed(app_server: AppServer, api: ApiClient) -> None:
    fresh = api.get("/api/audit/seal")
    assert (fresh["seq"], fresh["seal"]) == (0, None) and fresh["waiting"] > 0
    seal(app_server)
    done = api.get("/api/audit/seal")
    assert done["seq"] == fresh["waiting"] and done["waiting"] == 0 and done["signature"]
    newest = listed(api)
    assert max(line["seq"] for line in newest) == done["seq"]
    assert done["seal"] in [line["seal"] for line in newest]


def exported(api: ApiClient, query: str = "") -> list[Any]:
    answer = api.ask("GET", f"/api/audit/export{query}")
    assert answer.status_code == 200 and answer.content_type == "application/x-ndjson"
    return [json.loads(line) for line in answer.get_data(as_text=True).splitlines()]


def proved(lines: list[Any], *, start: ChainPosition = CHAIN_START, public: bytes | None = None) -> bool:
    return prove_file(map(json.dumps, lines), start=start, public=public).broken is None


def test_an_export_is_verified_without_the_database(app_server: AppServer, api: ApiClient) -> None:
    api.post("/api/supervisors", {"name": "Sue", "pin": "271828"})
    api.post("/api/venues", a_venue())
    seal(app_server)
    lines = exported(api)
    public = bytes.fromhex(api.get("/api/audit/seal")["public_key"])
    assert proved(lines, public=public) and lines[-1]["kind"] == "head"
    assert not proved(lines, public=bytes(32))
    for spoilt in (lines[:1] + lines[2:], lines[:-2] + lines[-1:], lines[:-1], [lines[1], lines[0], *lines[2:]]):
        assert not proved(spoilt)
    lines[0]["line"]["reason"] = "nothing happened"
    assert not proved(lines)


def test_an_export_continues_where_an_earlier_one_ended(app_server: AppServer, api: ApiClient) -> None:
    seal(app_server)
    first = exported(api)
    api.post("/api/venues", a_venue())
    seal(app_server)
    place = ChainPosition(first[-1]["seq"], bytes.fromhex(first[-1]["seal"]))
    second = exported(api, f"?after_seq={place.seq}")
    assert [line["line"]["action"] for line in second[:-1]] == ["venue.created"]
    assert proved(second, start=place) and not proved(second)


def test_an_export_of_many_pages(app_server: AppServer, api: ApiClient, monkeypatch: pytest.MonkeyPatch) -> None:
    from sync_server.audit import export

    monkeypatch.setattr(export, "PAGE", 2)
    for number in range(5):
        api.post("/api/venues", a_venue(name=f"Hall {number}", slug=f"hall-{number}"))
    seal(app_server)
    assert proved(exported(api)) and len(exported(api)) > 6


def test_erased_values_show_as_erased_and_the_export_is_still_verified(app_server: AppServer, api: ApiClient) -> None:
    api.post("/api/supervisors", {"name": "Sue", "pin": "271828"})
    seal(app_server)
    (line,) = listed(api, "&action=supervisor.added")
    assert (line["after"]["name"], line["personal"]) == ("Sue", "kept")
    with app_server.database.writing() as session:
        erasure.erase_person(session, "supervisor", "1", app_server.context(), reason="asked for")
    (line,) = listed(api, "&action=supervisor.added")
    assert (line["after"]["name"], line["after"]["active"], line["personal"]) == (rules.ERASED, True, "erased")
    assert proved(exported(api)) and "Sue" not in json.dumps(exported(api))
