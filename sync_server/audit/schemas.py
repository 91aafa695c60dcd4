"""Shapes of questions to and answers from the audit log."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from sync_server.audit import rules
from sync_server.audit.models import ChainRow
from sync_server.audit.queries import AuditFilter, Told
from sync_server.plumbing.shapes import Query, Time, iso, iso_or_none

Word = Annotated[str, Field(min_length=1, max_length=80)]


class AuditQuery(Query):
    """Which lines to list: `since` is included, `until` is not."""

    limit: Annotated[int, Field(ge=1, le=500)] = 50
    after: Annotated[str, Field(max_length=400)] | None = None
    subject_kind: Word | None = None
    subject_id: Word | None = None
    actor_kind: Word | None = None
    actor_id: Word | None = None
    action: Word | None = None
    since: Time | None = None
    until: Time | None = None

    def chosen(self) -> AuditFilter:
        """Without the page."""
        return AuditFilter(**self.model_dump(exclude={"limit", "after"}))


class ExportQuery(Query):
    """What to take away: all, or what was sealed after the export before."""

    after_seq: Annotated[int, Field(ge=0)] = 0


class AuditLineView(BaseModel):
    """Who did what to what, when, from where and why; `seq` and `seal` once the line is sealed."""

    id: str
    at: str
    actor_kind: str
    actor_id: str
    action: str
    subject_kind: str
    subject_id: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    reason: str
    approval: str
    ip: str
    user_agent: str
    request_id: str
    personal: Literal["none", "kept", "erased"]
    seq: int | None
    seal: str | None

    @classmethod
    def of(cls, told: Told) -> AuditLineView:
        """As admins see it."""
        row, actor, subject = told.row, told.values("actor"), told.values("subject")
        gone = {"ip": rules.ERASED, "user_agent": rules.ERASED}
        address = {"ip": "", "user_agent": ""} | dict(gone if actor is None else actor)
        values = {
            name: rules.together(getattr(row, name), None if subject is None else subject.get(name, {}))
            for name in ("before", "after")
        }
        plain = {name: getattr(row, name) for name in rules.Line.__slots__ if name in cls.model_fields}
        sealed = {"seq": row.seq, "seal": None if row.seal is None else row.seal.hex()}
        return cls(**plain | address | values | sealed | {"at": iso(row.at), "personal": _kept(told)})


def _kept(told: Told) -> str:
    if not told.apart:
        return "none"
    return "erased" if any(filed.content is None for filed in told.apart.values()) else "kept"


class AuditLinesView(BaseModel):
    """A page of the audit log."""

    items: list[AuditLineView]
    next: str | None


class SealView(BaseModel):
    """How far the log is sealed. Note `seq` and `seal` elsewhere: they prove later that nothing before was changed."""

    seq: int
    seal: str | None
    at: str | None
    signature: str | None
    public_key: str | None
    waiting: int
    waiting_since: str | None

    @classmethod
    def of(cls, head: ChainRow | None, waiting: int, since: int | None) -> SealView:
        """A chain that nothing was sealed of yet is at 0."""
        signature, public_key = (None, None) if head is None else (head.signature, head.public_key)
        return cls(
            seq=0 if head is None else head.seq,
            seal=None if head is None else head.seal.hex(),
            at=None if head is None else iso(head.at),
            signature=signature.hex() if signature else None,
            public_key=public_key.hex() if public_key else None,
            waiting=waiting,
            waiting_since=iso_or_none(since),
        )
