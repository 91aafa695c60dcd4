"""Makes and changes venues and gates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from shared.days import zone_named
from shared.errors import Conflict
from shared.ids import uuid7
from sync_server.audit.service import AuditLine, record
from sync_server.plumbing.database import announce
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.slugs import slug_of
from sync_server.venues import queries
from sync_server.venues.models import GateRecord, VenueRecord


def create_venue(session: Session, organisation_id: str, words: Mapping[str, Any], deed: Deed) -> VenueRecord:
    """A new venue; Conflict where its slug is taken, InvalidRequest for a time zone that does not exist."""
    zone_named(words["timezone"])
    slug = words.get("slug")
    if slug is None:
        slug = slug_of(words["name"], lambda taken: queries.slug_taken(session, organisation_id, taken))
    row = VenueRecord(
        **{**words, "slug": slug}, id=uuid7(deed.now, deed.entropy), organisation_id=organisation_id,
        created_at=deed.now, updated_at=deed.now,
    )  # fmt: skip
    session.add(row)
    _flush_or_say(session, f"Another venue has the slug {slug!r}. Choose another.", "slug_taken")
    _note(
        session,
        deed,
        "venue.created",
        kind="venue",
        subject=row.id,
        organisation_id=organisation_id,
        after={"name": row.name, "slug": row.slug},
    )
    return row


def change_venue(
    session: Session, organisation_id: str, venue_id: str, changes: Mapping[str, Any], deed: Deed
) -> VenueRecord:
    """Other words about a venue; events that were made before keep what they copied."""
    row = queries.venue(session, organisation_id, venue_id, lock=True)
    if changes.get("timezone") is not None:
        zone_named(changes["timezone"])
    before = _change(row, changes, deed.now)
    _flush_or_say(session, "Another venue has that slug. Choose another.", "slug_taken")
    _note(
        session,
        deed,
        "venue.changed",
        kind="venue",
        subject=row.id,
        organisation_id=organisation_id,
        before=before,
        after=dict(changes),
    )
    return row


def add_gate(session: Session, organisation_id: str, venue_id: str, words: Mapping[str, Any], deed: Deed) -> GateRecord:
    """A new entrance; gates of all this venue's events hear of it."""
    queries.venue(session, organisation_id, venue_id, lock=True)
    number = max((gate.number for gate in queries.gates(session, venue_id)), default=0) + 1
    row = GateRecord(
        **{**words, "name": words.get("name") or words["code"]}, venue_id=venue_id, number=number,
        organisation_id=organisation_id, created_at=deed.now, updated_at=deed.now,
    )  # fmt: skip
    session.add(row)
    _flush_or_say(session, f"This venue has a gate {row.code!r} already.", "gate_code_taken")
    subject = f"{venue_id}/{number}"
    _note(
        session,
        deed,
        "gate.created",
        kind="gate",
        subject=subject,
        organisation_id=organisation_id,
        after={"code": row.code, "name": row.name},
    )
    announce(session, "gates_changed", venue_id, deed.now)
    return row


def change_gate(
    session: Session, organisation_id: str, venue_id: str, number: int, *, changes: Mapping[str, Any], deed: Deed
) -> GateRecord:
    """Open, close or describe an entrance otherwise; gates hear of it within a second."""
    queries.venue(session, organisation_id, venue_id, lock=True)
    row = queries.gate(session, venue_id, number)
    before = _change(row, changes, deed.now)
    session.flush()
    subject = f"{venue_id}/{number}"
    _note(
        session,
        deed,
        "gate.changed",
        kind="gate",
        subject=subject,
        organisation_id=organisation_id,
        before=before,
        after=dict(changes),
    )
    announce(session, "gates_changed", venue_id, deed.now)
    return row


def _change(row: VenueRecord | GateRecord, changes: Mapping[str, Any], now: int) -> dict[str, Any]:
    before = {name: getattr(row, name) for name in changes}
    for name, value in changes.items():
        setattr(row, name, value)
    row.updated_at = now
    return before


def _flush_or_say(session: Session, words: str, code: str) -> None:
    try:
        session.flush()
    except IntegrityError:
        raise Conflict(words, code=code) from None


def _note(
    session: Session, deed: Deed, action: str, *, kind: str, subject: str, organisation_id: str,
    before: dict[str, Any] | None = None, after: dict[str, Any] | None = None,
) -> None:  # fmt: skip
    record(session, AuditLine(deed.actor, action, kind, subject, organisation_id, deed.now, before, after))
