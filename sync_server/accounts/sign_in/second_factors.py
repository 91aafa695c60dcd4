"""A second factor beside the password: an authenticator app, and recovery codes for when it is lost."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, InvalidRequest, NotSignedIn
from sync_server.accounts.models import RecoveryCodeRow, SecondFactorRow, UserRow
from sync_server.accounts.sign_in import totp
from sync_server.audit.service import AuditLine, record
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer

RECOVERY_CODES: Final = 10
_RECOVERY_BYTES: Final = 10


@dataclass(frozen=True, slots=True)
class NewApp:
    """What an authenticator app needs; shown once."""

    secret: str
    uri: str


def begin(session: Session, user: UserRow, sealer: Sealer, context: ActionContext) -> NewApp:
    """Offer a secret to an app. It is asked for only after `confirm`; Conflict if there is a confirmed one."""
    if is_on(session, user.id):
        raise Conflict("A second factor is already on. Turn it off first.", code="second_factor_on")
    secret = context.entropy(totp.SECRET_BYTES)
    session.merge(SecondFactorRow(user_id=user.id, sealed=sealer.seal(secret, _purpose(user.id)), last_step=0))
    return NewApp(totp.text(secret), totp.uri(secret, user.email))


def offered(session: Session, user: UserRow, sealer: Sealer) -> NewApp:
    """The secret that was offered and is not confirmed yet; Conflict where there is none."""
    row = session.get(SecondFactorRow, user.id)
    if row is None or row.confirmed:
        raise Conflict("There is nothing to confirm. Start again.", code="no_second_factor_begun")
    secret = sealer.open(row.sealed, _purpose(user.id))
    return NewApp(totp.text(secret), totp.uri(secret, user.email))


def confirm(session: Session, user_id: str, code: str, sealer: Sealer, context: ActionContext) -> list[str]:
    """Turn the second factor on, by a first code of the app; the recovery codes, which are shown once."""
    row = session.get(SecondFactorRow, user_id, with_for_update=True)
    if row is None or row.confirmed:
        raise Conflict("Start again with a new secret: POST /api/second-factor.", code="no_second_factor_begun")
    if not _use_app(session, row, code, sealer, context.now):
        raise InvalidRequest("This code is wrong. Is your phone's clock right?", code="bad_second_factor")
    row.confirmed = True
    codes = [base64.b32encode(context.entropy(_RECOVERY_BYTES)).decode().lower() for _ in range(RECOVERY_CODES)]
    session.add_all(RecoveryCodeRow(user_id=user_id, code_hash=_hash(code)) for code in codes)
    session.flush()
    record(session, AuditLine(context, "user.second_factor_on", "user", user_id, None))
    return [f"{code[:4]}-{code[4:8]}-{code[8:12]}-{code[12:]}" for code in codes]


def is_on(session: Session, user_id: str) -> bool:
    """Whether a second factor is asked for."""
    row = session.get(SecondFactorRow, user_id)
    return row is not None and row.confirmed


def recovery_codes_left(session: Session, user_id: str) -> int:
    """How many recovery codes have not been used."""
    left = select(func.count()).select_from(RecoveryCodeRow).where(RecoveryCodeRow.user_id == user_id)
    return session.execute(left).scalar_one()


def prove(session: Session, user_id: str, code: str, sealer: Sealer, now: Millis) -> None:
    """NotSignedIn unless there is no second factor, or this is a code of it that was not used before."""
    row = session.get(SecondFactorRow, user_id)
    if row is None or not row.confirmed:
        return
    if not code:
        raise NotSignedIn(
            "Enter the code of your authenticator app too, or a recovery code.", code="second_factor_required"
        )
    if not (_use_app(session, row, code, sealer, now) or _use_recovery_code(session, user_id, code)):
        raise NotSignedIn(
            "This code is wrong or has already been used. Wait for the next one.", code="bad_second_factor"
        )


def turn_off(session: Session, user_id: str, context: ActionContext) -> None:
    """Ask for the password alone from now on."""
    for table in (RecoveryCodeRow, SecondFactorRow):
        session.execute(delete(table).where(table.user_id == user_id))
    record(session, AuditLine(context, "user.second_factor_off", "user", user_id, None))


def _use_app(session: Session, row: SecondFactorRow, code: str, sealer: Sealer, now: Millis) -> bool:
    """One statement uses a step up: of two who send the same code at once, one is refused."""
    step = totp.matching_step(sealer.open(row.sealed, _purpose(row.user_id)), code.replace(" ", ""), now)
    if step is None:
        return False
    later = SecondFactorRow.user_id == row.user_id, SecondFactorRow.last_step < step
    used = update(SecondFactorRow).where(*later).values(last_step=step).returning(SecondFactorRow.user_id)
    return session.execute(used).first() is not None


def _use_recovery_code(session: Session, user_id: str, code: str) -> bool:
    this = RecoveryCodeRow.user_id == user_id, RecoveryCodeRow.code_hash == _hash(code)
    return session.execute(delete(RecoveryCodeRow).where(*this).returning(RecoveryCodeRow.user_id)).first() is not None


def _hash(code: str) -> bytes:
    """Plain SHA-256 is enough: 80 random bits cannot be guessed."""
    return sha256(code.replace("-", "").strip().casefold().encode()).digest()


def _purpose(user_id: str) -> str:
    return f"second factor of {user_id}"
