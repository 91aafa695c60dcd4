"""The texts and tones of every verdict are distinct."""

from zoneinfo import ZoneInfo

import pytest

from gate_app.display.announcement import Tone, announce, heading_of, notice_of
from gate_app.words import TEXTS
from shared.reasons import ADMITTING, Reason
from shared.words.wording import LANGUAGES, in_language, wording
from tests.browser.gate_scenes import a_scan, already_used

BERLIN = ZoneInfo("Europe/Berlin")


def of(reason: Reason, **changes: object) -> dict[str, object]:
    return a_scan(verdict="admit" if reason in ADMITTING else "deny", reason=reason.value, **changes)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_reason_has_a_title_of_its_own_in_every_language(language: str) -> None:
    titles = {in_language(announce(of(reason)).title, language) for reason in Reason}
    texts = wording(TEXTS, language).texts
    taken_back = texts["title.taken_back"]  # what an admission becomes that nobody used
    assert titles | {taken_back} == {text for key, text in texts.items() if key.startswith("title.")}
    assert len(titles) == len(Reason)


@pytest.mark.parametrize("reason", [reason for reason in Reason if reason not in ADMITTING])
def test_nothing_refused_ever_looks_admitted(reason: Reason) -> None:
    shown = announce(of(reason))
    assert shown.tone in {Tone.DENY, Tone.FAULT}
    assert shown.heading in {"STOP", "GATE FAULT"}


def test_an_unknown_verdict_is_a_refusal() -> None:
    assert announce(a_scan(verdict="maybe")).tone is Tone.DENY
    assert announce({}).tone is Tone.DENY


def test_a_seat_is_shown_with_row_and_number_and_the_time_where_the_event_is() -> None:
    shown = announce(a_scan(), BERLIN)
    assert (shown.seat, shown.zone, shown.ticket) == ("Row C · Seat 14", "Upper balcony", "Balcony · NLT-204")
    assert shown.at == "19:31:08"


@pytest.mark.parametrize("reason", ["already_used", "already_inside", "daily_limit_reached"])
def test_what_was_used_says_how_long_ago_and_where(reason: str) -> None:
    assert announce(already_used(reason=reason), BERLIN).spent == "18 minutes ago · gate B"
    assert announce(already_used(reason=reason, history=[]), BERLIN).spent == ""
    unknown = [{"at": "2026-07-04T17:31:07Z", "gate": None, "direction": "entry"}]
    assert announce(already_used(reason=reason, history=unknown), BERLIN).spent == "1 second ago"


def test_an_admission_says_nothing_of_earlier_entries_in_large_letters() -> None:
    assert announce(already_used(verdict="admit", reason="admitted_reentry"), BERLIN).spent == ""


def test_a_ticket_without_a_seat_says_nothing_about_seats() -> None:
    assert announce(a_scan(ticket={"id": "9", "zone": "Floor", "row": None, "seat": None})).seat == ""


def test_a_number_in_the_plan_is_not_shown_as_a_seat() -> None:
    sold_later = {"id": "9", "zone": "Balcony", "row": None, "seat": "48213", "known": False}
    assert announce(a_scan(ticket=sold_later)).seat == ""


def test_a_name_and_a_note_are_shown_where_the_ticket_carries_them() -> None:
    shown = announce(a_scan(ticket={"id": "9", "name": "A. Guest", "notes": "table 4 is waiting"}))
    assert shown.holder == "A. Guest"
    assert [notice.words for notice in shown.notices] == ["Note: table 4 is waiting"]
    assert shown.tone is Tone.ATTENTION


def test_of_a_long_evening_only_the_last_movements_are_shown() -> None:
    walks = [{"at": f"2026-07-04T{hour}:00:00Z", "gate": "A", "direction": "exit"} for hour in range(10, 20)]
    assert announce(a_scan(history=walks)).earlier[0] == "Left at 17:00:00 through gate A"
    assert len(announce(a_scan(history=walks)).earlier) == 3


def test_somebody_leaving_does_not_see_come_in() -> None:
    leaving = a_scan(reason="exited", direction="exit", notices=["wheelchair"])
    assert heading_of(leaving) == "EXIT OK"
    assert announce(leaving).tone is Tone.ADMIT


@pytest.mark.parametrize("reason", sorted(ADMITTING))
def test_in_test_mode_nothing_says_come_in(reason: Reason) -> None:
    shown = announce(of(reason, mode="test"))
    assert (shown.tone, shown.heading, shown.test) == (Tone.TEST, "TEST OK", True)


def test_a_refusal_in_test_mode_is_marked_as_a_test() -> None:
    shown = announce(already_used(mode="test"))
    assert (shown.tone, shown.test) == (Tone.DENY, True)


def test_notices_that_need_action_come_first() -> None:
    shown = announce(a_scan(notices=["not_yet_synced", "check:photo ID", "membership:gold"]))
    assert [notice.words for notice in shown.notices] == [
        "Check: photo ID",
        "Sold after this gate's last update",
        "Member: gold",
    ]
    assert shown.tone is Tone.ATTENTION


def test_what_is_only_for_the_record_calls_nobody() -> None:
    assert announce(a_scan(notices=["not_yet_synced", "clock_uncertain"])).tone is Tone.ADMIT


def test_a_notice_newer_than_this_gate_is_shown_and_calls_staff() -> None:
    notice = notice_of("bring_a_torch")
    assert (notice.words, notice.act) == ("bring a torch", True)


def test_every_notice_of_the_domain_has_a_text() -> None:
    plain = {"wheelchair", "companion_reserved", "companion", "vip", "not_yet_synced", "membership_unverified"}
    with_detail = {"note", "member", "check"}
    named = {key.removeprefix("notice.") for key in wording(TEXTS, "en").texts if key.startswith("notice.")}
    assert named - with_detail == plain | {"capacity_estimated", "clock_uncertain", "override"}


def test_a_used_ticket_says_where_and_when() -> None:
    assert announce(already_used(), BERLIN).earlier == ("Came in at 19:12:44 through gate B",)


@pytest.mark.parametrize("moment", ["yesterday", None, {}, 10**30, float("nan")])
def test_an_invalid_time_is_left_out(moment: object) -> None:
    assert announce(a_scan(decided_at=moment)).at == ""


def test_milliseconds_are_a_time_too() -> None:
    assert announce(a_scan(decided_at=1_783_186_268_000), BERLIN).at == "19:31:08"
