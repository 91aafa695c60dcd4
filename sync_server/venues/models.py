"""Tables of venues and their gates."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, CheckConstraint, Float, ForeignKey, Index, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base, Uuid, references


class VenueRecord(Base):
    """A venue. Its row is also the lock for its gates."""

    __tablename__ = "venues"

    organisation_id: Mapped[Uuid] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(String(60))
    name: Mapped[str] = mapped_column(String(100))
    timezone: Mapped[str] = mapped_column(String(64))
    address: Mapped[str] = mapped_column(String(500), default="")
    city: Mapped[str] = mapped_column(String(50), default="")
    country: Mapped[str] = mapped_column(String(60), default="")
    max_capacity: Mapped[int] = mapped_column(default=0)
    settings: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    updated_at: Mapped[Millis] = mapped_column(BigInteger)
    kind: Mapped[str] = mapped_column(String(10), default="physical", server_default=text("'physical'"))
    website: Mapped[str] = mapped_column(String(300), default="", server_default=text("''"))
    latitude: Mapped[float | None] = mapped_column(Float)
    longitude: Mapped[float | None] = mapped_column(Float)
    city_norm: Mapped[str] = mapped_column(Text, default="", server_default=text("''"))
    archived_at: Mapped[Millis | None] = mapped_column(BigInteger)

    __table_args__ = (
        UniqueConstraint("organisation_id", "slug"),
        CheckConstraint("latitude BETWEEN -90 AND 90", name="latitude_on_earth"),
        CheckConstraint(
            "longitude BETWEEN -180 AND 180 AND (latitude IS NULL) = (longitude IS NULL)", name="longitude_on_earth"
        ),
        Index("ix_venues_organisation_id_city_norm", "organisation_id", "city_norm", "id"),
        Index("ix_venues_organisation_id_timezone", "organisation_id", "timezone", "id"),
    )


class GateRecord(Base):
    """An entrance; gates know it by its number within the venue."""

    __tablename__ = "gates"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    venue_id: Mapped[Uuid] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    code: Mapped[str] = mapped_column(String(20))
    name: Mapped[str] = mapped_column(String(100))
    status: Mapped[str] = mapped_column(String(10), default="open")
    capacity: Mapped[int | None]
    step_free: Mapped[bool] = mapped_column(default=False)
    settings: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    updated_at: Mapped[Millis] = mapped_column(BigInteger)

    __table_args__ = (references("venues", "venue_id"), UniqueConstraint("organisation_id", "venue_id", "code"))
