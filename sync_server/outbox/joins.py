"""Counts who joined an event elsewhere: each message once in effect, in whatever order and however often it comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Unreadable
from sync_server.outbox import queries
from sync_server.plumbing.database import announce

STEPS: Final = {"join.confirmed": 1, "join.canceled": -1}
JOINED_ELSEWHERE: Final = "joined_elsewhere"
"""Announced in the same transaction, with a `Joined`, to whoever wants to show the number."""

_FIRST_TIME = text(
    "INSERT INTO processed_messages (message_id, processed_at) VALUES (:id, :now) ON CONFLICT DO NOTHING RETURNING 1"
)
_COUNT = text(
    "INSERT INTO joined_elsewhere (event_id, participants, updated_at) VALUES (:event, :step, :now) "
    "ON CONFLICT (event_id) DO UPDATE "
    "SET participants = joined_elsewhere.participants + excluded.participants, updated_at = excluded.updated_at"
)


@dataclass(frozen=True, slots=True)
class Join:
    """Somebody joined an event elsewhere, or left it again."""

    message_id: str
    event_id: str
    step: int


@dataclass(frozen=True, slots=True)
class Joined:
    """How many there are now, and by how many they became more or less."""

    event_id: str
    participants: int
    step: int


def read(routing_key: str, message_id: str | None, body: bytes) -> Join:
    """What a message of the joining service says; Unreadable where it says nothing that can be counted."""
    told = _json(body)
    name = message_id or told.get("message_id")
    event = told.get("event_id")
    if routing_key not in STEPS:
        raise Unreadable(f"Nothing is known here of messages with the routing key {routing_key!r}.")
    if not _fits(name, 64):
        raise Unreadable("The message has no message_id, so that nobody could tell it from its repetition.")
    if not _fits(event, 36):
        raise Unreadable("The message names no event_id.")
    return Join(str(name), str(event), STEPS[routing_key])


def _json(body: bytes) -> dict[str, Any]:
    try:
        told = orjson.loads(body)
    except orjson.JSONDecodeError:
        told = None
    if not isinstance(told, dict):
        raise Unreadable("The message is no JSON object.")
    return told


def _fits(word: object, longest: int) -> bool:
    return isinstance(word, str) and 0 < len(word) <= longest and "\0" not in word  # PostgreSQL keeps no such text


def count(session: Session, join: Join, now: Millis) -> bool:
    """Let a join have its effect; False where it had it before."""
    if session.execute(_FIRST_TIME, {"id": join.message_id, "now": now}).first() is None:
        return False
    session.execute(_COUNT, {"event": join.event_id, "step": join.step, "now": now})
    number = queries.joined_elsewhere(session, [join.event_id]).get(join.event_id, 0)
    announce(session, JOINED_ELSEWHERE, Joined(join.event_id, number, join.step), now)
    return True
