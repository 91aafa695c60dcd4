"""How far each reader has come with an organisation's facts, and who goes on with them: positions, leases, cursors."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from sqlalchemy import ColumnElement, Row, Table, bindparam, delete, func, select, text, union, update
from sqlalchemy.orm import Session, aliased

from shared.clock import Millis
from sync_server.outbox.models import CursorRow, OutboxRow
from sync_server.outbox.retries import organisations_due
from sync_server.plumbing.database import database_of
from sync_server.plumbing.jobs import Message

FORGOTTEN_AFTER_MS: Final = 24 * 3600 * 1000
"""A reader that has not moved for so long, although there were facts, has gone."""
RELAY: Final = "relay"
"""The reader that gives facts their positions and hands them to subscribers and the bus."""
BROKER: Final = "broker"
LEASE_MS: Final = 15_000
"""Longer than anybody waits for the broker. What a dead worker has leased is delivered by nobody until then."""


class LeaseLostError(Exception):
    """Another worker has gone on with these facts."""


FACT_COLUMNS = (
    OutboxRow.message_id,
    OutboxRow.name,
    OutboxRow.organisation_id,
    OutboxRow.created_at,
    OutboxRow.subjects,
    OutboxRow.payload,
    OutboxRow.position,
    OutboxRow.stream,
    OutboxRow.trace,
)


def message(row: Row[Any] | OutboxRow, attempts: int = 1) -> Message:
    """The message of a row with these columns."""
    return Message(
        row.message_id,
        row.name,
        row.organisation_id,
        row.created_at,
        row.subjects,
        row.payload,
        attempts,
        row.position or 0,
        row.stream,
        row.trace or "",
    )


# Without statistics the planner would scan a week's facts to find a few. Losing the lease in a power cut is no harm,
# and positions are durable with the first subscriber that has written what follows from them.
_SETTINGS = text("SELECT set_config('synchronous_commit', 'off', true), set_config('enable_seqscan', 'off', true)")
_START = text(
    "INSERT INTO outbox_cursors (organisation_id, reader, position, leased_until) "
    "VALUES (:organisation_id, :reader, :position, :until) ON CONFLICT DO NOTHING RETURNING position"
)
# By where the row is, which nobody changes before it has its position: its key would be looked up once more.
_NUMBER: Final = """
UPDATE outbox SET position = :before + numbered.place, relayed_at = :now
FROM (
  SELECT address, row_number() OVER (ORDER BY written_at, tie) AS place
  FROM (
    SELECT {address} AS address, written_at, {tie} AS tie FROM outbox
    WHERE organisation_id = :organisation_id AND position IS NULL ORDER BY written_at, {tie} LIMIT :limit
  ) AS oldest
) AS numbered
WHERE outbox.organisation_id = :organisation_id AND outbox.{address} = numbered.address
RETURNING {columns}"""
_COLUMNS: Final = ", ".join(f"outbox.{column.key}" for column in FACT_COLUMNS)
_NUMBER_POSTGRESQL = text(_NUMBER.format(address="ctid", tie="message_id", columns=_COLUMNS)).columns(*FACT_COLUMNS)
_NUMBER_SQLITE = text(_NUMBER.format(address="rowid", tie="rowid", columns=_COLUMNS)).columns(*FACT_COLUMNS)


def _behind(which: ColumnElement[bool]) -> Any:
    relay = aliased(CursorRow)
    given = relay.organisation_id == CursorRow.organisation_id, relay.reader == RELAY
    return (
        select(CursorRow.organisation_id)
        .join(relay, given[0] & given[1])
        .where(which, CursorRow.position < relay.position)
    )


def _leasing() -> Any:
    row = _CURSORS.c
    free = row.organisation_id.in_(_THESE), row.reader == _READER, row.leased_until <= bindparam("now")
    unlocked = select(row.organisation_id).where(*free).order_by(row.organisation_id)
    these = row.organisation_id.in_(unlocked.with_for_update(skip_locked=True)), row.reader == _READER
    taken = update(_CURSORS).where(*these).values(leased_until=bindparam("until"))
    return taken.returning(row.organisation_id, row.position)


# Built once: that costs more than running them.
_CURSORS: Final = cast(Table, CursorRow.__table__)
_THESE: Final[Any] = bindparam("organisations", expanding=True)
_READER: Final[Any] = bindparam("by")
_NEW: Final = select(OutboxRow.organisation_id).where(OutboxRow.position.is_(None))
_DUE: Final = union(_NEW, organisations_due(broker=False))
_DUE_OR_LEFT: Final = union(_NEW, organisations_due(broker=False), _behind(CursorRow.reader.not_in([RELAY, BROKER])))
_DUE_FOR_BROKER: Final = union(organisations_due(broker=True), _behind(CursorRow.reader == BROKER))
_LEASE: Final = _leasing()
_RELEASE: Final = (
    update(_CURSORS)
    .where(_CURSORS.c.organisation_id.in_(_THESE), _CURSORS.c.reader == _READER)
    .where(_CURSORS.c.leased_until == bindparam("until"))
    .values(leased_until=0)
)
_POSITIONS: Final = select(_CURSORS.c.organisation_id, _CURSORS.c.reader, _CURSORS.c.position).where(
    _CURSORS.c.organisation_id.in_(_THESE)
)
_MOVE: Final = (
    update(_CURSORS)
    .where(_CURSORS.c.organisation_id == bindparam("organisation"), _CURSORS.c.position == bindparam("before"))
    .where(_CURSORS.c.reader.in_(bindparam("readers", expanding=True)))
    .values(position=bindparam("after"))
    .returning(_CURSORS.c.reader)
)


def ease_writing(session: Session) -> None:
    """Settings for this transaction of a relay."""
    if not database_of(session).embedded:
        session.execute(_SETTINGS)


def due_for_relay(session: Session, now: Millis, *, look: bool) -> Sequence[str]:
    """The organisations with new facts or retries that are due; `look`: also those that a dead worker has left."""
    return session.execute(_DUE_OR_LEFT if look else _DUE, {"now": now}).scalars().all()


def due_for_broker(session: Session, now: Millis) -> Sequence[str]:
    """The organisations with facts or retries for the broker."""
    return session.execute(_DUE_FOR_BROKER, {"now": now}).scalars().all()


def lease(session: Session, reader: str, organisations: Iterable[str], now: Millis) -> dict[str, int]:
    """Lease these organisations, but those that another worker has; the position of each."""
    wanted, until = sorted(set(organisations)), now + LEASE_MS
    values = {"organisations": wanted, "by": reader, "now": now, "until": until}
    found = {each.organisation_id: each.position for each in session.execute(_LEASE, values)}
    if reader == RELAY:
        found |= {each: 0 for each in wanted if each not in found and start(session, each, RELAY, 0, until)}
    return found


def release(session: Session, reader: str, organisations: Collection[str], until: Millis) -> None:
    """Give leases back, unless they have run out meanwhile: then they are another worker's."""
    session.execute(_RELEASE, {"organisations": list(organisations), "by": reader, "until": until})


