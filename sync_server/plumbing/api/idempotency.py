"""Idempotency-Key: a write that is sent twice runs once, and gets the same response both times."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import orjson
from flask import Response, request
from pydantic import BaseModel
from sqlalchemy import BigInteger, LargeBinary, String, delete
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from shared.ids import NIL_ID
from sync_server.plumbing.due import organisations_due
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.parts import parts
from sync_server.plumbing.sql import writes
from sync_server.plumbing.sql.tables import Base, Uuid
from sync_server.plumbing.web import current_principal, sent_header

HEADER = "Idempotency-Key"
RETENTION_MS = 48 * 3600 * 1000


class IdempotencyKeyRow(Base):
    """One finished write: its principal, key and response."""

    __tablename__ = "idempotency_keys"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    principal: Mapped[str] = mapped_column(String(80), primary_key=True)
    key: Mapped[str] = mapped_column(String(120), primary_key=True)
    request_hash: Mapped[bytes] = mapped_column(LargeBinary(32))
    status: Mapped[int]
    body: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[Millis] = mapped_column(BigInteger, index=True)


Write = Callable[[Session], Any]
"""What it returns is the response: a schema, or what JSON can hold."""
Status = int | Callable[[], int]
P = ParamSpec("P")
R = TypeVar("R")


def repeatable(view: Callable[P, R]) -> Callable[P, R]:
    """Note on a view that it heeds the key: the description of the API names the header there."""
    view.__dict__["repeatable"] = True
    return view


def once(view: Callable[Concatenate[Session, P], Any]) -> Callable[P, Response]:
    """Make a view of a write that takes the transaction's session first; see `run_once`."""

    @wraps(view)
    def runs_once(*args: P.args, **kwargs: P.kwargs) -> Response:
        return run_once(lambda session: view(session, *args, **kwargs))

    return repeatable(runs_once)


def once_in_secret(view: Callable[Concatenate[Session, P], Any]) -> Callable[P, Response]:
    """Make a view of a write whose response holds a secret: nothing of it is stored, not even a hash."""

    @wraps(view)
    def runs(*args: P.args, **kwargs: P.kwargs) -> Response:
        with parts().database.writing() as session:
            return _response(_json(view(session, *args, **kwargs)), 201)

    return runs


def run_once(
    write: Write, *, status: Status = 201, said: bytes | None = None, event_in_demand: EventKey | None = None
) -> Response:
    """Run `write` in its own transaction and respond with its result; a repeated key gets the stored response.

    `said` is what identifies the request, where that is not its body. `status` may depend on what `write` did.
    `event_in_demand` is the event that `write` locks, where many may want it at the same moment.
    """
    key = sent_header(HEADER)
    with parts().database.writing(event_in_demand) as session:
        if key is None:
            return _response(_json(write(session)), _resolved(status))
        return _run_with_key(session, key, write, status, said)


def stored_response(*, said: bytes | None = None) -> Response | None:
    """The stored response of a repeated key, or None: for views that check state before they write.

    At the second request that state has changed, often by the first one.
    """
    key = sent_header(HEADER)
    if key is None:
        return None
    with parts().database.reading() as session:
        stored = session.get(IdempotencyKeyRow, _row_key(key))
        return None if stored is None else _replay(stored, _request_hash(said))


def forget(session: Session, organisation_id: str, principals: Collection[str]) -> int:
    """Delete the stored responses to these principals, given as kind:id; how many there were."""
    row = IdempotencyKeyRow
    theirs = row.organisation_id == organisation_id, row.principal.in_(sorted(principals))
    return len(session.execute(delete(row).where(*theirs).returning(row.key)).all()) if principals else 0


def _checked(key: str) -> str:
    if not 1 <= len(key) <= 120 or not key.isprintable():
        raise InvalidRequest(f"{HEADER} takes 1 to 120 printable characters.", code="bad_idempotency_key")
    return key


def _resolved(status: Status) -> int:
    return status if isinstance(status, int) else status()


def _run_with_key(session: Session, key: str, write: Write, status: Status, said: bytes | None) -> Response:
    row_key, request_hash = _row_key(key), _request_hash(said)
    if not _claimed(session, row_key, request_hash):
        return _replay(session.get_one(IdempotencyKeyRow, row_key), request_hash)
    body = _json(write(session))
    row = session.get_one(IdempotencyKeyRow, row_key)
    row.status, row.body = _resolved(status), body
    return _response(body, row.status)


def _row_key(key: str) -> tuple[str, str, str]:
    """One user may work for two organisations: the response of one must never go to the other."""
    principal = current_principal()
    return principal.organisation_id or NIL_ID, f"{principal.kind}:{principal.id}", _checked(key)


def _claimed(session: Session, row_key: tuple[str, str, str], request_hash: bytes) -> bool:
    """Whether this request is the first with the key; a second one waits here until the first has ended."""
    row: dict[str, Any] = dict(zip(("organisation_id", "principal", "key"), row_key, strict=True))
    row |= {"request_hash": request_hash, "status": 0, "body": b"", "created_at": parts().clock()}
    claim = (
        writes.insert(session, IdempotencyKeyRow).values(row).on_conflict_do_nothing().returning(IdempotencyKeyRow.key)
    )
    return session.execute(claim).first() is not None


def _replay(row: IdempotencyKeyRow, request_hash: bytes) -> Response:
    if row.request_hash != request_hash:
        raise Conflict(
            f"This {HEADER} was used for another request. Use a new key for a new request.",
            code="idempotency_key_reused",
        )
    response = _response(row.body, row.status)
    response.headers["Idempotent-Replay"] = "true"
    return response


def _request_hash(said: bytes | None) -> bytes:
    target = f"{request.method} {request.full_path}\n".encode()
    return hashlib.sha256(target + (request.get_data(cache=True) if said is None else said)).digest()


def _json(result: Any) -> bytes:
    return orjson.dumps(result, default=_plain)


def _plain(view: BaseModel) -> dict[str, Any]:
    return view.model_dump(mode="json")


def _response(body: bytes, status: int) -> Response:
    return Response(body, status, content_type="application/json")


def delete_old_keys(session: Session, now: Millis) -> None:
    """Delete responses that are older than two days."""
    owner, old = IdempotencyKeyRow.organisation_id, IdempotencyKeyRow.created_at < now - RETENTION_MS
    for organisation_id in organisations_due(session, owner, old):
        session.execute(delete(IdempotencyKeyRow).where(owner == organisation_id, old))
