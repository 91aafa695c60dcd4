"""Writes audit lines, in the transaction of the change they tell of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import Table
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.ids import Entropy, uuid7
from sync_server.audit import rules
from sync_server.audit.models import AuditRow, PersonalRow
from sync_server.plumbing.database import of
from sync_server.plumbing.principals import Actor

SALT_BYTES = 16


@dataclass(frozen=True, slots=True)
class AuditLine:
    """Who did what to what, when and why; `before` and `after` hold only what changed, and never secrets."""

    actor: Actor
    action: str  # event.published, ticket.blocked
    subject_kind: str
    subject_id: str
    organisation_id: str | None
    at: Millis
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None
    reason: str = ""


def record(session: Session, line: AuditLine) -> None:
    """Add a line; it stands or falls with the transaction. No chain is touched: the worker seals it afterwards.

    Forbidden, and with it the whole change, where staff of the platform do not say why they act on an organisation.
    """
    require_grounds(line)
    entropy = of(session).entropy
    written = write(line, uuid7(line.at, _in_turn(session, entropy)), entropy)
    session.add_all(PersonalRow(**filed) for filed in written.filed)
    session.add(AuditRow(**written.line))


def require_grounds(line: AuditLine) -> None:
    """Forbidden where somebody of the platform changes an organisation without saying why."""
    own_login = (line.subject_kind, line.subject_id) == ("user", line.actor.id)
    rules.require_grounds(line.actor, line.reason or line.actor.reason, own_login=own_login)


@dataclass(frozen=True, slots=True)
class Written:
    """A line as the tables keep it: columns by name, for whoever writes rows in a statement of their own."""

    line: dict[str, Any]
    filed: tuple[dict[str, Any], ...]


LINES, FILED = cast(Table, AuditRow.__table__), cast(Table, PersonalRow.__table__)
"""Where they belong."""


def write(line: AuditLine, id: str, entropy: Entropy) -> Written:
    """The rows of a line; what is personal of it lies apart. Of a change, `require_grounds` is asked before."""
    before, was = rules.apart(line.before, line.subject_kind)
    after, now_is = rules.apart(line.after, line.subject_kind)
    actor = _filed(line, id, "actor", _address(line.actor), entropy)
    subject = _filed(line, id, "subject", {"before": was, "after": now_is} if was or now_is else {}, entropy)
    return Written(
        {
            "id": id,
            "organisation_id": line.organisation_id,
            "at": line.at,
            "actor_kind": line.actor.kind,
            "actor_id": line.actor.id,
            "action": line.action,
            "subject_kind": line.subject_kind,
            "subject_id": line.subject_id,
            "before": before,
            "after": after,
            "reason": line.reason or line.actor.reason,
            "approval": line.actor.approval,
            "request_id": line.actor.request_id,
            "actor_digest": _digest(actor),
            "subject_digest": _digest(subject),
        },
        tuple(row for row in (actor, subject) if row is not None),
    )


def _in_turn(session: Session, entropy: Entropy) -> Entropy:
    """Entropy by which ids of one transaction sort as they were made, though their time be the same.

    The twelve highest of the bits that uuid7 takes from it are counted instead, as RFC 9562 (6.2) allows.
    """
    turn: int = session.info.get("audit_turn", -1) + 1
    session.info["audit_turn"] = turn

    def roll(n: int) -> bytes:
        chance = int.from_bytes(entropy(n), "big")
        return (chance & ~(0xFFF << 62) | min(turn, 0xFFF) << 62).to_bytes(n, "big")

    return roll


def _address(actor: Actor) -> dict[str, Any]:
    return {"ip": actor.ip, "user_agent": actor.user_agent} if actor.ip or actor.user_agent else {}


def _filed(line: AuditLine, id: str, part: str, values: dict[str, Any], entropy: Entropy) -> dict[str, Any] | None:
    if not values:
        return None
    subject = line.subject_kind, line.subject_id
    kind, person = rules.person_of(line.actor.kind, line.actor.id, *subject) if part == "actor" else subject
    return {
        "line_id": id,
        "part": part,
        "organisation_id": line.organisation_id,
        "person_kind": kind,
        "person_id": person,
        "salt": entropy(SALT_BYTES),
        "content": rules.canonical(values),
    }


def _digest(filed: dict[str, Any] | None) -> bytes | None:
    return None if filed is None else rules.digest(filed["salt"], filed["content"])
