"""Tables of pictures and of the sizes and forms in which they are shown."""

from __future__ import annotations

from sqlalchemy import BigInteger, ForeignKey, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.tables import Base


class PictureRecord(Base):
    """A picture of one organisation, named after its content. Its row is also the lock of its use."""

    __tablename__ = "pictures"

    id: Mapped[str] = mapped_column(String(40), primary_key=True)
    organisation_id: Mapped[str] = mapped_column(ForeignKey("organisations.id"), index=True)
    width: Mapped[int]
    height: Mapped[int]
    created_at: Mapped[Millis] = mapped_column(BigInteger)


class PictureVariantRecord(Base):
    """A picture in one size and form, as it is sent."""

    __tablename__ = "picture_variants"

    picture_id: Mapped[str] = mapped_column(ForeignKey("pictures.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(String(20), primary_key=True)  # 800.webp
    content_type: Mapped[str] = mapped_column(String(20))
    width: Mapped[int]
    height: Mapped[int]
    content: Mapped[bytes] = mapped_column(LargeBinary)
