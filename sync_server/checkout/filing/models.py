"""Tables of what orders that are filed come to, and of their words."""

from __future__ import annotations

from sqlalchemy import BigInteger, Index, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from sync_server.plumbing.sql.tables import Base, Uuid, references


class OrderSumRow(Base):
    """A figure of all orders of an event that are filed."""

    __tablename__ = "order_sums"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    figure: Mapped[str] = mapped_column(String(16), primary_key=True)
    n: Mapped[int] = mapped_column(BigInteger)

    __table_args__ = (references("events", "event_id"),)


class SaleSumRow(Base):
    """What an event sold of one ticket type in one hour or on one day, in orders that are filed."""

    __tablename__ = "sale_sums"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    span: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)  # its length in milliseconds
    starts: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    ticket_type: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    currency: Mapped[str] = mapped_column(String(3), primary_key=True)
    figure: Mapped[str] = mapped_column(String(8), primary_key=True)
    n: Mapped[int] = mapped_column(BigInteger)

    __table_args__ = (
        references("events", "event_id"),
        Index("ix_sale_sums_organisation_id_span_starts", "organisation_id", "span", "starts"),
    )


class OrderWordRow(Base):
    """A word by which a filed order is found."""

    __tablename__ = "order_words"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    word: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)  # all with one beginning stand together
    order_id: Mapped[Uuid] = mapped_column(primary_key=True)  # as the nightly check makes sure

    __table_args__ = ({"sqlite_with_rowid": False},)
