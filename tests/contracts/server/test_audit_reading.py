"""Owners and admins read their organisation's audit log, and take it away so that others can prove it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sync_server.audit import erasing, rules
from sync_server.audit.carried import prove_file
from sync_server.audit.following import BEGINNING, Place
from sync_server.plumbing.shapes import iso
from tests.builders import a_venue
from tests.contracts.server.test_audit_sealing import seal
from tests.office import Desk, Evening, Office


def listed(desk: Desk, words: str = "") -> list[Any]:
    """All lines, page by page."""
    items, after = [], ""
    while True:
        page = desk.get(f"/api/audit?limit=2{words}{after}")
        items += page["items"]
        if page["next"] is None:
            return items
        after = f"&after={page['next']}"


def test_newest_first_in_pages_without_gaps(office: Office, desk: Desk) -> None:
    for number in range(5):
        office.advance(1_000)
        desk.post("/api/venues", a_venue(name=f"Hall {number}", slug=f"hall-{number}"))
    lines = listed(desk)
    assert [line["at"] for line in lines] == sorted((line["at"] for line in lines), reverse=True)
    made = [line["after"]["name"] for line in lines if line["action"] == "venue.created"]
    assert made == [f"Hall {number}" for number in (4, 3, 2, 1, 0)]


def test_a_line_says_who_from_where_before_and_after_and_why(office: Office, evening: Evening) -> None:
    org = evening.desk.get("/api/session")["organisation"]["id"]
    olga = office.user("olga@marquee.example", org, "owner")
    browser = office.browser("olga@marquee.example")
    browser.post(f"{evening.path}/cancel", {"reason": "storm"}, 200, **{"User-Agent": "Door/1"})
    (line,) = listed(browser, "&action=event_cancelled")
    assert (line["actor_kind"], line["actor_id"], line["ip"], line["user_agent"]) == (
        "user",
        olga,
        "127.0.0.1",
        "Door/1",
    )
    assert (line["before"]["status"], line["after"]["status"], line["reason"]) == ("draft", "cancelled", "storm")
    assert (line["subject_kind"], line["subject_id"], line["personal"]) == ("event", evening.event["id"], "kept")


def test_the_platforms_staff_stand_in_the_log_as_such_with_the_tenants_approval(
    office: Office, evening: Evening
) -> None:
    org = evening.desk.get("/api/session")["organisation"]["id"]
    tina = office.user("tina@platform.example", platform="tenant_manager")
    browser = office.browser("tina@platform.example")
    browser.ask("POST", "/api/session/organisation", {"organisation_id": org})
    browser.post(f"{evening.path}/cancel", {"reason": "storm"}, 200, **{"X-Tenant-Approval": "mail of 4 July"})
    (line,) = listed(evening.desk, "&action=event_cancelled&actor_kind=platform")
    assert (line["actor_id"], line["approval"]) == (tina, "mail of 4 July")


def test_filters(office: Office, desk: Desk) -> None:
    office.advance(60_000)
    first = desk.post("/api/venues", a_venue(name="One", slug="one"))
    since = office.now
    office.advance(60_000)
    desk.post("/api/venues", a_venue(name="Two", slug="two"))
    assert [line["subject_id"] for line in listed(desk, f"&subject_kind=venue&subject_id={first['id']}")] == [
        first["id"]
    ]
    here = f"&action=venue.created&since={iso(since)}&until={iso(office.now)}"
    assert [line["after"]["name"] for line in listed(desk, here)] == ["One"]
    actor = listed(desk, "&action=venue.created")[0]["actor_id"]
    assert len(listed(desk, f"&actor_id={actor}&action=venue.created")) == 2
    assert listed(desk, "&actor_id=nobody") == []


@pytest.mark.parametrize("words", ["colour=red", "since=yesterday", "after=nonsense", "limit=0"])
def test_questions_that_make_no_sense(desk: Desk, words: str) -> None:
    assert desk.refused("GET", f"/api/audit?{words}")[0] == 400


def test_staff_may_not_read_it_and_nobody_reads_anothers(office: Office, desk: Desk) -> None:
    org = desk.get("/api/session")["organisation"]["id"]
    office.user("stan@marquee.example", org, "staff")
    stan = office.browser("stan@marquee.example")
    for path in ("/api/audit", "/api/audit/seal", "/api/audit/export"):
        assert stan.refused("GET", path) == (403, "forbidden")
    desk.post("/api/venues", a_venue())
    rivals = office.desk(office.organisation("rivals"))
    assert not any(line["subject_kind"] == "venue" for line in listed(rivals))
    seal(office)
    assert exported(rivals)[-1]["chain"] != org


def test_how_far_it_is_sealed(office: Office, desk: Desk) -> None:
    fresh = desk.get("/api/audit/seal")
    assert (fresh["seq"], fresh["seal"]) == (0, None) and fresh["waiting"] > 0
    seal(office)
    done = desk.get("/api/audit/seal")
    assert done["seq"] == fresh["waiting"] and done["waiting"] == 0 and done["signature"]
    newest = listed(desk)
    assert max(line["seq"] for line in newest) == done["seq"]
    assert done["seal"] in [line["seal"] for line in newest]


def exported(desk: Desk, words: str = "") -> list[Any]:
    answer = desk.ask("GET", f"/api/audit/export{words}")
    assert answer.status_code == 200 and answer.content_type == "application/x-ndjson"
    return [json.loads(line) for line in answer.get_data(as_text=True).splitlines()]


def proved(lines: list[Any], *, start: Place = BEGINNING, public: bytes | None = None) -> bool:
    return prove_file(map(json.dumps, lines), start=start, public=public).broken is None


def test_an_export_is_proved_without_the_database(office: Office, desk: Desk) -> None:
    desk.post("/api/supervisors", {"name": "Sue", "pin": "271828"})
    desk.post("/api/venues", a_venue())
    seal(office)
    lines = exported(desk)
    public = bytes.fromhex(desk.get("/api/audit/seal")["public_key"])
    assert proved(lines, public=public) and lines[-1]["kind"] == "head"
    assert not proved(lines, public=bytes(32))
    for spoilt in (lines[:1] + lines[2:], lines[:-2] + lines[-1:], lines[:-1], [lines[1], lines[0], *lines[2:]]):
        assert not proved(spoilt)
    lines[0]["line"]["reason"] = "nothing happened"
    assert not proved(lines)


def test_an_export_goes_on_where_the_one_before_ended(office: Office, desk: Desk) -> None:
    seal(office)
    first = exported(desk)
    desk.post("/api/venues", a_venue())
    seal(office)
    place = Place(first[-1]["seq"], bytes.fromhex(first[-1]["seal"]))
    second = exported(desk, f"?after_seq={place.seq}")
    assert [line["line"]["action"] for line in second[:-1]] == ["venue.created"]
    assert proved(second, start=place) and not proved(second)


def test_an_export_of_many_pages(office: Office, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from sync_server.audit import export

    monkeypatch.setattr(export, "PAGE", 2)
    for number in range(5):
        desk.post("/api/venues", a_venue(name=f"Hall {number}", slug=f"hall-{number}"))
    seal(office)
    assert proved(exported(desk)) and len(exported(desk)) > 6


def test_erased_values_show_as_erased_and_an_export_without_them_is_still_proved(office: Office, desk: Desk) -> None:
    desk.post("/api/supervisors", {"name": "Sue", "pin": "271828"})
    seal(office)
    (line,) = listed(desk, "&action=supervisor.added")
    assert (line["after"]["name"], line["personal"]) == ("Sue", "kept")
    with office.database.writing() as session:
        erasing.erase_person(session, "supervisor", "1", office.deed(), reason="asked for")
    (line,) = listed(desk, "&action=supervisor.added")
    assert (line["after"]["name"], line["after"]["active"], line["personal"]) == (rules.ERASED, True, "erased")
    assert proved(exported(desk)) and "Sue" not in json.dumps(exported(desk))
