"""Tables of organisations, their staff, sessions and API tokens."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, LargeBinary, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from shared.clock import Millis
from sync_server.plumbing.sql.tables import Base, Uuid, references


class OrganisationRow(Base):
    """A tenant. Locking its row serialises changes that affect all its events: keys, supervisors."""

    __tablename__ = "organisations"

    id: Mapped[Uuid] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(String(60), unique=True)
    name: Mapped[str] = mapped_column(String(100))
    currency: Mapped[str] = mapped_column(String(3), default="EUR")
    language: Mapped[str] = mapped_column(String(8), default="en", server_default="en")  # of its mails
    # What its staff may do, by action, where it differs from `rules.STAFF_POLICY`.
    staff_policy: Mapped[dict[str, bool]] = mapped_column(JSON, default=dict, server_default=text("'{}'"))
    created_at: Mapped[Millis] = mapped_column(BigInteger)


class UserRow(Base):
    """A login: staff of organisations or of the platform."""

    __tablename__ = "users"

    id: Mapped[Uuid] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(254), unique=True)
    name: Mapped[str] = mapped_column(String(100))
    password_hash: Mapped[str] = mapped_column(String(200))  # "" until its owner has chosen one
    platform_role: Mapped[str] = mapped_column(String(20), default="")
    active: Mapped[bool] = mapped_column(default=True)
    created_at: Mapped[Millis] = mapped_column(BigInteger)


class MembershipRow(Base):
    """A user's role in an organisation."""

    __tablename__ = "memberships"

    organisation_id: Mapped[Uuid] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    user_id: Mapped[Uuid] = mapped_column(ForeignKey("users.id"), primary_key=True, index=True)
    role: Mapped[str] = mapped_column(String(10))


class SessionRow(Base):
    """A signed-in browser; only the hash of its token is stored."""

    __tablename__ = "sessions"

    id: Mapped[Uuid] = mapped_column(primary_key=True)
    token_hash: Mapped[bytes] = mapped_column(LargeBinary(32), unique=True)
    user_id: Mapped[Uuid] = mapped_column(ForeignKey("users.id"), index=True)
    organisation_id: Mapped[Uuid | None]  # the one that was chosen
    csrf: Mapped[str] = mapped_column(String(64))
    browser: Mapped[str] = mapped_column(String(300), default="", server_default="")  # its User-Agent
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    seen_at: Mapped[Millis] = mapped_column(BigInteger)
    ends_at: Mapped[Millis] = mapped_column(BigInteger, index=True)


class TokenRow(Base):
    """An API token; only its hash is stored. It has the rights that both its scopes and its maker have."""

    __tablename__ = "api_tokens"

    organisation_id: Mapped[Uuid] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    token_hash: Mapped[bytes] = mapped_column(LargeBinary(32), unique=True)
    scopes: Mapped[list[Any]] = mapped_column(JSON)
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    maker_id: Mapped[Uuid | None] = mapped_column(ForeignKey("users.id"), index=True)  # None: the operator
    parent_id: Mapped[Uuid | None]  # the token that it was made with
    ends_at: Mapped[Millis] = mapped_column(BigInteger)
    used_at: Mapped[Millis | None] = mapped_column(BigInteger)
    revoked_at: Mapped[Millis | None] = mapped_column(BigInteger)

    __table_args__ = (references("api_tokens", "parent_id"), Index(None, "organisation_id", "parent_id"))

    @property
    def created_by(self) -> str:
        """The user or token that made it; "" for the operator."""
        return self.parent_id or self.maker_id or ""


class SecondFactorRow(Base):
    """An authenticator app; it counts once its owner has shown a code of it."""

    __tablename__ = "second_factors"

    user_id: Mapped[Uuid] = mapped_column(ForeignKey("users.id"), primary_key=True)
    sealed: Mapped[bytes] = mapped_column(LargeBinary)  # its secret
    confirmed: Mapped[bool] = mapped_column(default=False)
    last_step: Mapped[int] = mapped_column(BigInteger, default=0)  # of the last code that was used: none works twice


class RecoveryCodeRow(Base):
    """A code instead of one of the app, for one use; only its hash is stored."""

    __tablename__ = "recovery_codes"

    user_id: Mapped[Uuid] = mapped_column(ForeignKey("users.id"), primary_key=True)
    code_hash: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)


class PasskeyRow(Base):
    """A passkey (WebAuthn): its private key stays with its owner."""

    __tablename__ = "passkeys"

    user_id: Mapped[Uuid] = mapped_column(ForeignKey("users.id"), primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100))
    credential_id: Mapped[bytes] = mapped_column(LargeBinary(1023), unique=True)
    public_key: Mapped[bytes] = mapped_column(LargeBinary)
    sign_count: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    used_at: Mapped[Millis | None] = mapped_column(BigInteger)


class UsedChallengeRow(Base):
    """A challenge that was answered, kept for as long as it could be answered again."""

    __tablename__ = "used_challenges"

    challenge: Mapped[bytes] = mapped_column(LargeBinary(64), primary_key=True)
    ends_at: Mapped[Millis] = mapped_column(BigInteger, index=True)


class InvitationRow(Base):
    """An invitation of one address to an organisation; of the code in its link only the hash is stored."""

    __tablename__ = "invitations"

    organisation_id: Mapped[Uuid] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    id: Mapped[Uuid] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(254))
    role: Mapped[str] = mapped_column(String(10))
    code_hash: Mapped[bytes] = mapped_column(LargeBinary(32), unique=True)
    maker_id: Mapped[Uuid | None] = mapped_column(ForeignKey("users.id"), index=True)  # None: the operator
    mail_id: Mapped[Uuid | None]  # None: handed over
    created_at: Mapped[Millis] = mapped_column(BigInteger)
    ends_at: Mapped[Millis] = mapped_column(BigInteger, index=True)
    accepted_at: Mapped[Millis | None] = mapped_column(BigInteger)
    withdrawn_at: Mapped[Millis | None] = mapped_column(BigInteger)

    __table_args__ = (Index(None, "organisation_id", "email"),)


class PasswordLinkRow(Base):
    """A link by which the owner of a login sets its password, once; only the hash of its code is stored."""

    __tablename__ = "password_links"

    code_hash: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)
    user_id: Mapped[Uuid | None] = mapped_column(ForeignKey("users.id"), index=True)  # None: no login has the address
    ends_at: Mapped[Millis] = mapped_column(BigInteger, index=True)


class SupervisorRecord(Base):
    """Somebody who may override refusals at gates; only a hash of the PIN is stored."""

    __tablename__ = "supervisors"

    organisation_id: Mapped[Uuid] = mapped_column(ForeignKey("organisations.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(String(100))
    verifier: Mapped[str] = mapped_column(String(200))
    active: Mapped[bool] = mapped_column(default=True)
    created_at: Mapped[Millis] = mapped_column(BigInteger)

    __table_args__ = (UniqueConstraint("organisation_id", "name"),)


class ThrottleRow(Base):
    """How often something was tried that is slowed down, by a hash of who tries it; kept for a day."""

    __tablename__ = "throttles"

    key: Mapped[bytes] = mapped_column(LargeBinary(32), primary_key=True)
    count: Mapped[int] = mapped_column(default=0)
    wait_until: Mapped[Millis] = mapped_column(BigInteger, default=0)
    last_at: Mapped[Millis] = mapped_column(BigInteger, index=True)
