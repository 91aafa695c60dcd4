"""Tables of the listings: listed events, the trending ranking, and the interest in each event."""

from __future__ import annotations

from typing import Any, cast

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, Table, Text, UniqueConstraint
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.listings import search_index
from sync_server.plumbing.sql.tables import Base, Uuid, after_create, references

#: On SQLite the number must be the rowid, because the search index refers to rows by it.
_NUMBER = BigInteger().with_variant(Integer(), "sqlite")
#: Compared by code point whatever PostgreSQL's locale, so that the index finds prefixes.
_BY_CODE_POINT = Text().with_variant(Text(collation="C"), "postgresql")


class Listing(Base):
    """An event as the feed finds it; what is shown of it is read from the event itself.

    A row that is no longer listed stays for an hour: readers in the middle of the feed must not see it twice.
    """

    __tablename__ = "listings"

    number: Mapped[int] = mapped_column(_NUMBER, primary_key=True, autoincrement=False)
    organisation_id: Mapped[Uuid]
    event_id: Mapped[Uuid]
    starts_at: Mapped[Millis] = mapped_column(BigInteger)
    listed_until: Mapped[Millis] = mapped_column(BigInteger)
    city: Mapped[str] = mapped_column(Text)  # as the organiser writes it
    city_norm: Mapped[str] = mapped_column(_BY_CODE_POINT)
    category_norm: Mapped[str] = mapped_column(Text)
    words: Mapped[Any] = mapped_column(Text().with_variant(TSVECTOR(), "postgresql"))
    moved_at: Mapped[Millis] = mapped_column(BigInteger, default=0)
    moved_from: Mapped[Millis] = mapped_column(BigInteger, default=0)

    __table_args__ = (
        references("events", "event_id", ondelete="CASCADE"),
        UniqueConstraint("organisation_id", "event_id"),
        # Covers a page of the whole feed: fetching each row would be another read from disk.
        Index("ix_listings_starts_at", "starts_at", "number", "listed_until", "moved_at", "moved_from"),
        Index("ix_listings_city_norm", "city_norm", "starts_at", "number"),
        Index("ix_listings_city_norm_city", "city_norm", "city", "listed_until"),  # for suggestions
        Index("ix_listings_category_norm", "category_norm", "starts_at", "number"),
        Index("ix_listings_city_norm_category_norm", "city_norm", "category_norm", "starts_at", "number"),
        Index("ix_listings_organisation_id", "organisation_id", "starts_at", "number"),
        Index("ix_listings_listed_until", "listed_until"),
    )


after_create(cast(Table, Listing.__table__), sqlite=search_index.SQLITE, postgresql=search_index.POSTGRESQL)


class Generation(Base):
    """One computation of the trending ranking; readers stay in the one they started with."""

    __tablename__ = "trending_generations"

    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    made_at: Mapped[Millis] = mapped_column(BigInteger)


class Place(Base):
    """An event's place in a generation; events without one come after those with one."""

    __tablename__ = "trending_places"

    generation: Mapped[int] = mapped_column(
        ForeignKey("trending_generations.number", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    place: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    number: Mapped[int] = mapped_column(BigInteger)

    __table_args__ = (Index("uq_trending_places_generation_number", "generation", "number", unique=True),)


class Interest(Base):
    """The interest in an event in one hour; messages of other services name only the event."""

    __tablename__ = "event_interest"

    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    hour: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    weight: Mapped[int]

    __table_args__ = (Index("ix_event_interest_hour", "hour"),)
