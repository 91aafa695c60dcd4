"""Idempotency-Key: a write that is sent twice is done once, and answered the same both times."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import orjson
from flask import Response, request
from sqlalchemy import BigInteger, LargeBinary, String, delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Mapped, Session, mapped_column

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest
from sync_server.plumbing.parts import parts
from sync_server.plumbing.tables import Base
from sync_server.plumbing.web import current_principal

HEADER = "Idempotency-Key"
KEPT_MS = 48 * 3600 * 1000


class OnceRow(Base):
    """One answered write: who sent it, with which key, and what the answer was."""

    __tablename__ = "idempotency_keys"

    principal: Mapped[str] = mapped_column(String(80), primary_key=True)
    key: Mapped[str] = mapped_column(String(120), primary_key=True)
    organisation_id: Mapped[str] = mapped_column(String(36))
    request_hash: Mapped[bytes] = mapped_column(LargeBinary(32))
    status: Mapped[int]
    body: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[Millis] = mapped_column(BigInteger, index=True)


Write = Callable[[Session], Any]
Status = int | Callable[[], int]


def once(write: Write, *, status: Status = 201, said: bytes | None = None) -> Response:
    """Run `write` in its own transaction and answer with what it returns; a repeated key is answered from memory.

    `said` is what was asked, where that is not the body as it came. `status` may be what `write` has found out.
    """
    key = request.headers.get(HEADER)
    with parts().database.writing() as session:
        if key is None:
            return _answer(orjson.dumps(write(session)), _settled(status))
        return _remembered(session, _checked(key), write, status, said)


def answered(*, said: bytes | None = None) -> Response | None:
    """What a repeated key was answered; None for a new one: for writes that look at the world before they begin.

    By the second time what they look at has changed, often by their own doing.
    """
    key = request.headers.get(HEADER)
    if key is None:
        return None
    who = current_principal()
    name = f"{who.kind}:{who.id}"
    with parts().database.reading() as session:
        known = session.get(OnceRow, (name, _checked(key))) is not None
        return _again(session, name, key, _request_hash(who.organisation_id, said)) if known else None


def plainly(write: Write, *, status: int = 201) -> Response:
    """The same for what holds a secret: nothing of it is remembered, not even a hash to guess at."""
    with parts().database.writing() as session:
        return _answer(orjson.dumps(write(session)), status)


def _checked(key: str) -> str:
    if not 1 <= len(key) <= 120 or not key.isprintable():
        raise InvalidRequest(f"{HEADER} takes 1 to 120 printable characters.", code="bad_idempotency_key")
    return key


def _settled(status: Status) -> int:
    return status if isinstance(status, int) else status()


def _remembered(session: Session, key: str, write: Write, status: Status, said: bytes | None) -> Response:
    who = current_principal()
    asked = _request_hash(who.organisation_id, said)
    name = f"{who.kind}:{who.id}"
    if not _claimed(session, name, key, who.organisation_id, asked):
        return _again(session, name, key, asked)
    body = orjson.dumps(write(session))
    row = session.get_one(OnceRow, (name, key))
    row.status, row.body = _settled(status), body
    return _answer(body, row.status)


def _claimed(session: Session, principal: str, key: str, organisation_id: str, asked: bytes) -> bool:
    """Whether this transaction is the first; a second one waits here until the first has ended."""
    dialect = sqlite if session.get_bind().dialect.name == "sqlite" else postgresql
    row: dict[str, Any] = {"principal": principal, "key": key, "organisation_id": organisation_id}
    row |= {"request_hash": asked, "status": 0, "body": b"", "created_at": parts().clock()}
    claim = dialect.insert(OnceRow).values(row).on_conflict_do_nothing().returning(OnceRow.key)
    return session.execute(claim).first() is not None


def _again(session: Session, principal: str, key: str, asked: bytes) -> Response:
    row = session.execute(select(OnceRow).where(OnceRow.principal == principal, OnceRow.key == key)).scalar_one()
    if row.request_hash != asked:
        raise Conflict(
            f"This {HEADER} was used for another request. Take a new key for a new request.",
            code="idempotency_key_reused",
        )
    answer = _answer(row.body, row.status)
    answer.headers["Idempotent-Replay"] = "true"
    return answer


def _request_hash(organisation_id: str, said: bytes | None) -> bytes:
    # One person may work for two organisations: what one was told must never answer for the other.
    asked = f"{organisation_id} {request.method} {request.full_path}\n".encode()
    return hashlib.sha256(asked + (request.get_data(cache=True) if said is None else said)).digest()


def _answer(body: bytes, status: int) -> Response:
    return Response(body, status, content_type="application/json")


def forget_old(session: Session, now: Millis) -> None:
    """Drop answers that nobody will ask for again."""
    session.execute(delete(OnceRow).where(OnceRow.created_at < now - KEPT_MS))
