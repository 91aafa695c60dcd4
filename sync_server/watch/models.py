"""Tables of the checks: when they ran, what they found, what was told, and whose figures lie out of bounds."""

from __future__ import annotations

from sqlalchemy import BigInteger, Float, String
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.tables import Base


class CheckRow(Base):
    """One check: when it ran last, and how much it found."""

    __tablename__ = "house_checks"

    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    ran_at: Mapped[Millis] = mapped_column(BigInteger)
    findings: Mapped[int]


class FindingRow(Base):
    """A row that points into another organisation; it stays here until a later check finds it mended."""

    __tablename__ = "house_findings"

    place: Mapped[str] = mapped_column(String(120), primary_key=True)  # table.column
    row: Mapped[str] = mapped_column(String(200), primary_key=True)  # its primary key
    organisation_id: Mapped[str] = mapped_column(String(36))
    points_to: Mapped[str] = mapped_column(String(36))  # the other organisation
    found_at: Mapped[Millis] = mapped_column(BigInteger)


class ToldRow(Base):
    """An alert that stands in the log as raised, and not yet as over: all workers share one memory of it."""

    __tablename__ = "house_alerts"

    kind: Mapped[str] = mapped_column(String(40), primary_key=True)
    event_id: Mapped[str] = mapped_column(String(36), primary_key=True)  # empty: of the installation
    organisation_id: Mapped[str] = mapped_column(String(36))
    venue_id: Mapped[str] = mapped_column(String(36))
    since: Mapped[Millis] = mapped_column(BigInteger)
    count: Mapped[int]


class FigureRow(Base):
    """A figure of an event's house that lies outside its bounds, and since when."""

    __tablename__ = "house_figures"

    event_id: Mapped[str] = mapped_column(String(36), primary_key=True)  # an event that is gone takes nobody's time
    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    organisation_id: Mapped[str] = mapped_column(String(36), index=True)
    percent: Mapped[float] = mapped_column(Float)
    since: Mapped[Millis] = mapped_column(BigInteger)
