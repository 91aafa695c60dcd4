"""Tables of devices, their assignments, enrolment codes, request counters and last reports; private to this domain."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from sync_server.plumbing.sql.tables import Base


class Device(Base):
    """One gate machine of one organisation, known by its public key once it is enrolled."""

    __tablename__ = "devices"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger, unique=True)
    organisation_id: Mapped[str] = mapped_column(String(36), index=True)
    name: Mapped[str] = mapped_column(String(80))
    profile: Mapped[str] = mapped_column(String(20))
    public_key: Mapped[bytes | None] = mapped_column(LargeBinary(32))
    created_at: Mapped[int] = mapped_column(BigInteger)
    enrolled_at: Mapped[int | None] = mapped_column(BigInteger)
    revoked_at: Mapped[int | None] = mapped_column(BigInteger)
    revoked_why: Mapped[str] = mapped_column(Text, default="")


class Assignment(Base):
    """What one device does at one event."""

    __tablename__ = "device_assignments"
    __table_args__ = (UniqueConstraint("device_id", "event_number"),)

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    organisation_id: Mapped[str] = mapped_column(String(36), index=True)
    device_id: Mapped[str] = mapped_column(ForeignKey("devices.id"))
    event_id: Mapped[str] = mapped_column(String(36), index=True)
    event_number: Mapped[int] = mapped_column(BigInteger)
    gate: Mapped[int | None] = mapped_column()
    gates_allowed: Mapped[list[int]] = mapped_column(JSON)
    zones: Mapped[list[int]] = mapped_column(JSON)
    direction: Mapped[str] = mapped_column(String(8))
    mode: Mapped[str] = mapped_column(String(8))


class EnrolmentCode(Base):
    """A one-time enrolment code, sealed under the master key, so that a database dump does not reveal it."""

    __tablename__ = "device_enrolment_codes"

    code_id: Mapped[bytes] = mapped_column(LargeBinary(8), primary_key=True)
    organisation_id: Mapped[str] = mapped_column(String(36))
    device_id: Mapped[str] = mapped_column(ForeignKey("devices.id"), index=True)
    sealed: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[int] = mapped_column(BigInteger)
    expires_at: Mapped[int] = mapped_column(BigInteger)
    tries_left: Mapped[int] = mapped_column()
    used_at: Mapped[int | None] = mapped_column(BigInteger)
    withdrawn_at: Mapped[int | None] = mapped_column(BigInteger)
    check_number: Mapped[str] = mapped_column(String(6), default="")


class RequestCounter(Base):
    """The highest counter seen on one channel of a device, and which of the 64 below it were used."""

    __tablename__ = "device_request_counters"

    device_number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    channel: Mapped[str] = mapped_column(String(8), primary_key=True)
    highest: Mapped[int] = mapped_column(BigInteger)
    seen: Mapped[bytes] = mapped_column(LargeBinary(8))


class DeviceReport(Base):
    """The last report of a device; separate from `devices` because it is written at every hello."""

    __tablename__ = "device_reports"

    device_id: Mapped[str] = mapped_column(ForeignKey("devices.id"), primary_key=True)
    organisation_id: Mapped[str] = mapped_column(String(36), index=True)
    last_seen_at: Mapped[int] = mapped_column(BigInteger)
    software: Mapped[str] = mapped_column(String(40), default="")
    branch: Mapped[int] = mapped_column(BigInteger, default=0)
    last_seq: Mapped[int] = mapped_column(BigInteger, default=0)
    unsent: Mapped[int] = mapped_column(BigInteger, default=0)
    clock_offset: Mapped[int | None] = mapped_column(BigInteger)
    clock_uncertainty: Mapped[int | None] = mapped_column(BigInteger)
    rows: Mapped[list[dict[str, Any]]] = mapped_column(JSON, default=list)


class ServerIdentity(Base):
    """The key pair this installation signs its answers with; the private part is sealed under the master key."""

    __tablename__ = "server_identity"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    public_key: Mapped[bytes] = mapped_column(LargeBinary(32))
    sealed: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[int] = mapped_column(BigInteger)


Index("ix_device_reports_seen", DeviceReport.organisation_id, DeviceReport.last_seen_at)
