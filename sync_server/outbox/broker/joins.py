"""Counts participants who joined an event elsewhere: each message once, however often and in any order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import orjson
from sqlalchemy import text
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Unreadable
from shared.ids import is_uuid
from sync_server.outbox import queries
from sync_server.outbox.signals import JoinedElsewhere
from sync_server.plumbing.signals import send

STEPS: Final = {"join.confirmed": 1, "join.canceled": -1}

_MARK_PROCESSED = text(
    "INSERT INTO processed_messages (message_id, processed_at) VALUES (:id, :now) ON CONFLICT DO NOTHING RETURNING 1"
)
_COUNT = text(
    "INSERT INTO joined_elsewhere (event_id, participants, updated_at) VALUES (:event, :step, :now) "
    "ON CONFLICT (event_id) DO UPDATE "
    "SET participants = joined_elsewhere.participants + excluded.participants, updated_at = excluded.updated_at"
)


@dataclass(frozen=True, slots=True)
class Join:
    """Somebody joined an event elsewhere, or cancelled."""

    message_id: str
    event_id: str
    step: int


def read(routing_key: str, message_id: str | None, body: bytes) -> Join:
    """Decode a message of the join service; raises Unreadable where it cannot be counted."""
    payload = _json(body)
    key = message_id or payload.get("message_id")
    event = payload.get("event_id")
    if routing_key not in STEPS:
        raise Unreadable(f"Messages with the routing key {routing_key!r} are not known here.")
    if not _fits(key, 64):
        raise Unreadable("The message has no message_id, so a repetition could not be recognised.")
    if not isinstance(event, str) or not is_uuid(event):
        raise Unreadable("The message has no event_id, or none that is a UUID.")
    return Join(str(key), str(event), STEPS[routing_key])


def _json(body: bytes) -> dict[str, Any]:
    try:
        payload = orjson.loads(body)
    except orjson.JSONDecodeError:
        payload = None
    if not isinstance(payload, dict):
        raise Unreadable("The message is not a JSON object.")
    return payload


def _fits(value: object, max_length: int) -> bool:
    # PostgreSQL text cannot contain NUL.
    return isinstance(value, str) and 0 < len(value) <= max_length and "\0" not in value


def count(session: Session, join: Join, now: Millis) -> bool:
    """Count a join; False where it was counted before."""
    if session.execute(_MARK_PROCESSED, {"id": join.message_id, "now": now}).first() is None:
        return False
    session.execute(_COUNT, {"event": join.event_id, "step": join.step, "now": now})
    number = queries.joined_elsewhere(session, [join.event_id]).get(join.event_id, 0)
    send(session, JoinedElsewhere(join.event_id, number, join.step, now))
    return True
