"""Writes audit lines in the transaction of the change they record."""

from __future__ import annotations

from typing import Any, cast

from msgspec import Struct
from sqlalchemy import Table, event
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.ids import Entropy, uuid7
from sync_server.audit import rules
from sync_server.audit.models import AuditRow, PersonalRow
from sync_server.plumbing.database import database_of
from sync_server.plumbing.requests.principals import ActionContext, Actor
from sync_server.plumbing.sql.bulk import insert_many

SALT_BYTES = 16
_QUEUED = "audit lines"


class AuditLine(Struct, frozen=True):
    """Who did what to what, when and why; `before` and `after` hold only what changed, and never secrets."""

    context: ActionContext
    action: str  # event.published, ticket.blocked
    subject_kind: str
    subject_id: str
    organisation_id: str | None
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None
    reason: str = ""


def record(session: Session, line: AuditLine) -> None:
    """Add a line to the caller's transaction, which writes all its lines at its end.

    No chain is touched: the worker seals the line afterwards.

    It is dated now, when the rows that change are locked, and not when the request came in: it may have waited for
    another change of the same rows, which then is earlier.

    For what is no fact: logins, staff, policies, plans, attempts, and details of a change whose fact is recorded
    elsewhere. Every other change is recorded by `outbox.service.record_change`.

    Raises Forbidden, and so stops the change, where platform staff act on an organisation without a reason.
    """
    require_reason(line)
    database = database_of(session)
    at, entropy = max(line.context.now, database.clock()), database.entropy
    queued: list[AuditRows] = session.info.setdefault(_QUEUED, [])
    if not queued:
        event.listen(session, "before_commit", _write, once=True)
    queued.append(audit_rows(line, uuid7(at, _ordered(session, entropy)), entropy, at=at))


def _write(session: Session) -> None:
    """Insert the lines of the transaction: one statement for each of the two tables, however many lines there are."""
    queued: list[AuditRows] = session.info.pop(_QUEUED, [])
    insert_many(session, AuditRow, [each.line for each in queued])
    insert_many(session, PersonalRow, [row for each in queued for row in each.personal])


def require_reason(line: AuditLine) -> None:
    """Raise Forbidden where platform staff change an organisation without a reason."""
    own_login = (line.subject_kind, line.subject_id) == ("user", line.context.actor.id)
    rules.require_reason(line.context.actor, line.reason or line.context.actor.reason, own_login=own_login)


class AuditRows(Struct, frozen=True):
    """The rows of a line, columns by name, for modules that insert them in statements of their own."""

    line: dict[str, Any]
    personal: tuple[dict[str, Any], ...]


LINES_TABLE, PERSONAL_TABLE = cast(Table, AuditRow.__table__), cast(Table, PersonalRow.__table__)


def audit_rows(line: AuditLine, id: str, entropy: Entropy, *, at: Millis | None = None) -> AuditRows:
    """The rows of a line and of its personal values, dated by its context if not otherwise.

    Call `require_reason` first.
    """
    before, personal_before = rules.split_personal(line.before, line.subject_kind)
    after, personal_after = rules.split_personal(line.after, line.subject_kind)
    changed = {"before": personal_before, "after": personal_after}
    actor = _personal_row(line, id, "actor", _address(line.context.actor), entropy)
    subject = _personal_row(line, id, "subject", changed if personal_before or personal_after else {}, entropy)
    return AuditRows(
        {
            "id": id,
            "organisation_id": line.organisation_id or rules.INSTALLATION,
            "at": line.context.now if at is None else at,
            "actor_kind": line.context.actor.kind,
            "actor_id": line.context.actor.id,
            "action": line.action,
            "subject_kind": line.subject_kind,
            "subject_id": line.subject_id,
            "before": before,
            "after": after,
            "reason": line.reason or line.context.actor.reason,
            "approval": line.context.actor.approval,
            "request_id": line.context.actor.request_id or None,
            "actor_digest": _digest(actor),
            "subject_digest": _digest(subject),
        },
        tuple(row for row in (actor, subject) if row is not None),
    )


def _ordered(session: Session, entropy: Entropy) -> Entropy:
    """Entropy that makes ids of one transaction sort in the order of creation, even within one millisecond.

    The twelve highest of the random bits of a uuid7 become a counter, as RFC 9562 (6.2) allows.
    """
    counter: int = session.info.get("audit_counter", -1) + 1
    session.info["audit_counter"] = counter

    def ordered(n: int) -> bytes:
        bits = int.from_bytes(entropy(n), "big")
        return (bits & ~(0xFFF << 62) | min(counter, 0xFFF) << 62).to_bytes(n, "big")

    return ordered


def _address(actor: Actor) -> dict[str, Any]:
    return {"ip": actor.ip, "user_agent": actor.user_agent} if actor.ip or actor.user_agent else {}


def _personal_row(
    line: AuditLine, id: str, part: str, values: dict[str, Any], entropy: Entropy
) -> dict[str, Any] | None:
    if not values:
        return None
    subject = line.subject_kind, line.subject_id
    kind, person = (
        rules.person_of(line.context.actor.kind, line.context.actor.id, *subject) if part == "actor" else subject
    )
    return {
        "line_id": id,
        "part": part,
        "organisation_id": line.organisation_id or rules.INSTALLATION,
        "person_kind": kind,
        "person_id": person,
        "salt": entropy(SALT_BYTES),
        "content": rules.canonical(values),
    }


def _digest(personal: dict[str, Any] | None) -> bytes | None:
    return None if personal is None else rules.digest(personal["salt"], personal["content"])
