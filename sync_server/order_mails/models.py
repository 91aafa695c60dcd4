"""Tables of news on their way to all buyers of an event, and of addresses that want no offers."""

from __future__ import annotations

from sqlalchemy import BigInteger, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base, Uuid, references

_OPEN = text("done_at IS NULL")


class EventNewsRow(Base):
    """A change of an event that its buyers are told of, order by order; its id is that of the fact."""

    __tablename__ = "event_news"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid]
    message: Mapped[str] = mapped_column(String(20))
    last_order_id: Mapped[Uuid | None]  # those up to it have their mail
    told: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    done_at: Mapped[Millis | None] = mapped_column(BigInteger)

    __table_args__ = (
        references("events", "event_id", ondelete="CASCADE"),
        Index("ix_event_news_open", "created_at", sqlite_where=_OPEN, postgresql_where=_OPEN),
        Index("ix_event_news_organisation_id_event_id", "organisation_id", "event_id"),
    )


class MailOptOutRow(Base):
    """An address, by its keyed hash, that gets no mails of an organisation but those about its own orders."""

    __tablename__ = "mail_opt_outs"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    address_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    created_at: Mapped[Millis] = mapped_column(BigInteger)
