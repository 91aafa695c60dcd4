"""Shapes of questions to and answers from the audit log."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from sync_server.audit import rules
from sync_server.audit.queries import AuditFilter, StoredLine
from sync_server.plumbing.api.schemas import Hex, IsoTime, Query, Time, View

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
        """The filter, without paging."""
        return AuditFilter(**self.model_dump(exclude={"limit", "after"}))


class ExportQuery(Query):
    """What to export: everything, or what was sealed after an earlier export."""

    after_seq: Annotated[int, Field(ge=0)] = 0


class AuditLineView(View):
    """Who did what to what, when, from where and why; `seq` and `seal` once the line is sealed."""

    id: str
    at: IsoTime
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
    request_id: str | None
    personal: Literal["none", "kept", "erased"]
    seq: int | None
    seal: Hex | None


def line_view(line: StoredLine) -> AuditLineView:
    """The line with its personal values, unless they were erased."""
    row, actor, subject = line.row, line.values("actor"), line.values("subject")
    erased = {"ip": rules.ERASED, "user_agent": rules.ERASED}
    address = {"ip": "", "user_agent": ""} | dict(erased if actor is None else actor)
    values = {
        name: rules.merge_personal(getattr(row, name), None if subject is None else subject.get(name, {}))
        for name in ("before", "after")
    }
    return AuditLineView.of(row, **address, **values, personal=_personal_state(line))


def _personal_state(line: StoredLine) -> str:
    if not line.personal:
        return "none"
    return "erased" if any(values.content is None for values in line.personal.values()) else "kept"


class AuditLinesView(BaseModel):
    """A page of the audit log."""

    items: list[AuditLineView]
    next: str | None


class SealView(View):
    """How far the log is sealed. Note `seq` and `seal` elsewhere: they prove later that nothing before has changed."""

    seq: int
    seal: Hex | None
    at: IsoTime | None
    signature: Hex | None
    public_key: Hex | None
    waiting: int
    waiting_since: IsoTime | None
