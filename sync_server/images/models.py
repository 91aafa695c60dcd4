"""Tables of images and their variants."""

from __future__ import annotations

from sqlalchemy import BigInteger, ForeignKey, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base


class ImageRecord(Base):
    """An image of one organisation; its id is a digest of its content. Users of the image lock its row."""

    __tablename__ = "images"

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    organisation_id: Mapped[str] = mapped_column(ForeignKey("organisations.id"), index=True)
    width: Mapped[int]
    height: Mapped[int]
    created_at: Mapped[Millis] = mapped_column(BigInteger)


class ImageVariantRecord(Base):
    """An image in one size and format."""

    __tablename__ = "image_variants"

    image_id: Mapped[str] = mapped_column(ForeignKey("images.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(String(20), primary_key=True)  # 800.webp
    content_type: Mapped[str] = mapped_column(String(20))
    width: Mapped[int]
    height: Mapped[int]
    content: Mapped[bytes] = mapped_column(LargeBinary)
