"""Reads of images."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.errors import NotFound
from sync_server.images.models import ImageVariantRecord


@dataclass(frozen=True, slots=True)
class ImageVariant:
    """An image in one size and format."""

    content_type: str
    content: bytes


def image_variant(session: Session, image_id: str, name: str) -> ImageVariant:
    """The variant of an image of any organisation, or NotFound: images are public to whoever knows the id."""
    where = ImageVariantRecord.image_id == image_id, ImageVariantRecord.name == name
    row = session.execute(select(ImageVariantRecord.content_type, ImageVariantRecord.content).where(*where)).first()
    if row is None:
        raise NotFound("There is no such picture.", code="picture_not_found")
    return ImageVariant(row[0], row[1])
