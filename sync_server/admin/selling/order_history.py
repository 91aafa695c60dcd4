"""All that happened to an order, told in sentences: from its lines in the audit log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from shared.clock import Millis
from sync_server.audit.queries import StoredLine
from sync_server.outbox.catalogue import kind_of
from sync_server.plumbing.language.texts import Translator

_OF_ITS_OWN: Final = frozenset({"user", "platform"})


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that happened."""

    at: Millis
    what: str
    look: str
    cents: int | None
    currency: str
    who: str
    reason: str


def history(lines: Iterable[StoredLine], names: Mapping[str, str], t: Translator) -> list[Happening]:
    """What happened, the latest first."""
    return [_happening(line, names, t) for line in lines]


def _happening(line: StoredLine, names: Mapping[str, str], t: Translator) -> Happening:
    row = line.row
    after, key = row.after or {}, f"happened.{row.action.replace('.', '_')}"
    what = t(key) if key in t else row.action.replace("_", " ").replace(".", " ")
    look = kind_of(row.action).look
    who = names.get(row.actor_id or "", "") if row.actor_kind in _OF_ITS_OWN else ""
    kind = f"actor.{row.actor_kind}"
    said = who or (t(kind) if kind in t else row.actor_kind)
    return Happening(row.at, what, look, after.get("cents"), after.get("currency", ""), said, row.reason)
