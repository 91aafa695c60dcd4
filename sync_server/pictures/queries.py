"""Reads of pictures."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.errors import NotFound
from sync_server.pictures.models import PictureVariantRecord


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture in one size and form, as it is sent."""

    content_type: str
    content: bytes


def shown(session: Session, picture_id: str, name: str) -> Shown:
    """That variant of that picture of whatever organisation, or NotFound: whoever knows its name may see it."""
    here = PictureVariantRecord.picture_id == picture_id, PictureVariantRecord.name == name
    row = session.execute(select(PictureVariantRecord.content_type, PictureVariantRecord.content).where(*here)).first()
    if row is None:
        raise NotFound("There is no such picture.", code="picture_not_found")
    return Shown(row[0], row[1])
