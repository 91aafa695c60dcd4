"""Lines of the audit log as sentences: facts say what happened in the catalogue, everything else in the texts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from sync_server.admin.page import words
from sync_server.outbox.catalogue import FACTS, audit_action

THINGS: Final = (
    *("event", "venue", "layout", "ticket_type", "ticket", "order", "hold", "customer", "membership", "code_batch"),
    *("device", "gate", "supervisor", "key", "user", "invitation", "token", "webhook", "organisation", "person"),
)
"""Kinds of subjects to filter by."""


@cache
def _facts() -> Mapping[str, str]:
    return {audit_action(name): kind.description for name, kind in FACTS.items()}


def sentence(action: str) -> str:
    """What happened; a code word of another version of the server is shown as it is, with spaces."""
    t = words()
    key = f"did.{action.replace('.', '_')}"
    return t(key) if key in t else _facts().get(action) or action.replace("_", " ").replace(".", ": ")
