"""The table of guests."""

from __future__ import annotations

from sqlalchemy import BigInteger, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base, Uuid


class GuestRow(Base):
    """A visitor of a shop without a login, identified only by a cookie."""

    __tablename__ = "guests"

    organisation_id: Mapped[Uuid] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    origin: Mapped[str | None] = mapped_column(String(32))  # a hash of the client address, deleted after some minutes
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    ends_at: Mapped[Millis] = mapped_column(BigInteger, index=True)

    __table_args__ = (Index("ix_guests_origin_created_at", "origin", "created_at"),)
