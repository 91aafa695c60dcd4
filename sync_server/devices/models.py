"""Tables of devices, their assignments, enrolment codes, request counters and last reports; private to this domain."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    ForeignKey,
    Index,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped, mapped_column

from sync_server.plumbing.sql.tables import Base, Uuid, references


class Device(Base):
    """One gate machine of one organisation, known by its public key once it is enrolled."""

    __tablename__ = "devices"

    organisation_id: Mapped[Uuid] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    # A signed request names its device before the organisation is known, so numbers are unique in the installation.
    number: Mapped[int] = mapped_column(BigInteger, unique=True)
    name: Mapped[str] = mapped_column(String(80))
    profile: Mapped[str] = mapped_column(String(20))
    public_key: Mapped[bytes | None] = mapped_column(LargeBinary(32))
    created_at: Mapped[int] = mapped_column(BigInteger)
    enrolled_at: Mapped[int | None] = mapped_column(BigInteger)
    revoked_at: Mapped[int | None] = mapped_column(BigInteger)
    revoked_why: Mapped[str] = mapped_column(Text, default="")

    __table_args__ = (UniqueConstraint("organisation_id", "number"),)


class Assignment(Base):
    """What one device does at one event."""

    __tablename__ = "device_assignments"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    device_id: Mapped[Uuid] = mapped_column(primary_key=True)
    event_id: Mapped[Uuid] = mapped_column(primary_key=True)
    gate: Mapped[int | None] = mapped_column()
    gates_allowed: Mapped[list[int]] = mapped_column(JSON)
    zones: Mapped[list[int]] = mapped_column(JSON)
    direction: Mapped[str] = mapped_column(String(8))
    mode: Mapped[str] = mapped_column(String(8))

    __table_args__ = (
        references("devices", "device_id"),
        references("events", "event_id"),
        Index("ix_device_assignments_event", "organisation_id", "event_id"),
    )


class EnrolmentCode(Base):
    """A one-time enrolment code, sealed under the master key, so that a database dump does not reveal it."""

    __tablename__ = "device_enrolment_codes"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    code_id: Mapped[bytes] = mapped_column(LargeBinary(8), primary_key=True)
    device_id: Mapped[Uuid]
    sealed: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[int] = mapped_column(BigInteger)
    expires_at: Mapped[int] = mapped_column(BigInteger)
    tries_left: Mapped[int] = mapped_column()
    used_at: Mapped[int | None] = mapped_column(BigInteger)
    withdrawn_at: Mapped[int | None] = mapped_column(BigInteger)
    check_number: Mapped[str] = mapped_column(String(6), default="")

    __table_args__ = (
        references("devices", "device_id"),
        Index("ix_device_enrolment_codes_device", "organisation_id", "device_id"),
        Index("ix_device_enrolment_codes_code_id", "code_id"),  # a machine sends nothing else
    )


class RequestCounter(Base):
    """The highest counter seen on one channel of a device, and which of the 64 below it were used."""

    __tablename__ = "device_request_counters"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    device_number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    channel: Mapped[str] = mapped_column(String(8), primary_key=True)
    highest: Mapped[int] = mapped_column(BigInteger)
    seen: Mapped[bytes] = mapped_column(LargeBinary(8))

    __table_args__ = (references("devices", "device_number", to="number"),)


class DeviceReport(Base):
    """The last report of a device; separate from `devices` because it is written at every hello."""

    __tablename__ = "device_reports"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    device_id: Mapped[Uuid] = mapped_column(primary_key=True)
    last_seen_at: Mapped[int] = mapped_column(BigInteger)
    software: Mapped[str] = mapped_column(String(40), default="")
    branch: Mapped[int] = mapped_column(BigInteger, default=0)
    last_seq: Mapped[int] = mapped_column(BigInteger, default=0)
    unsent: Mapped[int] = mapped_column(BigInteger, default=0)
    clock_offset: Mapped[int | None] = mapped_column(BigInteger)
    clock_uncertainty: Mapped[int | None] = mapped_column(BigInteger)
    rows: Mapped[list[dict[str, Any]]] = mapped_column(JSON, default=list)
    health: Mapped[dict[str, Any] | None] = mapped_column(JSON)  # what the machine said of itself last
    health_at: Mapped[int | None] = mapped_column(BigInteger)

    __table_args__ = (
        references("devices", "device_id"),
        Index("ix_device_reports_seen", "organisation_id", "last_seen_at"),
    )


class ServerIdentity(Base):
    """The key pair this installation signs its answers with; the private part is sealed under the master key."""

    __tablename__ = "server_identity"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    public_key: Mapped[bytes] = mapped_column(LargeBinary(32))
    sealed: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[int] = mapped_column(BigInteger)
