"""The table of guests."""

from __future__ import annotations

from sqlalchemy import BigInteger, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base


class GuestRow(Base):
    """A visitor of a shop without a login, identified only by a cookie."""

    __tablename__ = "guests"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    organisation_id: Mapped[str] = mapped_column(ForeignKey("organisations.id"), index=True)
    origin: Mapped[str | None] = mapped_column(String(32))  # a hash of the client address, deleted after some minutes
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    ends_at: Mapped[Millis] = mapped_column(BigInteger, index=True)

    __table_args__ = (Index("ix_guests_origin_created_at", "origin", "created_at"),)
