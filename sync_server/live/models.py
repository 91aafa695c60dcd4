"""The table of links that show an event's wall to whoever has them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from sync_server.plumbing.sql.tables import Base, Uuid, references


class WallLinkRow(Base):
    """The address of one screen. It is sealed, not stored; ended, it shows nothing any more."""

    __tablename__ = "wall_links"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid]
    name: Mapped[str] = mapped_column(String(80))  # where the screen hangs
    created_at: Mapped[int] = mapped_column(BigInteger)
    ended_at: Mapped[int | None] = mapped_column(BigInteger)

    __table_args__ = (
        references("events", "event_id", ondelete="CASCADE"),
        Index("ix_wall_links_event", "organisation_id", "event_id"),
    )
