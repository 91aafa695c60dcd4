"""Makes and changes venues and gates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from shared.errors import Conflict
from shared.ids import uuid7
from sync_server.audit.service import AuditLine, record
from sync_server.outbox.service import Fact
from sync_server.outbox.service import record as record_fact
from sync_server.plumbing.database import announce
from sync_server.plumbing.folding import fold
from sync_server.plumbing.principals import Deed
from sync_server.plumbing.slugs import slug_of
from sync_server.venues import queries, rules
from sync_server.venues.models import GateRecord, VenueRecord

USES_ASKED: Final = "venue_uses_asked"
ROOM_ASKED: Final = "venue_room_asked"
_FACTS: Final = {
    "venue.created": "venue_created",
    "venue.changed": "venue_changed",
    "venue.archived": "venue_archived",
    "venue.restored": "venue_restored",
    "venue.deleted": "venue_deleted",
    "gate.created": "gate_created",
    "gate.changed": "gate_changed",
}
_TEXTS: Final = frozenset({"address", "city", "country", "website"})


def create_venue(session: Session, organisation_id: str, words: Mapping[str, Any], deed: Deed) -> VenueRecord:
    """A new venue; Conflict where its slug is taken, InvalidRequest for a place or time zone that cannot be."""
    slug = words.get("slug")
    if slug is None:
        slug = slug_of(words["name"], lambda taken: queries.slug_taken(session, organisation_id, taken), "venue")
    row = VenueRecord(
        id=uuid7(deed.now, deed.entropy), organisation_id=organisation_id, created_at=deed.now, updated_at=deed.now
    )
    _change(row, _as_kept({**words, "slug": slug}), deed.now)
    _place(row)
    session.add(row)
    _flush_or_say(session, f"Another venue has the slug {slug!r}. Choose another.", "slug_taken")
    _note_venue(session, deed, "venue.created", row, after={"name": row.name, "slug": row.slug})
    return row


def change_venue(
    session: Session, organisation_id: str, venue_id: str, changes: Mapping[str, Any], deed: Deed
) -> VenueRecord:
    """Other words about a venue; events that were made before keep what they copied."""
    row = queries.venue(session, organisation_id, venue_id, lock=True)
    kept = _as_kept(changes)
    before = _change(row, kept, deed.now)
    _place(row)
    if kept.get("max_capacity"):
        planned: dict[str, int] = {}
        announce(session, ROOM_ASKED, (venue_id, planned), deed.now)  # higher floors say what they have planned for
        rules.check_holds(row.max_capacity, planned)
    _flush_or_say(session, "Another venue has that slug. Choose another.", "slug_taken")
    _note_venue(session, deed, "venue.changed", row, before=before, after=kept)
    return row


def archive_venue(session: Session, organisation_id: str, venue_id: str, deed: Deed) -> VenueRecord:
    """Take a venue out of the lists; what takes place there goes on, nothing new is planned there."""
    row = queries.venue(session, organisation_id, venue_id, lock=True)
    if row.archived_at is None:
        row.archived_at = row.updated_at = deed.now
        session.flush()
        _note_venue(session, deed, "venue.archived", row)
    return row


def restore_venue(session: Session, organisation_id: str, venue_id: str, deed: Deed) -> VenueRecord:
    """Take a venue back out of the archive."""
    row = queries.venue(session, organisation_id, venue_id, lock=True)
    if row.archived_at is not None:
        row.archived_at, row.updated_at = None, deed.now
        session.flush()
        _note_venue(session, deed, "venue.restored", row)
    return row


def delete_venue(session: Session, organisation_id: str, venue_id: str, deed: Deed) -> None:
    """Delete a venue with its gates for good; Conflict `venue_in_use` where anything else hangs on it."""
    row = queries.venue(session, organisation_id, venue_id, lock=True)
    uses: dict[str, int] = {}
    announce(session, USES_ASKED, (venue_id, uses), deed.now)  # higher floors count what they keep there
    rules.check_unused(uses)
    for gate in queries.gates(session, venue_id):
        session.delete(gate)
    session.flush()
    session.delete(row)
    _flush_or_say(session, "Something belongs to this venue. Put it into the archive instead.", "venue_in_use")
    _note_venue(session, deed, "venue.deleted", row, before={"name": row.name, "slug": row.slug})


def add_gate(session: Session, organisation_id: str, venue_id: str, words: Mapping[str, Any], deed: Deed) -> GateRecord:
    """A new entrance; gates of all this venue's events hear of it."""
    queries.venue(session, organisation_id, venue_id, lock=True)
    number = max((gate.number for gate in queries.gates(session, venue_id)), default=0) + 1
    row = GateRecord(
        **{**words, "name": words.get("name") or words["code"]},
        venue_id=venue_id,
        number=number,
        organisation_id=organisation_id,
        created_at=deed.now,
        updated_at=deed.now,
    )
    session.add(row)
    _flush_or_say(session, f"This venue has a gate {row.code!r} already.", "gate_code_taken")
    _note_gate(session, deed, "gate.created", row, after={"code": row.code, "name": row.name})
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
    _note_gate(session, deed, "gate.changed", row, before=before, after=dict(changes))
    announce(session, "gates_changed", venue_id, deed.now)
    return row


def _as_kept(words: Mapping[str, Any]) -> dict[str, Any]:
    """The words of a request as the table has them: texts that nobody gave are empty, unset settings are none."""
    kept: dict[str, Any] = {name: "" if value is None and name in _TEXTS else value for name, value in words.items()}
    if kept.get("country"):
        kept["country"] = rules.country_of(kept["country"])
    if "settings" in kept:
        kept["settings"] = {key: value for key, value in kept["settings"].items() if value is not None}
    return kept


def _place(row: VenueRecord) -> None:
    rules.check_timezone(row.timezone)
    rules.check_coordinates(row.latitude, row.longitude)
    row.city_norm = fold(row.city)


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


def _note_venue(
    session: Session,
    deed: Deed,
    action: str,
    row: VenueRecord,
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    line = AuditLine(deed.actor, action, "venue", row.id, row.organisation_id, deed.now, before, after)
    _note(session, line, {"venue": row.id})


def _note_gate(
    session: Session,
    deed: Deed,
    action: str,
    row: GateRecord,
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    where, subject = row.organisation_id, f"{row.venue_id}/{row.number}"
    line = AuditLine(deed.actor, action, "gate", subject, where, deed.now, before, after)
    _note(session, line, {"venue": row.venue_id, "gate": row.number})


def _note(session: Session, line: AuditLine, subjects: dict[str, Any]) -> None:
    """A line in the log, and the same as a fact for whoever shows houses."""
    record(session, line)
    told = {"before": line.before, "after": line.after}
    record_fact(session, Fact(_FACTS[line.action], str(line.organisation_id), line.at, subjects, told))