def start(session: Session, organisation_id: str, reader: str, position: int, leased_until: Millis = 0) -> bool:
    """Let a reader begin after this position; False where it has begun before."""
    values = {"organisation_id": organisation_id, "reader": reader, "position": position, "until": leased_until}
    return session.execute(_START, values).first() is not None


def number(session: Session, organisation_id: str, before: int, now: Millis, limit: int) -> list[Message]:
    """Give the oldest facts of an organisation without a position theirs, in the order in which they were written.

    A fact was written after another one had been committed: then it comes after it. For both are visible here, or only
    the other, and the clock of the database had gone on meanwhile.
    """
    statement = _NUMBER_SQLITE if database_of(session).embedded else _NUMBER_POSTGRESQL
    values = {"organisation_id": organisation_id, "before": before, "now": now, "limit": limit}
    rows = sorted(session.execute(statement, values).all(), key=lambda row: row.position)
    return [message(row) for row in rows]


def positions(session: Session, organisations: Collection[str]) -> dict[tuple[str, str], int]:
    """Every reader's position, by organisation and reader."""
    rows = session.execute(_POSITIONS, {"organisations": list(organisations)})
    return {(row.organisation_id, row.reader): row.position for row in rows}


def move(session: Session, organisation_id: str, readers: Sequence[str], before: int, after: int) -> None:
    """Move the cursors of these readers; raises LeaseLostError where another worker has moved one."""
    values = {"organisation": organisation_id, "readers": readers, "before": before, "after": after}
    if len(session.execute(_MOVE, values).all()) < len(readers):
        raise LeaseLostError


def position(session: Session, organisation_id: str, reader: str) -> int:
    """How far a reader has come with an organisation's facts."""
    row = session.get(CursorRow, (organisation_id, reader))
    return 0 if row is None else row.position


def has_broker(session: Session, organisation_id: str) -> bool:
    """Whether the facts of an organisation go to a broker."""
    return session.get(CursorRow, (organisation_id, BROKER)) is not None


def after(session: Session, organisation_id: str, position: int, limit: int) -> list[Message]:
    """The next facts of an organisation after a position."""
    later = OutboxRow.organisation_id == organisation_id, OutboxRow.position > position
    rows = session.execute(select(*FACT_COLUMNS).where(*later).order_by(OutboxRow.position).limit(limit))
    return [message(row) for row in rows]


def named(session: Session, organisation_id: str, attempts: Mapping[str, int]) -> list[Message]:
    """Facts by message id, each with the attempts made so far, in order."""
    row = OutboxRow
    wanted = select(*FACT_COLUMNS).where(row.organisation_id == organisation_id, row.message_id.in_(attempts))
    rows = session.execute(wanted.order_by(row.position))
    return [message(row, attempts[row.message_id] + 1) for row in rows]


def forget_others(session: Session, readers: Collection[str], now: Millis) -> None:
    """Drop the cursors of readers that no longer exist, for which facts would wait forever.

    Those of readers that only this program does not know move on: a worker of another release has them.
    """
    waits = select(OutboxRow.position).where(
        OutboxRow.organisation_id == CursorRow.organisation_id,
        OutboxRow.position > CursorRow.position,
        OutboxRow.relayed_at < now - FORGOTTEN_AFTER_MS,
    )
    session.execute(delete(CursorRow).where(CursorRow.reader.not_in([*readers, RELAY]), waits.exists()))


@dataclass(frozen=True, slots=True)
class Progress:
    """How many positions were given in an organisation, and up to which one every reader has come."""

    given: int
    delivered: int


def progress(session: Session) -> dict[str, Progress]:
    """The progress of each organisation's facts."""
    is_relay = CursorRow.reader == RELAY
    given = func.max(CursorRow.position).filter(is_relay)
    read = func.min(CursorRow.position).filter(~is_relay)
    wanted = select(CursorRow.organisation_id, given, read).group_by(CursorRow.organisation_id)
    return {
        organisation_id: Progress(given or 0, (given or 0) if delivered is None else delivered)
        for organisation_id, given, delivered in session.execute(wanted)
    }
