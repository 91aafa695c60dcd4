"""Simulates the admission rules: one case per line in, the gate's answer per line out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from gate_app.whatif.case_attempt import attempt_of
from gate_app.whatif.case_format import read_case
from shared.admission import decide
from shared.errors import GatehouseError, InvalidRequest
from shared.reasons import Reason


def run_line(line: str) -> dict[str, Any]:
    """The answer to one case: name, verdict, reason, message, notices; and `error` if the line is not a valid case."""
    try:
        raw = _parsed(line)
    except InvalidRequest as wrong:
        return _error_answer(None, wrong)
    return run_case(raw)


def run_case(raw: Any) -> dict[str, Any]:
    """The answer to a parsed case."""
    try:
        case = read_case(raw)
        verdict = decide(attempt_of(case))
    except GatehouseError as wrong:
        return _error_answer(raw, wrong)
    return _answer(case.name, "admit" if verdict.admitted else "deny", verdict.reason, verdict.message, verdict.notices)


def answers(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """One answer per case as the lines come; skips blank lines, and also takes one JSON list of cases."""
    rest = iter(lines)
    for line in rest:
        if line.lstrip().startswith("["):
            yield from _of_list("".join((line, *rest)))
        elif line.strip():
            yield run_line(line)


def _of_list(text: str) -> Iterator[dict[str, Any]]:
    try:
        cases = _parsed(text)
    except InvalidRequest as wrong:
        yield _error_answer(None, wrong)
        return
    yield from map(run_case, cases)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_reject_constant)
    except (ValueError, RecursionError) as wrong:
        where = f" (column {wrong.colno})" if isinstance(wrong, json.JSONDecodeError) else ""
        raise InvalidRequest(f"This line is not JSON{where}. Write one case per line, as a JSON object.") from wrong


def _reject_constant(word: str) -> float:
    raise ValueError(f"{word} is not a number")


def _error_answer(raw: Any, wrong: GatehouseError) -> dict[str, Any]:
    name = raw.get("name") if isinstance(raw, dict) else None
    answer = _answer(name if isinstance(name, str) else None, None, None, wrong.message, ())
    return {**answer, "error": answer["message"]}


def _answer(
    name: str | None, verdict: str | None, reason: Reason | None, message: str, notices: tuple[str, ...]
) -> dict[str, Any]:
    return {
        "name": name and _printable(name),
        "verdict": verdict,
        "reason": reason and str(reason),
        "message": _printable(message),
        "notices": [_printable(notice) for notice in notices],
    }


def _printable(text: str) -> str:
    # JSON may contain lone surrogates, which cannot be written to a terminal or a file.
    return text.encode("utf-8", "replace").decode()
