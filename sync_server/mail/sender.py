"""Sends what is due: claimed in one transaction, sent outside of any, and noted in another."""

from __future__ import annotations

from collections.abc import Sequence
from smtplib import SMTP, SMTPServerDisconnected
from typing import Final

from sqlalchemy import select, update

from sync_server.mail import letters, queries, rules, service
from sync_server.mail.letters import File, Letter
from sync_server.mail.models import MailRow
from sync_server.mail.ports import MailPorts
from sync_server.mail.rules import Outcome, State
from sync_server.mail.smtp import MailServer, Unreachable
from sync_server.plumbing.due import next_due, organisations_due
from sync_server.plumbing.jobs import MORE, HeavyJob
from sync_server.plumbing.parts import Parts
from sync_server.plumbing.ports import ports_of
from sync_server.plumbing.telemetry.logs import LOG

RETRY_MS: Final = 5_000
"""After a failure of the database: mails wait for it there."""
BATCH_SIZE: Final = 10

PER_CONNECTION: Final = 100
"""Mail servers count, too: many end a connection after so many."""


class MailSender:
    """The worker's part of mail. Several workers may share one database."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._server = MailServer(parts.config)

    def job(self) -> HeavyJob:
        """Sends what is posted at once, by whichever process."""
        return HeavyJob(
            service.SEND,
            RETRY_MS,
            lambda _database, _context: MORE if self.run_once() else None,
            lambda session, _now: next_due(session, MailRow.due_at, queries.WAITS),
            lane="mail",
        )

    def run_once(self) -> int:
        """Try what is due now, as much as is sent over one connection; how many mails that were."""
        waiting = self._claim()
        tried = 0
        try:
            if waiting:
                with self._server.connected() as connection:
                    while waiting:
                        outcome = self._send(connection, waiting[0])
                        self._note(waiting.pop(0), outcome)
                        tried += 1
                        if not waiting and tried < PER_CONNECTION:
                            waiting = self._claim()
        except Unreachable as problem:
            self._postpone(waiting, problem.code)
        except (SMTPServerDisconnected, OSError):
            self._postpone(waiting, "lost")
        return tried + len(waiting)

    def _send(self, connection: SMTP, mail: MailRow) -> Outcome:
        """Hand a mail over. One that cannot be written waits, and does not hold up the others."""
        try:
            letter = service.opened(mail, self._parts.sealer)
            id = service.message_id(mail, self._server.host)
            files = self._files(mail, letter)
            message = letters.message(letter, sender=self._server.sender, id=id, now=self._parts.clock(), files=files)
        except Exception as problem:  # another master key, or a template that is gone
            LOG.error("mail_unreadable", mail=mail.id, template=mail.template, problem=type(problem).__name__)
            return Outcome(State.WAITING, "unreadable")
        return self._server.send(connection, message, letter.to)

    def _files(self, mail: MailRow, letter: Letter) -> list[File]:
        """What the mail carries, made now; nothing where what it is about has ended meanwhile."""
        if not letter.attachments:
            return []
        with self._parts.database.reading() as session:
            make = ports_of(session, MailPorts).attachments
            files = [make[each.kind](session, mail.organisation_id, each.id) for each in letter.attachments]
        return [file for file in files if file is not None]

    def _postpone(self, mails: Sequence[MailRow], problem: str) -> None:
        for mail in mails:
            self._note(mail, Outcome(State.WAITING, problem))

    def _claim(self) -> list[MailRow]:
        database, now = self._parts.database, self._parts.clock()
        with database.autocommit_reading() as session:
            owners = organisations_due(session, MailRow.organisation_id, *queries.due(now))
        claimed: list[MailRow] = []
        for owner in owners:
            with database.writing() as session:
                wanted = select(MailRow).where(MailRow.organisation_id == owner, *queries.due(now))
                batch = wanted.order_by(MailRow.due_at).limit(BATCH_SIZE - len(claimed))
                for row in session.scalars(batch.with_for_update(skip_locked=True)).all():
                    row.attempts, row.due_at = row.attempts + 1, now + rules.LEASE_MS
                    claimed.append(row)
            if len(claimed) >= BATCH_SIZE:
                break
        return claimed

    def _note(self, mail: MailRow, outcome: Outcome) -> None:
        """Note what became of an attempt, unless another worker has taken the mail over meanwhile."""
        database, now = self._parts.database, self._parts.clock()
        jitter = int.from_bytes(self._parts.entropy(2), "big") / 65536
        due_at = now + rules.pause(mail.attempts, jitter)
        if outcome.state is State.WAITING and (mail.attempts >= rules.GIVEN_UP_AFTER or due_at >= mail.ends_at):
            outcome = Outcome(State.FAILED, outcome.problem)
        done = outcome.state is not State.WAITING
        values = {"state": outcome.state, "problem": outcome.problem, "due_at": None if done else due_at}
        values |= {"done_at": now, "sealed": None} if done else {}
        with database.writing() as session:
            its_row = MailRow.organisation_id == mail.organisation_id, MailRow.id == mail.id
            unchanged = MailRow.attempts == mail.attempts, MailRow.state == State.WAITING
            session.execute(update(MailRow).where(*its_row, *unchanged).values(values))
        tell = LOG.info if outcome.state is State.SENT else LOG.warning
        tell(
            f"mail_{outcome.state}",
            mail=mail.id,
            template=mail.template,
            attempts=mail.attempts,
            problem=outcome.problem,
        )
