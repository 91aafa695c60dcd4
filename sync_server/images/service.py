"""Stores and deletes images, each once per organisation."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import asdict

from sqlalchemy import ColumnElement, delete, insert, select
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.images.models import ImageRecord, ImageVariantRecord
from sync_server.images.rendering import RenderedImage
from sync_server.plumbing.sql import writes


def image_id_of(organisation_id: str, content: bytes) -> str:
    """The id of an image, from its content and organisation: nothing is shared between organisations."""
    return hashlib.sha256(organisation_id.encode() + b"\0" + content).hexdigest()[:40]


def store_image(session: Session, organisation_id: str, image: RenderedImage, now: Millis) -> str:
    """Store an image unless it exists; its id. It cannot be deleted before this transaction ends."""
    id = image_id_of(organisation_id, image.original)
    size = {"width": image.width, "height": image.height}
    row = {"id": id, "organisation_id": organisation_id, **size, "created_at": now}
    # Written even if it exists: that locks the row against a concurrent deletion.
    session.execute(
        writes.insert(session, ImageRecord)
        .values(row)
        .on_conflict_do_update(index_elements=["organisation_id", "id"], set_=size)
    )
    stored = select(ImageVariantRecord.name).where(*_variants(organisation_id, id)).limit(1)
    if session.execute(stored).first() is None:
        ids = {"organisation_id": organisation_id, "image_id": id}
        session.execute(insert(ImageVariantRecord), [ids | asdict(each) for each in image.variants])
    return id


def existing_images(session: Session, organisation_id: str, ids: Iterable[str]) -> list[str]:
    """Those of the images that exist, in the given order; they cannot be deleted before this transaction ends."""
    wanted = list(ids)
    where = ImageRecord.organisation_id == organisation_id, ImageRecord.id.in_(wanted)
    found = select(ImageRecord.id).where(*where).order_by(ImageRecord.id).with_for_update(read=True, key_share=True)
    existing = set(session.execute(found).scalars())
    return [id for id in wanted if id in existing]


def lock_image(session: Session, organisation_id: str, id: str) -> None:
    """Lock an image against use and deletion until this transaction ends."""
    where = ImageRecord.organisation_id == organisation_id, ImageRecord.id == id
    session.execute(select(ImageRecord.id).where(*where).with_for_update()).all()


def delete_image(session: Session, organisation_id: str, id: str) -> None:
    """Delete an image that is no longer used, with all its variants."""
    session.execute(delete(ImageVariantRecord).where(*_variants(organisation_id, id)))
    where = ImageRecord.organisation_id == organisation_id, ImageRecord.id == id
    session.execute(delete(ImageRecord).where(*where))


def _variants(organisation_id: str, id: str) -> tuple[ColumnElement[bool], ...]:
    return ImageVariantRecord.organisation_id == organisation_id, ImageVariantRecord.image_id == id
