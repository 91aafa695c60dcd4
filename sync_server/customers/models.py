"""Tables of guests, and of customers with their links, sessions and passkeys."""

from __future__ import annotations

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base, Uuid, references

_MEMBER = text("membership_id <> ''")


class GuestRow(Base):
    """A visitor of a shop without a login, identified only by a cookie."""

    __tablename__ = "guests"

    organisation_id: Mapped[Uuid] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    origin: Mapped[str | None] = mapped_column(String(32))  # a hash of the client address, deleted after some minutes
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    ends_at: Mapped[Millis] = mapped_column(BigInteger, index=True)

    __table_args__ = (Index("ix_guests_origin_created_at", "origin", "created_at"),)


class CustomerRow(Base):
    """A buyer with a login at one organisation's shop, whose address was proved by a link."""

    __tablename__ = "customers"

    organisation_id: Mapped[Uuid] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    email: Mapped[str | None] = mapped_column(String(254))  # None once erased
    name: Mapped[str] = mapped_column(String(100), default="")
    locale: Mapped[str] = mapped_column(String(5), default="")
    password_hash: Mapped[str] = mapped_column(String(200), default="")  # "" until one is chosen, if ever
    membership_id: Mapped[str] = mapped_column(String(36), default="")  # as the organiser names it; linked by a proof
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    updated_at: Mapped[Millis] = mapped_column(BigInteger)

    __table_args__ = (
        UniqueConstraint("organisation_id", "email"),
        # A membership is one person's: of two logins that prove it at once, one is refused.
        Index(
            "uq_customers_membership_id",
            "organisation_id",
            "membership_id",
            unique=True,
            sqlite_where=_MEMBER,
            postgresql_where=_MEMBER,
        ),
    )


class CustomerLinkRow(Base):
    """A link to sign in with, once; only the hash of its code is stored."""

    __tablename__ = "customer_links"

    organisation_id: Mapped[Uuid] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    code_hash: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)
    email: Mapped[str] = mapped_column(String(254))
    locale: Mapped[str] = mapped_column(String(5), default="")
    ends_at: Mapped[Millis] = mapped_column(BigInteger, index=True)


class CustomerSessionRow(Base):
    """A browser in which a customer is signed in; only the hash of its token is stored."""

    __tablename__ = "customer_sessions"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    token_hash: Mapped[bytes] = mapped_column(LargeBinary(32))
    customer_id: Mapped[Uuid]
    guest_id: Mapped[Uuid | None]  # the guest session of the same browser: what it holds is the customer's
    by_link: Mapped[bool]  # whether the address was proved when it began
    browser: Mapped[str] = mapped_column(String(300), default="")  # its User-Agent
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    seen_at: Mapped[Millis] = mapped_column(BigInteger)
    ends_at: Mapped[Millis] = mapped_column(BigInteger, index=True)

    __table_args__ = (
        references("customers", "customer_id"),
        UniqueConstraint("organisation_id", "token_hash"),
        Index("ix_customer_sessions_customer_id", "organisation_id", "customer_id"),
        Index("ix_customer_sessions_guest_id", "organisation_id", "guest_id"),
    )


class CustomerPasskeyRow(Base):
    """A customer's passkey (WebAuthn): its private key stays with its owner."""

    __tablename__ = "customer_passkeys"

    organisation_id: Mapped[Uuid] = mapped_column(primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    customer_id: Mapped[Uuid]
    name: Mapped[str] = mapped_column(String(100))
    credential_id: Mapped[bytes] = mapped_column(LargeBinary(1023))
    public_key: Mapped[bytes] = mapped_column(LargeBinary)
    sign_count: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    used_at: Mapped[Millis | None] = mapped_column(BigInteger)

    __table_args__ = (
        references("customers", "customer_id"),
        UniqueConstraint("organisation_id", "credential_id"),
        Index("ix_customer_passkeys_customer_id", "organisation_id", "customer_id"),
    )
