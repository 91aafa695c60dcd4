"""Keeps pictures, each once an organisation, and lets them go."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from sqlalchemy import delete, insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.pictures.drawing import Drawn
from sync_server.pictures.models import PictureRecord, PictureVariantRecord


def name_of(organisation_id: str, content: bytes) -> str:
    """The id of a picture: of its content and whose it is, so that nothing is shared between organisations."""
    return hashlib.sha256(organisation_id.encode() + b"\0" + content).hexdigest()[:40]


def keep(session: Session, organisation_id: str, drawn: Drawn, now: Millis) -> str:
    """The id of a picture that is kept from now on, or was already; it stays until this transaction ends."""
    id = name_of(organisation_id, drawn.original)
    size = {"width": drawn.width, "height": drawn.height}
    row = {"id": id, "organisation_id": organisation_id, **size, "created_at": now}
    dialect = sqlite if session.get_bind().dialect.name == "sqlite" else postgresql
    # Written even where it stands already: that locks the row against those who would let it go just now.
    session.execute(dialect.insert(PictureRecord).values(row).on_conflict_do_update(index_elements=["id"], set_=size))
    known = select(PictureVariantRecord.name).where(PictureVariantRecord.picture_id == id).limit(1)
    if session.execute(known).first() is None:
        variants = [
            {
                "picture_id": id,
                "name": each.name,
                "content_type": each.content_type,
                "width": each.width,
                "height": each.height,
                "content": each.content,
            }
            for each in drawn.variants
        ]
        session.execute(insert(PictureVariantRecord), variants)
    return id


def still_there(session: Session, organisation_id: str, ids: Iterable[str]) -> list[str]:
    """Those of the pictures that are kept, in their order; they stay until this transaction ends."""
    wanted = list(ids)
    here = PictureRecord.organisation_id == organisation_id, PictureRecord.id.in_(wanted)
    found = select(PictureRecord.id).where(*here).order_by(PictureRecord.id).with_for_update(read=True, key_share=True)
    known = set(session.execute(found).scalars())
    return [id for id in wanted if id in known]


def lock(session: Session, organisation_id: str, id: str) -> None:
    """Hold back whoever would show or let go of this picture, until this transaction ends."""
    here = PictureRecord.organisation_id == organisation_id, PictureRecord.id == id
    session.execute(select(PictureRecord.id).where(*here).with_for_update()).all()


def let_go(session: Session, organisation_id: str, id: str) -> None:
    """Drop a picture that nobody shows any more, with all its variants."""
    session.execute(delete(PictureVariantRecord).where(PictureVariantRecord.picture_id == id))
    here = PictureRecord.organisation_id == organisation_id, PictureRecord.id == id
    session.execute(delete(PictureRecord).where(*here))
