"""The queue of imports: what is received, waits, is claimed by a worker, and ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from msgspec import structs
from sqlalchemy import ColumnElement, and_, delete, exists, func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from shared.clock import Millis
from shared.errors import Conflict, NotFound
from shared.ids import uuid7
from shared.wire.compression import compressed
from sync_server.audit.service import AuditLine, record
from sync_server.plumbing.api.pagination import AnId, Page, decode_cursor, paginate
from sync_server.plumbing.database import Database
from sync_server.plumbing.due import due_if_any, organisations_due
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.waking import wake
from sync_server.seating import queries
from sync_server.seating.models import ImportPartRecord, ImportRecord
from sync_server.seating.zone_access.guest_lists import ZoneList
from sync_server.venues import queries as venues

IMPORT: Final = "seating.import"
"""The job that works on them."""
PART_BYTES: Final = 2 * 1024 * 1024
"""Of the file, before it is compressed: one transaction stores one part."""
MOST_OPEN: Final = 20
"""Imports of one organisation that may wait."""
LOST_AFTER_MS: Final = 30_000
"""A worker that was not seen for so long has gone, and another takes over."""
RECEIVED_WITHIN_MS: Final = 600_000
"""A file that has not arrived by then never will."""
MOST_ATTEMPTS: Final = 3
"""So often workers may be lost with an import before it is given up."""
KEPT_MS: Final = 30 * 86_400_000
"""How long the result of an import can be looked at."""

GUESTS: Final = "guests"
"""The format of a guest list."""

_R = ImportRecord
OPEN: Final = ("receiving", "waiting", "running")


@dataclass(frozen=True, slots=True)
class Upload:
    """A layout to import: where to, and in which form."""

    venue_id: str
    layout_id: str | None  # of which it is to be a new version
    format: str
    name: str
    focus: tuple[float | None, float | None] = (None, None)  # of the whole plan, whatever the file says

    def columns(self, session: Session, organisation_id: str, id: str) -> dict[str, Any]:
        """What the import's row says of it; NotFound for a layout that the venue does not have."""
        x, y = self.focus
        named = {"venue_id": self.venue_id, "format": self.format, "name": self.name, "focus_x": x, "focus_y": y}
        return named | {"layout_id": id, "family_id": self._family(session, organisation_id) or id}

    def _family(self, session: Session, organisation_id: str) -> str | None:
        if self.layout_id is None:
            return None
        return queries.layout(session, organisation_id, self.layout_id, venue_id=self.venue_id).family_id


@dataclass(frozen=True, slots=True)
class GuestUpload:
    """Guests to add to the list of a zone."""

    guest_list: ZoneList
    venue_id: str
    guests: int

    def columns(self, _session: Session, _organisation_id: str, _id: str) -> dict[str, Any]:
        """What the import's row says of it."""
        zone = {"event_id": self.guest_list.event_id, "zone_id": self.guest_list.zone_id}
        return zone | {"venue_id": self.venue_id, "format": GUESTS, "name": "", "rows": self.guests}


def receive(
    session: Session, organisation_id: str, upload: Upload | GuestUpload, context: ActionContext
) -> ImportRecord:
    """Note that a file is about to arrive; `store_file` stores it."""
    venues.venue(session, organisation_id, upload.venue_id, lock=True)
    mine = _R.organisation_id == organisation_id, _R.state.in_(OPEN)
    if session.scalar(select(func.count()).where(*mine)) >= MOST_OPEN:  # type: ignore[operator]  # a count is never None
        raise Conflict(
            f"{MOST_OPEN} imports are waiting already. Wait until some have ended, or cancel some.",
            code="too_many_imports",
        )
    id = uuid7(context.now, context.entropy)
    row = ImportRecord(
        organisation_id=organisation_id,
        id=id,
        state="receiving",
        seen_at=context.now,
        started_by=structs.asdict(context.actor),
        created_at=context.now,
        **upload.columns(session, organisation_id, id),
    )
    session.add(row)
    session.flush()
    _note(session, row, "import_started", context)
    return row


def pieces(body: bytes) -> Iterator[bytes]:
    """A file in the pieces that are stored each by itself."""
    return (body[start : start + PART_BYTES] for start in range(0, len(body), PART_BYTES))


def store_parts(database: Database, organisation_id: str, import_id: str, pieces: Iterable[bytes]) -> None:
    """Store these parts, each in a transaction of its own; then the import waits for a worker."""
    for number, piece in enumerate(pieces):
        part = compressed(piece)
        with database.writing() as session:
            session.add(
                ImportPartRecord(organisation_id=organisation_id, import_id=import_id, number=number, body=part)
            )
    with database.writing() as session:
        mine = _R.organisation_id == organisation_id, _R.id == import_id
        session.execute(update(_R).where(*mine, _R.state == "receiving").values(state="waiting"))
        wake(session, IMPORT)


def parts(database: Database, organisation_id: str, import_id: str) -> Iterator[bytes]:
    """The parts of the file, in order."""
    mine = (
        ImportPartRecord.organisation_id == organisation_id,
        ImportPartRecord.import_id == import_id,
    )
    number = 0
    while True:
        with database.reading() as session:
            wanted = select(ImportPartRecord.body).where(*mine, ImportPartRecord.number == number)
            body = session.scalar(wanted)
        if body is None:
            return
        yield body
        number += 1


