"""An event that is over becomes a sealed file, leaves the tables, and can come back."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text

from shared.errors import Unreadable, Untrusted
from sync_server.archives import removing, sealed_files
from sync_server.archives.removing import ChangedSinceWrittenError
from sync_server.scans.attendance.inside import occupancy
from tests.app_server import AppServer
from tests.builders import DAY, HOUR
from tests.contracts.archives.evening import Evening, an_evening
from tests.contracts.sync.office_gates import shown


def test_an_event_that_is_over_leaves_the_tables_and_its_figures_stay(evening: Evening) -> None:
    assert {"tickets", "ticket_issues", "scan_entries", "event_seats", "snapshot_rows"} <= set(evening.counts())
    shown_now = evening.put_away()
    assert evening.counts() == {}
    figures = shown_now["figures"]
    assert (figures["tickets"], figures["valid"], figures["admitted"], figures["no_shows"]) == (6, 5, 3, 2)
    assert [(one["name"], one["tickets"], one["admitted"]) for one in figures["types"]] == [
        ("Stalls", 2, 0),
        ("Floor", 4, 3),
    ]
    assert [day["admitted"] for day in figures["days"]] == [3]
    event = evening.api.get(evening.path)
    assert (event["status"], event["tickets_issued"]) == ("archived", 5)
    assert evening.api.get(f"{evening.path}/ticket-types")["items"][0]["name"] == "Stalls"
    assert [one["event_id"] for one in evening.api.get("/api/archives")["items"]] == [evening.concert.event["id"]]


def test_what_was_put_away_comes_back_as_it_was(evening: Evening) -> None:
    evening.api.post(f"{evening.path}/archive", status=200)
    before = evening.content()
    shown_now = evening.put_away()
    evening.api.post(f"{evening.path}/archive/restore", {"reason": "a dispute"}, 202)
    evening.work()
    after = evening.content()
    assert evening.api.get(f"{evening.path}/archive")["state"] == "restored"
    assert after == before
    assert sum(map(len, after.values())) == shown_now["rows"]
    assert len(evening.api.get(f"{evening.path}/tickets")["items"]) == 6
    evening.app_server.gate_rows(evening.concert.number)  # checks the digest


def test_the_file_can_be_checked_with_nothing_but_the_key(evening: Evening, tmp_path: Path) -> None:
    evening.put_away()
    found = sealed_files.verify(evening.file())
    assert found.manifest.about["event"]["number"] == evening.concert.number
    whole, refused = evening.file().read_bytes(), 0
    directory = range(len(whole) - 700, len(whole))  # where the ZIP says what is where
    places = [*range(0, len(whole), max(1, len(whole) // 60)), *directory]
    for place in places:
        damaged = tmp_path / "damaged.zip"
        damaged.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        refused += _refuses(damaged, found)
    assert refused > 200
    for length in (0, 10, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.zip").write_bytes(whole[:length])
        with pytest.raises(Unreadable):
            sealed_files.verify(tmp_path / "cut.zip")
    with pytest.raises(Untrusted):
        sealed_files.verify(evening.file(), bytes(range(32)))


def _refuses(file: Path, found: sealed_files.Verified) -> bool:
    """Whether a damaged file is refused; the bytes that mean nothing, such as times, change nothing."""
    try:
        assert sealed_files.verify(file) == found
    except (Unreadable, Untrusted):
        return True
    return False


def test_a_gate_that_owes_its_journal_holds_the_event_back(evening: Evening) -> None:
    shown(evening.gate, evening.concert, evening.tickets[-1])
    evening.gate.hello()
    assert evening.api.refused("POST", f"{evening.path}/put-away", {}) == (409, "event_not_settled")
    [obstacle] = evening.api.get(f"{evening.path}/archive")["obstacles"]
    assert (obstacle["code"], obstacle["message"]) == (
        "journal_missing",
        "West lane has 1 journal entries that have not arrived.",
    )
    assert evening.api.refused("POST", f"{evening.path}/put-away", {"confirm": True}) == (409, "reason_required")
    assert evening.api.get(evening.path)["status"] == "ended"
    evening.ask(confirm=True, reason="the gate burned down")
    evening.work()
    lines = evening.api.get("/api/audit?action=event.archive_asked_for")["items"]
    assert (lines[0]["reason"], len(lines[0]["after"]["unsettled"])) == ("the gate burned down", 1)


def test_a_gate_not_heard_of_since_the_end_may_still_have_scans(app_server: AppServer) -> None:
    evening = an_evening(app_server, last_hello=False)
    [obstacle] = evening.api.get(f"{evening.path}/archive")["obstacles"]
    assert obstacle["message"] == "West lane has not been in touch since the event ended."


def test_an_event_that_is_not_over_cannot_be_confirmed_away(app_server: AppServer) -> None:
    evening = an_evening(app_server, ended=False)
    body = {"confirm": True, "reason": "impatience"}
    assert evening.api.refused("POST", f"{evening.path}/put-away", body) == (409, "event_not_settled")


def test_scans_that_arrive_late_wait_and_count_after_the_restore(evening: Evening) -> None:
    shown(evening.gate, evening.concert, evening.tickets[-1])
    evening.ask(confirm=True, reason="the gate was lost")
    evening.work()
    answer = evening.gate.upload()
    assert answer.answers[-1][1:] == ("quarantined", "event_put_away")
    assert answer.mark.seq == len(evening.gate.bodies), "the gate need not send it again"
    assert evening.counts() == {"scan_entries": len(evening.gate.bodies) - 1}, (
        "all but the anchor, which is of no event"
    )
    evening.api.post(f"{evening.path}/archive/restore", {"reason": "the gate was found"}, 202)
    evening.work()
    with evening.app_server.database.reading() as session:
        assert occupancy(session, evening.key, 0).inside == 4
    assert evening.api.get(f"/api/devices/{evening.device['id']}/journal")["quarantined"] == 0
    shown_now = evening.put_away()
    assert (shown_now["figures"]["admitted"], evening.counts()) == (4, {})


def test_what_changes_after_the_file_was_written_is_written_anew(
    evening: Evening, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ticket is changed behind the server's back while half of the rows have left."""
    remove, changed = removing._remove_piece, []

    def change_first(database, event, each, known):  # type: ignore[no-untyped-def]
        if each.name == "tickets" and not changed:
            changed.append(1)
            with database.writing() as session:
                session.execute(text("UPDATE tickets SET notes = 'came by boat'"))
        return remove(database, event, each, known)

    monkeypatch.setattr(removing, "_remove_piece", change_first)
    evening.put_away()
    assert changed and evening.counts() == {}
    evening.api.post(f"{evening.path}/archive/restore", {"reason": "to look"}, 202)
    evening.work()
    assert {one["notes"] for one in evening.api.get(f"{evening.path}/tickets")["items"]} == {"came by boat"}


