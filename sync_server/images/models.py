"""Tables of images and their variants."""

from __future__ import annotations

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base, Uuid, references


class ImageRecord(Base):
    """An image of one organisation; its id is a digest of its content. Users of the image lock its row."""

    __tablename__ = "images"

    organisation_id: Mapped[Uuid] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    width: Mapped[int]
    height: Mapped[int]
    created_at: Mapped[Millis] = mapped_column(BigInteger)


class ImageVariantRecord(Base):
    """An image in one size and format."""

    __tablename__ = "image_variants"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    image_id: Mapped[str] = mapped_column(String(40), primary_key=True)
    name: Mapped[str] = mapped_column(String(20), primary_key=True)  # 800.webp
    content_type: Mapped[str] = mapped_column(String(20))
    width: Mapped[int]
    height: Mapped[int]
    content: Mapped[bytes] = mapped_column(LargeBinary)

    __table_args__ = (
        references("images", "image_id", ondelete="CASCADE"),
        Index("ix_image_variants_image_id", "image_id", "name"),  # public addresses do not say whose an image is
    )