def find(session: Session, organisation_id: str, import_id: str, *, lock: bool = False) -> ImportRecord:
    """That import of this organisation, or NotFound."""
    wanted = select(_R).where(_R.organisation_id == organisation_id, _R.id == import_id)
    row = session.execute(wanted.with_for_update() if lock else wanted).scalar_one_or_none()
    if row is None:
        raise NotFound("There is no such import.", code="import_not_found")
    return row


def imports(session: Session, organisation_id: str, *, limit: int, after: str | None) -> Page[ImportRecord]:
    """The organisation's imports, the newest first."""
    wanted = select(_R).where(_R.organisation_id == organisation_id).order_by(_R.id.desc())
    start = decode_cursor(after, AnId)
    if start is not None:
        wanted = wanted.where(_R.id < start[0])
    return paginate(session.scalars(wanted.limit(limit + 1)).all(), limit, lambda row: (row.id,))


def cancel(session: Session, organisation_id: str, import_id: str, context: ActionContext) -> ImportRecord:
    """Ask for the end of an import: the worker deletes what is stored of it. Conflict where it has ended."""
    row = find(session, organisation_id, import_id, lock=True)
    if row.state not in OPEN or row.ending == "failed":
        raise Conflict("This import has already ended.", code="import_ended")
    if not row.ending:
        row.ending = "cancelled"
        _note(session, row, "import_cancelled", context)
        wake(session, IMPORT)
    session.flush()
    return row


def any_due(session: Session, now: Millis) -> Millis | None:
    """At once, where any import of any organisation can be worked on."""
    return due_if_any(session, _R.organisation_id, _due(now))


def _due(now: Millis) -> ColumnElement[bool]:
    lost = and_(_R.state == "running", _R.seen_at <= now - LOST_AFTER_MS)
    never_came = and_(_R.state == "receiving", or_(_R.seen_at <= now - RECEIVED_WITHIN_MS, _R.ending != ""))
    other = aliased(_R)
    busy = exists().where(
        other.organisation_id == _R.organisation_id,
        other.state == "running",
        other.seen_at > now - LOST_AFTER_MS,
    )
    return or_(lost, and_(or_(_R.state == "waiting", never_came), ~busy))


def claim(database: Database, context: ActionContext) -> ImportRecord | None:
    """The next import to work on, of any organisation, claimed by this worker; None if there is none.

    One import of an organisation runs at a time: the database refuses a second one.
    """
    now = database.clock()
    with database.autocommit_reading() as session:
        owners = organisations_due(session, _R.organisation_id, _due(now))
    for organisation_id in owners:
        try:
            with database.writing() as session:
                row = _claimed(session, organisation_id, now, uuid7(now, context.entropy))
        except IntegrityError:
            continue  # another worker was faster
        if row is not None:
            return row
    return None


def _claimed(session: Session, organisation_id: str, now: Millis, claim_id: str) -> ImportRecord | None:
    mine = _R.organisation_id == organisation_id
    # What a lost worker has begun comes before what waits.
    wanted = select(_R).where(mine, _due(now)).order_by(_R.state, _R.id).limit(1)
    row = session.execute(wanted.with_for_update(skip_locked=True)).scalar_one_or_none()
    if row is None:
        return None
    if row.state == "receiving" and not row.ending:
        row.ending = "failed"
        row.problem = problem("import_interrupted", "The file did not arrive completely. Send it again.")
    row.state, row.claim, row.seen_at, row.attempts = "running", claim_id, now, row.attempts + 1
    if row.attempts > MOST_ATTEMPTS and not row.ending:
        row.ending = "failed"
        row.problem = problem(
            "import_failed", "The server could not finish this import. Split the file, or ask the operator to look."
        )
    session.flush()
    return row


def problem(code: str, message: str, **details: Any) -> dict[str, Any]:
    """Why an import fails, in the form of every error."""
    return {"code": code, "message": message, "details": details}


def finish(session: Session, row: ImportRecord, state: str, now: Millis) -> None:
    """End an import: its file and who sent it are deleted, its result stays for a month."""
    mine = (
        ImportPartRecord.organisation_id == row.organisation_id,
        ImportPartRecord.import_id == row.id,
    )
    session.execute(delete(ImportPartRecord).where(*mine))
    row.state, row.claim, row.started_by, row.finished_at = state, None, {}, now
    session.flush()


def delete_old(session: Session, context: ActionContext) -> None:
    """Delete what ended long ago."""
    old = _R.finished_at < context.now - KEPT_MS
    for organisation_id in organisations_due(session, _R.organisation_id, old):
        session.execute(delete(_R).where(_R.organisation_id == organisation_id, old))


def _note(session: Session, row: ImportRecord, action: str, context: ActionContext) -> None:
    after: dict[str, Any]
    if row.layout_id is None:
        kind, subject, after = "guest", ("event", str(row.event_id)), {"zone": row.zone_id, "guests": row.rows}
    else:
        kind, subject, after = "layout", ("layout", row.layout_id), {"venue": row.venue_id, "format": row.format}
    record(session, AuditLine(context, f"{kind}_{action}", *subject, row.organisation_id, None, after))
