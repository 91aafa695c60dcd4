"""Tables of the checks: when they ran, what they found, the alerts that are logged, and figures out of bounds."""

from __future__ import annotations

from sqlalchemy import BigInteger, Float, String
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base, Uuid


class CheckRow(Base):
    """One check: when it last ran, and how much it found."""

    __tablename__ = "check_runs"

    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    ran_at: Mapped[Millis] = mapped_column(BigInteger)
    findings: Mapped[int]


class FindingRow(Base):
    """A row that references another organisation's row; deleted when a later check no longer finds it."""

    __tablename__ = "check_findings"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    place: Mapped[str] = mapped_column(String(120), primary_key=True)  # table.column
    row: Mapped[str] = mapped_column(String(200), primary_key=True)  # its primary key
    points_to: Mapped[Uuid]  # the other organisation
    found_at: Mapped[Millis] = mapped_column(BigInteger)


class ActiveAlertRow(Base):
    """An alert that is logged as raised and not yet as over; shared by all workers."""

    __tablename__ = "active_alerts"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(40), primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)  # NIL_ID: about none
    venue_id: Mapped[Uuid | None]
    since: Mapped[Millis] = mapped_column(BigInteger)
    count: Mapped[int]


class FigureRow(Base):
    """A seating figure of an event that is out of bounds, and since when."""

    __tablename__ = "seating_figures"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(
        primary_key=True
    )  # no foreign key: deleting an event must not wait for this table
    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    percent: Mapped[float] = mapped_column(Float)
    since: Mapped[Millis] = mapped_column(BigInteger)
