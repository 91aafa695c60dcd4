"""Reads of images."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.errors import NotFound
from sync_server.images.models import ImageVariantRecord


def image_variant(session: Session, image_id: str, name: str) -> ImageVariantRecord:
    """The variant of an image of any organisation, or NotFound: images are public to whoever knows the id."""
    where = ImageVariantRecord.image_id == image_id, ImageVariantRecord.name == name
    row = session.scalars(select(ImageVariantRecord).where(*where)).first()
    if row is None:
        raise NotFound("There is no such picture.", code="picture_not_found")
    return row
