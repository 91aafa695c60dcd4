"""The simulator: every case of the collection, and messages for mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gate_app.whatif.simulator import answers, run_case, run_line
from shared.reasons import Reason

CASES = json.loads((Path(__file__).parents[3] / "vectors" / "admission.json").read_text("utf-8"))
AT = "2026-07-04T19:30:00+02:00"
NOT_SAYABLE = {Reason.STALE_PROOF}  # the form has no live proof


def asked(**fields: Any) -> dict[str, Any]:
    return run_line(json.dumps({"name": "asked", "at": AT, **fields}))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_gate_answers_as_the_case_expects(case: dict[str, Any]) -> None:
    answer, expected = run_case(case), case["expect"]
    assert "error" not in answer
    assert (answer["verdict"], answer["reason"]) == (expected["verdict"], expected["reason"])
    assert set(expected.get("notices", ())) <= set(answer["notices"])


def test_the_collection_holds_every_answer_a_gate_can_give() -> None:
    assert {case["expect"]["reason"] for case in CASES} == set(Reason) - NOT_SAYABLE
    assert len({case["name"] for case in CASES}) == len(CASES) >= 250


def test_the_collection_holds_every_notice_that_the_form_can_bring_about() -> None:
    said = {notice.partition(":")[0] for case in CASES for notice in case["expect"].get("notices", ())}
    assert said == {
        *("wheelchair", "companion_reserved", "companion", "vip", "membership", "check"),
        *("not_yet_synced", "membership_unverified", "clock_uncertain", "override"),
    }


def test_an_answer_has_the_five_parts_and_speaks_the_venues_time_zone() -> None:
    assert asked(history=[{"at": "2026-07-04T18:00:00+02:00", "gate": "B"}]) == {
        "name": "asked",
        "verdict": "deny",
        "reason": "already_used",
        "message": "Used at 18:00 at gate B, 90 minutes ago. Do not admit.",
        "notices": [],
    }


def test_nobody_is_sent_to_a_gate_of_which_only_the_code_is_known() -> None:
    answer = asked(gate={"open": False}, history=[{"at": "2026-07-04T18:00:00+02:00", "gate": "B"}])
    assert answer["message"] == "Gate A is closed. Ask a supervisor where to send the guest."


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"tickt": {}}, "Unknown key: tickt."),
        ({"ticket": {"colour": "red"}}, "Unknown key: ticket.colour."),
        ({"event": {"doors": AT}}, "Unknown key: event.doors."),
        ({"expect": {"verdict": "deny", "reason": "x", "why": 1}}, "Unknown key: expect.why."),
        ({"history": [{"at": AT}, {"at": AT, "who": "x"}]}, "Unknown key: history[1].who."),
        ({"ticket": {"membership": {"tier": "gold", "level": 2}}}, "Unknown key: ticket.membership.level."),
        ({"ticket": {"membership": {}}}, "Missing key: ticket.membership.tier."),
        ({"history": [{}]}, "Missing key: history[0].at."),
        ({"direction": "sideways"}, "direction: Invalid enum value 'sideways'."),
        ({"ticket": {"issue": "two"}}, "ticket.issue: Expected `int`, got `str`."),
        ({"ticket": {"issue": 0}}, "ticket.issue: Expected `int` >= 1."),
        ({"ticket": {"flags": ["tall"]}}, "ticket.flags[0]: Invalid enum value 'tall'."),
        ({"ticket": {"days": ["tomorrow"]}}, "ticket.days: 'tomorrow' is not a date like 2026-07-04."),
        ({"ticket": {"days": [4]}}, "ticket.days: the event has no day 4; its last is day 1."),
        (
            {"ticket": {"not_before": "19:30"}},
            "ticket.not_before: '19:30' is not a time like 2026-07-04T19:30:00+02:00",
        ),
        ({"at": "2026-07-04T19:30:00"}, "at: '2026-07-04T19:30:00' is not a time like"),
        ({"at": 1783186200}, "at: 1783186200 is not a time like"),
        ({"event": {"timezone": "Mars/Olympus"}}, "event.timezone: There is no time zone 'Mars/Olympus'."),
        ({"event": {"cutover_hour": 24}}, "event.cutover_hour: Expected `int` <= 23."),
        ({"event": {"starts": AT, "ends": AT}}, "event.ends: the event must end after it starts."),
        ({"event": {"starts": "2020-07-04T19:30:00Z"}}, "event.ends: An event may last at most 400 days."),
        ({"clock": {"uncertainty_seconds": -1}}, "clock.uncertainty_seconds: Expected `float` >= 0"),
        ({"gate": None}, "gate: Expected `object`, got `null`."),
        ({"device": {"ready": "yes"}}, "device.ready: Expected `bool`, got `str`."),
    ],
)
def test_a_mistake_in_a_case_names_its_key(fields: dict[str, Any], expected: str) -> None:
    answer = asked(**fields)
    assert answer["error"].startswith(expected)
    assert (answer["verdict"], answer["reason"]) == (None, None)
    assert answer["name"] == "asked"


@pytest.mark.parametrize("key", ["name", "at"])
def test_name_and_time_must_be_there(key: str) -> None:
    case = {"name": "x", "at": AT}
    del case[key]
    assert run_case(case)["error"] == f"Missing key: {key}."


@pytest.mark.parametrize(
    "line",
    ["", "{", "nonsense", '{"name": "x"', "NaN", '{"name":"x","at":NaN}', "[" * 100_000, "1" * 5000, '"text"', "7"],
)
def test_what_is_no_case_at_all_is_answered_too(line: str) -> None:
    assert run_line(line)["error"]


def test_a_lone_surrogate_in_a_name_comes_out_as_something_that_can_be_printed() -> None:
    answer = run_line(f'{{"name": "\\ud800", "at": "{AT}"}}')
    assert json.dumps(answer, ensure_ascii=False).encode("utf-8")
    assert answer["verdict"] == "admit"


def test_lines_are_answered_one_by_one_as_they_come() -> None:
    def lines() -> Any:
        yield json.dumps({"name": "first", "at": AT})
        yield "\n"
        yield "{broken"
        raise AssertionError("read ahead of the second answer")

    answered = answers(lines())
    assert next(answered)["name"] == "first"
    assert "error" in next(answered)


def test_one_list_of_cases_is_taken_as_well() -> None:
    text = json.dumps([{"name": "first", "at": AT}, {"name": "second", "at": AT}, 3], indent=1)
    first, second, third = answers(text.splitlines(keepends=True))
    assert (first["name"], second["name"]) == ("first", "second")
    assert third["error"] == "The case: Expected `object`, got `int`."
    (broken,) = answers(["[1,"])
    assert "not JSON" in broken["error"]


def case_lines(*lines: str) -> list[str | None]:
    """The names of the cases answered, `None` for a line that is none; one line each, as from a file."""
    answered = answers(f"{line}\n" for line in lines)
    return ["error" if "error" in answer and answer["name"] is None else answer["name"] for answer in answered]


def case(name: str) -> str:
    return json.dumps({"name": name, "at": AT})


def test_the_lines_behind_a_list_are_answered_too() -> None:
    assert case_lines(case("first"), f"[{case('second')}]", case("third")) == ["first", "second", "third"]
    assert case_lines(f"[{case('a')},", case("b"), "]", "", case("behind it")) == ["a", "b", "behind it"]


@pytest.mark.parametrize("broken", ["[", "[1,", "[nonsense]", f"[{case('x')}] and more", "[" * 100_000])
def test_a_list_that_is_none_costs_one_line_and_not_the_rest(broken: str) -> None:
    assert case_lines(case("first"), broken, case("behind it"), broken) == ["first", "error", "behind it", "error"]


def test_a_separator_inside_a_text_ends_no_line() -> None:
    odd = json.dumps({"name": "odd\u2028\u0085", "at": AT}, ensure_ascii=False)
    assert len(case_lines("[", odd, odd)) == 3


# --- What is left out ---


def test_an_event_without_times_lies_around_now() -> None:
    assert asked()["reason"] == "admitted"
    assert asked(event={"ends": "2026-07-04T19:00:00+02:00"})["reason"] == "admitted"
    assert asked(event={"starts": "2026-07-03T16:00:00+02:00"})["reason"] == "admitted"
    assert asked(event={"starts": "2026-08-01T16:00:00+02:00"})["reason"] == "not_valid_yet"


def test_days_may_be_given_by_number() -> None:
    festival = {"starts": "2026-07-03T16:00:00+02:00", "ends": "2026-07-05T23:00:00+02:00"}
    assert [asked(event=festival, ticket={"days": [day]})["reason"] for day in (1, 2, 3)] == [
        "no_longer_valid",
        "admitted",
        "not_valid_yet",
    ]


def test_a_pass_of_more_days_than_fit_on_the_code_is_still_read() -> None:
    season = {"starts": "2026-06-01T16:00:00+02:00", "ends": "2026-07-31T23:00:00+02:00"}
    assert asked(event=season, ticket={"known": False, "days": ["2026-07-04"]})["reason"] == "admitted"
    assert asked(event=season, ticket={"known": False, "days": ["2026-07-05"]})["reason"] == "not_valid_yet"


def test_a_case_without_expectation_is_a_question() -> None:
    assert run_case({"name": "just asking", "at": AT})["verdict"] == "admit"


@pytest.mark.parametrize(
    ("part", "allowed"),
    [
        ({"zone": {"kind": "reserved"}}, "reserved_seating"),
        ({"event": {"status": "Live"}}, "live"),
        ({"code": "forged"}, "altered"),
        ({"ticket": {"flags": ["VIP"]}}, "vip"),
        ({"history": [{"at": "2026-07-04T18:00:00+02:00", "direction": "in"}]}, "entry"),
        ({"ticket": {"membership": {"tier": "gold", "state": "over"}}}, "revoked"),
    ],
)
def test_an_invalid_value_is_answered_with_the_valid_ones(part: dict[str, Any], allowed: str) -> None:
    fields = run_case({"name": "mistyped", "at": "2026-07-04T19:30:00+02:00", **part})

    assert fields["verdict"] is None
    assert allowed in fields["error"].partition("Write one of: ")[2]


class TestParties:
    """One code for several tickets: each is judged as if its own code had been shown."""

    def test_who_may_comes_in_and_each_of_the_others_has_its_reason(self) -> None:
        used = [{"at": "2026-07-04T18:00:00+02:00", "gate": "B"}]
        answer = asked(
            party=[
                {},
                {"history": used},
                {"ticket": {"issue": 1, "current_issue": 2}},
                {"ticket": {"state": "cancelled"}},
                {"ticket": {"flags": ["vip"]}},
            ]
        )
        assert (answer["verdict"], answer["reason"], answer["notices"]) == ("admit", "admitted", ["vip"])
        assert answer["message"] == "2 of 5 of this party come in."
        assert [one["reason"] for one in answer["party"]] == [
            "admitted",
            "already_used",
            "ticket_replaced",
            "ticket_cancelled",
            "admitted",
        ]
        assert answer["party"][1] == {
            "verdict": "deny",
            "reason": "already_used",
            "message": "Used at 18:00 at gate B, 90 minutes ago. Do not admit.",
            "notices": [],
        }

    def test_a_ticket_that_the_gate_does_not_know_comes_in_by_its_own_code_only(self) -> None:
        unknown = {"known": False}
        assert asked(ticket=unknown)["verdict"] == "admit"
        answer = asked(party=[{}, {"ticket": unknown}])
        assert [one["reason"] for one in answer["party"]] == ["admitted", "not_in_snapshot"]

    def test_places_are_counted_for_each_of_them(self) -> None:
        answer = asked(zone={"capacity": 500, "inside": 498}, party=[{}, {}, {}])
        assert [one["reason"] for one in answer["party"]] == ["admitted", "admitted", "zone_full"]

    def test_in_a_test_nobody_takes_a_place(self) -> None:
        answer = asked(zone={"capacity": 500, "inside": 499}, mode="test", party=[{}, {}])
        assert [one["reason"] for one in answer["party"]] == ["test_ok", "test_ok"]

    def test_a_party_of_which_nobody_may_come_in_is_refused_for_the_reason_of_its_first(self) -> None:
        answer = asked(event={"status": "cancelled"}, party=[{}, {}])
        assert (answer["verdict"], answer["reason"]) == ("deny", "event_cancelled")
        assert answer["message"] == answer["party"][0]["message"]

    @pytest.mark.parametrize(
        "code", ["altered", "unknown_key", "revoked_key", "garbage", "future_version", "other_event"]
    )
    def test_a_code_that_is_refused_names_no_tickets(self, code: str) -> None:
        answer, alone = asked(code=code, party=[{}, {}]), asked(code=code)
        assert (answer["verdict"], answer["reason"]) == ("deny", alone["reason"])
        assert len(answer["party"]) == (2 if code == "other_event" else 0)

    @pytest.mark.parametrize(
        ("fields", "expected"),
        [
            ({"party": [{}]}, "party: Expected `array` of length >= 2."),
            ({"party": [{}] * 29}, "party: Expected `array` of length <= 28."),
            ({"party": [{}, {"tickt": {}}]}, "Unknown key: party[1].tickt."),
            ({"party": [{}, {}], "ticket": {"issue": 2}}, "party: each of its tickets has its own ticket and history"),
        ],
    )
    def test_a_mistake_names_its_key(self, fields: dict[str, Any], expected: str) -> None:
        assert asked(**fields)["error"].startswith(expected)
