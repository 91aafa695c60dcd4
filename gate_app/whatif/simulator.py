"""Simulates the admission rules: one case per line in, the gate's answer per line out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from io import StringIO
from typing import Any

from gate_app.whatif.case_attempt import attempt_of
from gate_app.whatif.case_format import read_case
from gate_app.whatif.case_party import PartyVerdict, decide_party
from shared.admission import Verdict, decide
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
        if case.party is not None:
            return _party_answer(case.name, decide_party(case, case.party))
        verdict = decide(attempt_of(case))
    except GatehouseError as wrong:
        return _error_answer(raw, wrong)
    return _answer(case.name, _word(verdict), verdict.reason, verdict.message, verdict.notices)


def _party_answer(name: str, party: PartyVerdict) -> dict[str, Any]:
    members = [_answer(None, _word(one), one.reason, one.message, one.notices) for one in party.members]
    for member in members:
        del member["name"]
    verdict = "admit" if party.admitted else "deny"
    return _answer(name, verdict, party.first.reason, party.message, party.notices) | {"party": members}


def _word(verdict: Verdict) -> str:
    return "admit" if verdict.admitted else "deny"


def answers(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """One answer per case as the lines come; skips blank lines. A JSON list of cases is taken too.

    Only the first list may go over several lines: where one is never closed, nobody can tell which lines belong to it.
    """
    rest, may_span = iter(lines), True
    while (line := next(rest, None)) is not None:
        if line.lstrip().startswith("[") and may_span and not _is_json(line):
            may_span = False
            cases, line, rest = _spanning(line, rest)
            yield from map(run_case, cases)
        if line.strip():
            yield from _of_line(line)


def _spanning(line: str, rest: Iterator[str]) -> tuple[list[Any], str, Iterator[str]]:
    """The cases of a list that begins in this line, and the line and lines to go on with."""
    text = "".join((line, *rest))
    try:
        cases, end = _DECODER.raw_decode(text, len(text) - len(text.lstrip()))
    except (ValueError, RecursionError):
        return [], line, _lines(text[len(line) :])
    behind = text[end:]
    if behind.strip() and behind.lstrip(" \t\r")[:1] != "\n":
        return [], line, _lines(text[len(line) :])
    return cases, "", _lines(behind)


def _lines(text: str) -> Iterator[str]:
    # Not splitlines(): a JSON text may contain other separators than line feeds.
    return iter(StringIO(text))


def _of_line(line: str) -> Iterator[dict[str, Any]]:
    if not line.lstrip().startswith("["):
        yield run_line(line)
        return
    try:
        cases = _parsed(line)
    except InvalidRequest as wrong:
        yield _error_answer(None, wrong)
        return
    yield from map(run_case, cases)


def _is_json(line: str) -> bool:
    try:
        _parsed(line)
    except InvalidRequest:
        return False
    return True


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_reject_constant)
    except (ValueError, RecursionError) as wrong:
        where = f" (column {wrong.colno})" if isinstance(wrong, json.JSONDecodeError) else ""
        raise InvalidRequest(f"This line is not JSON{where}. Write one case per line, as a JSON object.") from wrong


def _reject_constant(word: str) -> float:
    raise ValueError(f"{word} is not a number")


_DECODER = json.JSONDecoder(parse_constant=_reject_constant)


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
