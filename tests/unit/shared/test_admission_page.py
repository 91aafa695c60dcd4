"""docs/admission.md lists the real messages."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

from gate_app.whatif.simulator import run_case, run_line
from shared.admission import Readiness, decide
from shared.reasons import Reason
from shared.tickets import Refusal, TicketFlags
from shared.wire.snapshot import GateRow
from tests.unit.shared.attempt_builders import FLOOR, GATE_A, a_row, an_attempt

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "admission.md").read_text("utf-8")
CASES = json.loads((ROOT / "tests" / "vectors" / "admission.json").read_text("utf-8"))
HERE = replace(GATE_A, zones=(FLOOR + 1,))
STAIRS, RAMP = GateRow(3, "C", "Stairs"), GateRow(7, "G", "Ramp", step_free=True)
ROLLS = a_row(flags=TicketFlags.WHEELCHAIR)
BEYOND_CASES = (
    an_attempt(readiness=Readiness(ready=False, why="This device was revoked")),
    an_attempt(code=Refusal(Reason.STALE_PROOF)),
    an_attempt(event=None, other_event="Quartet on Sun 5 July at 20:00"),
    an_attempt(gate=HERE, gates=(HERE, STAIRS, RAMP)),
    an_attempt(gate=HERE, gates=(HERE, STAIRS, RAMP), row=ROLLS),
    an_attempt(gate=HERE, gates=(HERE, STAIRS), row=ROLLS),
    an_attempt(gate=None),
)


def said() -> set[tuple[str, str]]:
    """All messages from the collected cases and some others."""
    answered = {(answer["reason"], answer["message"]) for answer in map(run_case, CASES)}
    return answered | {(str(verdict.reason), verdict.message) for verdict in map(decide, BEYOND_CASES)}


def section(title: str) -> str:
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]


def test_every_sentence_on_the_page_is_said_by_a_gate() -> None:
    listed = set(re.findall(r"^\| `(\w+)` \| (.+) \|$", section("Every message"), re.MULTILINE))
    assert listed - said() == set()
    assert {reason for reason, _ in listed} == set(Reason)


def test_the_table_lists_every_answer_in_its_order() -> None:
    table = re.findall(r"^\| (\d+) \| `(\w+)` \|", PAGE, re.MULTILINE)
    assert [reason for _, reason in table] == list(Reason)
    assert [int(row) for row, _ in table] == sorted(int(row) for row, _ in table)


def test_every_notice_is_explained() -> None:
    explained = {notice.partition(":")[0] for notice in re.findall(r"^\| `([\w:<>]+)` \|", section("Notices"), re.M)}
    given = {notice.partition(":")[0] for answer in map(run_case, CASES) for notice in answer["notices"]}
    assert given | {"capacity_estimated"} == explained


def test_the_examples_are_answered_as_the_page_says() -> None:
    lines = re.findall(r"```json\n(.*?)\n```", section("Trying it out"), re.DOTALL)
    assert len(lines) == 4
    for question, answer in zip(lines[::2], lines[1::2], strict=True):
        assert run_line(question) == json.loads(answer)
