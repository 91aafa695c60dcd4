"""Chains of audit lines, made without a database."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sync_server.audit import rules
from sync_server.audit.chain_check import PersonalValues, SealedLine

SALT = b"s" * 16


def a_line(number: int = 1, **changed: Any) -> rules.Line:
    """A line that blocked a ticket."""
    line = rules.Line(
        id=f"line-{number}",
        organisation_id="org",
        at=1_000 + number,
        actor_kind="user",
        actor_id="olga",
        action="ticket_blocked",
        subject_kind="ticket",
        subject_id=str(number),
        before={"state": "valid"},
        after={"state": "blocked"},
        reason="stolen",
        approval="",
        request_id="",
        actor_digest=None,
        subject_digest=None,
    )
    return replace(line, **changed)


def a_chain(*lines: rules.Line) -> list[SealedLine]:
    """These lines, sealed in their order."""
    sealed, seal = [], rules.INITIAL_SEAL
    for seq, line in enumerate(lines or map(a_line, range(1, 6)), 1):
        seal = rules.seal(seal, seq, line.as_dict())
        sealed.append(SealedLine(seq, seal, line.as_dict()))
    return sealed


def with_address(number: int) -> tuple[rules.Line, PersonalValues]:
    """A line with the personal values of its actor."""
    content = rules.canonical({"ip": "192.0.2.7"})
    return a_line(number, actor_digest=rules.digest(SALT, content)), PersonalValues(SALT, content, erased=False)
