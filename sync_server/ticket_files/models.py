"""The table of what tickets of an organisation look like."""

from __future__ import annotations

from sqlalchemy import BigInteger, ForeignKey, LargeBinary, String, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base, Uuid


class TicketDesignRow(Base):
    """The colour, logo and terms on the tickets of an organisation."""

    __tablename__ = "ticket_designs"

    organisation_id: Mapped[Uuid] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    colour: Mapped[str] = mapped_column(String(7), default="#1f2937", server_default=text("'#1f2937'"))
    terms: Mapped[str] = mapped_column(String(2000), default="", server_default=text("''"))
    logo: Mapped[bytes | None] = mapped_column(LargeBinary)  # PNG
    updated_at: Mapped[Millis] = mapped_column(BigInteger)