def test_a_row_that_is_not_in_the_file_is_never_removed(evening: Evening) -> None:
    evening.ask()
    evening.work()
    evening.api.post(f"{evening.path}/archive/restore", {"reason": "to look"}, 202)
    evening.work()
    with evening.app_server.database.writing() as session:
        session.execute(text("UPDATE scan_entries SET reason = 'altered'"))
    before = evening.counts()["scan_entries"]
    with pytest.raises(ChangedSinceWrittenError):
        list(removing.remove(evening.app_server.database, evening.key, evening.file()))
    assert evening.counts()["scan_entries"] == before


def test_another_file_does_not_come_back(evening: Evening) -> None:
    evening.put_away()
    file = evening.file()
    file.write_bytes(file.read_bytes() + b"x")
    evening.api.post(f"{evening.path}/archive/restore", {"reason": "to look"}, 202)
    evening.work()
    shown_now = evening.api.get(f"{evening.path}/archive")
    assert (shown_now["state"], evening.counts()) == ("restoring", {})
    assert "is not the file that was written" in shown_now["problem"]


def test_the_lists_of_an_event_that_is_put_away_say_so(evening: Evening) -> None:
    evening.put_away()
    for list_of in ("tickets", "scans", "conflicts", "decisions"):
        assert evening.api.refused("GET", f"{evening.path}/{list_of}") == (409, "event_put_away"), list_of
    downloaded = evening.api.ask("GET", f"{evening.path}/archive/file")
    assert downloaded.data == evening.file().read_bytes()
    downloaded.close()


def test_a_gate_forgets_the_event_and_other_events_go_on(evening: Evening) -> None:
    assert [one.event for one in evening.gate.hello().assignments] == [evening.concert.number]
    evening.put_away()
    assert evening.gate.hello().assignments == []
    other = an_evening(evening.app_server, api=evening.api, number=2)
    assert other.counts()["tickets"] == 6


def test_the_policy_puts_settled_events_away_by_itself(evening: Evening) -> None:
    app_server = evening.app_server
    app_server.run_worker()
    assert evening.api.get(f"{evening.path}/archive")["state"] == "in_tables"
    app_server.advance(91 * DAY)
    app_server.run_worker()
    app_server.advance(HOUR)
    app_server.run_worker()
    app_server.run_worker()
    shown_now = app_server.api(evening.key.organisation_id).get(f"{evening.path}/archive")
    assert (shown_now["state"], shown_now["reason"]) == ("put_away", "by the organisation's retention policy")


def test_no_ticket_number_or_code_is_used_again(evening: Evening) -> None:
    evening.put_away()
    assert evening.api.refused("POST", f"{evening.path}/tickets", {"ticket_type": 1, "count": 1})[0] == 409
    with evening.app_server.database.reading() as session:
        assert session.execute(text("SELECT ticket_sequence FROM events")).scalar_one() == 6


def test_the_page_of_an_event_that_is_put_away_shows_its_figures(evening: Evening) -> None:
    app_server = evening.app_server
    app_server.user("olga@marquee.example", evening.key.organisation_id, "owner")
    evening.put_away()
    page = app_server.browser("olga@marquee.example").ask("GET", f"/admin/events/{evening.concert.event['id']}")
    assert page.status_code == 200
    assert "This event is put away" in page.text and "No-shows" in page.text
