"""Chains of audit lines, made without a database."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sync_server.audit import rules
from sync_server.audit.following import Apart, Link

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


def a_chain(*lines: rules.Line) -> list[Link]:
    """These lines, sealed in their order."""
    links, seal = [], rules.START
    for seq, line in enumerate(lines or map(a_line, range(1, 6)), 1):
        seal = rules.seal(seal, seq, line.told())
        links.append(Link(seq, seal, line.told()))
    return links


def with_address(number: int) -> tuple[rules.Line, Apart]:
    """A line whose actor's address is kept apart."""
    content = rules.canonical({"ip": "192.0.2.7"})
    return a_line(number, actor_digest=rules.digest(SALT, content)), Apart(SALT, content, erased=False)
