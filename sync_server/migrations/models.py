"""The table that tells older programs whether they may go on with a newer schema."""

from __future__ import annotations

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from sync_server.plumbing.sql.tables import Base


class ServedRevision(Base):
    """A program whose newest revision is this one can serve the present schema."""

    __tablename__ = "served_revisions"

    revision: Mapped[str] = mapped_column(String(32), primary_key=True)
