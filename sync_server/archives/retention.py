"""The daily job that removes what an organisation's policy says is to go: in pieces, and recorded with its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.archives import people, policy, queries, rules, service, store
from sync_server.archives.audit_log import putting_away
from sync_server.archives.policy import DAY_MS
from sync_server.audit import erasure
from sync_server.audit.service import AuditLine, record
from sync_server.config import Config
from sync_server.devices import identity
from sync_server.holds import expiry
from sync_server.mail import service as mail
from sync_server.monitoring import service as checks
from sync_server.outbox import cleaning
from sync_server.plumbing.database import Database
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.sql.tables import Base
from sync_server.plumbing.telemetry.logs import LOG
from sync_server.tickets import names

CHECK: Final = "retention"
"""Its name among the checks, of which one worker runs each once a day."""
PIECE: Final = 1_000
"""Rows that go in one transaction."""


@dataclass(frozen=True, slots=True)
class Retention:
    """Removes what is due in one organisation."""

    database: Database
    config: Config
    context: ActionContext
    organisation_id: str
    sealer: Sealer

    def remove(self, kept: Mapping[str, int | None]) -> dict[str, int]:
        """Remove everything that was kept long enough; how many of each kind."""
        removers: Mapping[str, Callable[[Millis], Iterator[int]]] = {
            "names": lambda before: chain(self._names(before), self._put_away_names(before)),
            "holds": self._holds,
            "facts": lambda before: self._pieces(cleaning.delete_piece, before),
            "mails": lambda before: self._pieces(mail.delete_piece, before),
            "audit_values": self._audit_values,
            "audit_lines": self._audit_lines,
            "archives": self._files,
        }
        due = {kind: self.context.now - days * DAY_MS for kind, days in kept.items() if days is not None}
        removed = {kind: sum(remove(due[kind])) for kind, remove in removers.items() if kind in due}
        return {kind: count for kind, count in removed.items() if count}

    def _pieces(self, delete_piece: Callable[[Session, str, Millis, int], int], before: Millis) -> Iterator[int]:
        while True:
            with self.database.writing() as session:
                count = delete_piece(session, self.organisation_id, before, PIECE)
            yield count
            if count < PIECE:
                return

    def _audit_values(self, before: Millis) -> Iterator[int]:
        now = self.context.now
        return self._pieces(lambda *piece: erasure.erase_piece(piece[0], piece[1], piece[2], now, piece[3]), before)

    def _audit_lines(self, before: Millis) -> Iterator[int]:
        if self.config.archives is None:
            return iter(())
        key = partial(identity.private_key, sealer=self.sealer)
        return putting_away.put_away(self.database, self.config, key, self.organisation_id, before)

    def _names(self, before: Millis) -> Iterator[int]:
        events = self._over(before)
        while events:
            with self.database.writing() as session:
                tickets = names.with_names(session, self.organisation_id, events, PIECE)
                count = names.erase(session, self.organisation_id, tickets, self.context) if tickets else 0
            yield count
            if not count:
                return
            with self.database.writing() as session:
                names.erase_history(session, self.organisation_id, tickets)

    def _put_away_names(self, before: Millis) -> Iterator[int]:
        return self._pieces(people.forget_piece, before)

    def _holds(self, before: Millis) -> Iterator[int]:
        for event_id in self._over(before):
            yield from self._pieces(partial(_delete_holds, event_id), before)

    def _files(self, before: Millis) -> Iterator[int]:
        with self.database.reading() as session:
            due = queries.put_away_before(session, self.organisation_id, before)
        for event, file in due:
            (store.folder(self.config) / file).unlink(missing_ok=True)
            with self.database.writing() as session:
                service.discarded(session, event, self.context)
            yield 1

    def _over(self, before: Millis) -> list[str]:
        """Events that ended before then and are not put away, nor on their way."""
        table = Base.metadata.tables["events"]
        over = table.c.status.in_([status.value for status in rules.OVER]), table.c.end_at < before
        mine = table.c.organisation_id == self.organisation_id, table.c.put_away_at.is_(None)
        with self.database.reading() as session:
            return list(session.scalars(select(table.c.id).where(*mine, *over).order_by(table.c.id)))


def _delete_holds(event_id: str, session: Session, organisation_id: str, _before: Millis, limit: int) -> int:
    return expiry.delete_piece(session, organisation_id, event_id, limit)


def run(config: Config, sealer: Sealer, database: Database, context: ActionContext) -> None:
    """Job: once a day, of all workers one; what was removed stands in the organisation's audit log."""
    with database.writing() as session:
        if not checks.claim(session, context.now, CHECK):
            return
        organisations = policy.all_organisations(session)
    for organisation_id in organisations:
        remove_due(config, sealer, database, context, organisation_id)


def remove_due(
    config: Config, sealer: Sealer, database: Database, context: ActionContext, organisation_id: str
) -> Mapping[str, int]:
    """Remove what is due in one organisation, and record it."""
    with database.reading() as session:
        kept = policy.days(session, organisation_id)
    removed = Retention(database, config, context, organisation_id, sealer).remove(kept)
    if removed:
        LOG.info("records_removed", organisation_id=organisation_id, **removed)
        subject = "organisation", organisation_id, organisation_id
        with database.writing() as session:
            record(session, AuditLine(context, "organisation.records_removed", *subject, after=dict(removed)))
    return removed
