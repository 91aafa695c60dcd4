"""An organiser's simulator: one admission case a line in, what the gate would answer a line out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from gate_app.whatif_form import read_case
from gate_app.whatif_stage import attempt_of
from shared.admission import decide
from shared.errors import GatehouseError, InvalidRequest
from shared.reasons import Reason


def run_line(line: str) -> dict[str, Any]:
    """The answer to one case: name, verdict, reason, message, notices; and `error` where the line is no case."""
    try:
        raw = _parsed(line)
    except InvalidRequest as wrong:
        return _mistaken(None, wrong)
    return run_case(raw)


def run_case(raw: Any) -> dict[str, Any]:
    """The same for a case that has been parsed already."""
    try:
        case = read_case(raw)
        verdict = decide(attempt_of(case))
    except GatehouseError as wrong:
        return _mistaken(raw, wrong)
    return _answer(case.name, "admit" if verdict.admitted else "deny", verdict.reason, verdict.message, verdict.notices)


def answers(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """One answer a case, as the lines come; blank ones are passed over, and one JSON list of cases is taken as well."""
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
        yield _mistaken(None, wrong)
        return
    yield from map(run_case, cases)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as wrong:
        where = f" (column {wrong.colno})" if isinstance(wrong, json.JSONDecodeError) else ""
        raise InvalidRequest(f"This line is not JSON{where}. Write one case a line, as one JSON object.") from wrong


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number")


def _mistaken(raw: Any, wrong: GatehouseError) -> dict[str, Any]:
    name = raw.get("name") if isinstance(raw, dict) else None
    told = _answer(name if isinstance(name, str) else None, None, None, wrong.message, ())
    return {**told, "error": told["message"]}


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
    # JSON may hold half a character, which no terminal and no file can.
    return text.encode("utf-8", "replace").decode()
