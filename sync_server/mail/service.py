"""Writes mails in the transaction of the change that they tell of: nothing is sent for what was rolled back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.ids import as_id, uuid7
from sync_server.audit.rules import INSTALLATION
from sync_server.mail import rules
from sync_server.mail.letters import Attachment, Letter
from sync_server.mail.models import MailRow
from sync_server.mail.rules import State
from sync_server.plumbing.due import organisations_due
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.waking import wake

SEND: Final = "mail.send"
"""The job that sends them."""


def post(
    session: Session,
    letter: Letter,
    sealer: Sealer,
    context: ActionContext,
    *,
    ends_at: Millis,
    organisation_id: str = INSTALLATION,
    void: bool = False,
) -> str:
    """Add a mail, and return its id. A void one costs the same work and goes nowhere: it hides whether there is one."""
    id = uuid7(context.now, context.entropy)
    content = {
        "to": letter.to,
        "language": letter.language,
        "values": dict(letter.values),
        "attachments": letter.attachments,
        "unsubscribe": letter.unsubscribe,
    }
    sealed = sealer.seal(json.dumps(content).encode(), f"mail {id}")
    row = MailRow(
        organisation_id=organisation_id,
        id=id,
        template=letter.template,
        sealed=None if void else sealed,
        state=State.VOID if void else State.WAITING,
        due_at=None if void else context.now,
        created_at=context.now,
        ends_at=ends_at,
        done_at=context.now if void else None,
    )
    session.add(row)
    session.flush()
    if not void:
        wake(session, SEND)
    return id


def opened(row: MailRow, sealer: Sealer) -> Letter:
    """The letter of a mail that has not been sent yet."""
    content = json.loads(sealer.open(row.sealed or b"", f"mail {row.id}"))
    attachments = tuple(Attachment(*each) for each in content.get("attachments", ()))
    said = content["to"], content["values"], content["language"]
    return Letter(row.template, *said, attachments, content.get("unsubscribe", ""))


def message_id(row: MailRow, host: str) -> str:
    """The same at every attempt, so that a mail sent twice shows up once."""
    return f"{row.organisation_id}.{row.id}@{host}"


def note_bounce(session: Session, message_id: str, status: str, now: Millis) -> bool:
    """Note that a mail came back; False if it is none of ours."""
    organisation_id, _, id = message_id.strip("<>").partition("@")[0].partition(".")
    here = MailRow.organisation_id == as_id(organisation_id), MailRow.id == as_id(id)
    values = {"state": State.BOUNCED, "problem": status, "due_at": None, "sealed": None, "done_at": now}
    return session.execute(update(MailRow).where(*here).values(values).returning(MailRow.id)).first() is not None


def waiting_for(session: Session, organisation_id: str, address: str, sealer: Sealer) -> list[MailRow]:
    """The organisation's mails to an address that have not been sent yet: what was sent has no address any more."""
    unsent = MailRow.organisation_id == organisation_id, MailRow.sealed.is_not(None)
    rows = session.scalars(select(MailRow).where(*unsent).with_for_update())
    return [row for row in rows if opened(row, sealer).to.casefold() == address]


def give_up(session: Session, rows: Iterable[MailRow], now: Millis) -> int:
    """Send these mails no more, and erase them; returns how many they were."""
    given_up = list(rows)
    for row in given_up:
        row.state, row.problem, row.due_at, row.sealed, row.done_at = State.FAILED, "erased", None, None, now
    session.flush()
    return len(given_up)


def delete_piece(session: Session, organisation_id: str, before: Millis, limit: int) -> int:
    """Delete an organisation's mails that were done before then, `limit` at most; returns how many."""
    mine = MailRow.organisation_id == organisation_id
    old = select(MailRow.id).where(mine, MailRow.done_at < before).limit(limit)
    gone = delete(MailRow).where(mine, MailRow.id.in_(old)).returning(MailRow.id)
    return len(session.execute(gone, execution_options={"synchronize_session": False}).all())


def delete_old(session: Session, now: Millis) -> None:
    """Delete mails that were sent or given up two months ago."""
    owner, old = MailRow.organisation_id, MailRow.done_at < now - rules.KEEP_MS
    for organisation_id in organisations_due(session, owner, old):
        session.execute(delete(MailRow).where(owner == organisation_id, old))
