"""Every answer of a gate as a screen gets it: for each reason the message that is longest in any language."""

from __future__ import annotations

from functools import cache

from gate_app.whatif.case_attempt import attempt_of
from gate_app.whatif.case_format import read_case
from shared.admission import Verdict, decide
from shared.errors import GatehouseError
from shared.words.wording import LANGUAGES, in_language
from tests.unit.shared.test_admission_page import BEYOND_CASES, CASES


@cache
def longest_verdicts() -> dict[str, Verdict]:
    """By reason: what a gate says, in the case in which it says most."""
    longest: dict[str, Verdict] = {}
    for verdict in [*map(decide, BEYOND_CASES), *_of_cases()]:
        before = longest.get(str(verdict.reason))
        if before is None or _length(verdict) > _length(before):
            longest[str(verdict.reason)] = verdict
    return longest


def _of_cases() -> list[Verdict]:
    found = []
    for case in CASES:
        try:
            found.append(decide(attempt_of(read_case(case))))
        except GatehouseError:
            continue
    return found


def _length(verdict: Verdict) -> int:
    return max(len(in_language(verdict.message, language)) for language in LANGUAGES)
