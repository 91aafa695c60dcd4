"""One-time enrolment codes, and the handshake that turns a machine into a device of an organisation."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from shared import enrolment
from shared.clock import Millis
from shared.errors import Conflict, Forbidden, GatehouseError, InvalidRequest
from sync_server.audit import service as audit
from sync_server.devices import queries, rules, service
from sync_server.devices.models import Device, EnrolmentCode
from sync_server.plumbing.database import database_of
from sync_server.plumbing.principals import Actor
from sync_server.plumbing.sealing import Sealer

_ASK = "Ask for a new code on the device's page."


@dataclass(frozen=True, slots=True)
class EnrolmentAttempt:
    """What a machine sends to enrol."""

    code_id: bytes
    device_public: bytes
    nonce: bytes
    proof: bytes


@dataclass(frozen=True, slots=True)
class EnrolmentResult:
    """The enrolled device, and the proof that this server issued the code."""

    device: Device
    server_proof: bytes
    check_number: str


def new_code(
    session: Session, device: Device, server_public: bytes, sealer: Sealer, *, actor: Actor, now: Millis
) -> enrolment.Code:
    """A code for this device, shown once; earlier codes for it are withdrawn."""
    if device.revoked_at is not None:
        raise Conflict("This device has been revoked. Create a new device instead.", code="device_revoked")
    _withdraw_codes(session, device, now)
    code = enrolment.new_code(database_of(session).entropy, server_public)
    row = EnrolmentCode(
        code_id=code.id,
        organisation_id=device.organisation_id,
        device_id=device.id,
        sealed=sealer.seal(code.text.encode(), _purpose(code.id)),
        created_at=now,
        expires_at=now + rules.CODE_LIFETIME_MS,
        tries_left=rules.CODE_TRIES,
    )
    session.add(row)
    session.flush()
    _audit(session, device, "device.code_made", actor, now)
    return code


def enrol(
    session: Session, attempt: EnrolmentAttempt, server_public: bytes, sealer: Sealer, *, actor: Actor, now: Millis
) -> EnrolmentResult | GatehouseError:
    """Enrol the machine; a refusal is returned, not raised, so that the failed attempt is committed."""
    row = _locked(session, attempt.code_id)
    if row is None:
        return Forbidden(f"This server did not issue that code. {_ASK}", code="enrolment_code_unknown")
    try:
        used, withdrawn = row.used_at is not None, row.withdrawn_at is not None
        rules.require_open_code(now, row.expires_at, row.tries_left, used, withdrawn)
        code = enrolment.parse(sealer.open(row.sealed, _purpose(row.code_id)).decode())
        if not _proved(code, attempt):
            return _failed(session, row, actor, now)
        return _enrolled(session, row, code, attempt, server_public=server_public, actor=actor, now=now)
    except GatehouseError as refusal:
        return refusal


def _proved(code: enrolment.Code, attempt: EnrolmentAttempt) -> bool:
    return enrolment.same(enrolment.proof(code, attempt.device_public, attempt.nonce), attempt.proof)


def _failed(session: Session, row: EnrolmentCode, actor: Actor, now: Millis) -> GatehouseError:
    row.tries_left -= 1
    session.flush()
    device = queries.get(session, row.organisation_id, row.device_id)
    _audit(session, device, "device.enrolment_failed", actor, now)
    tries = "1 try is" if row.tries_left == 1 else f"{row.tries_left} tries are"
    hint = f"{tries} left." if row.tries_left else f"It cannot be used any more. {_ASK}"
    return Forbidden(f"The code is wrong. {hint}", code="enrolment_proof_wrong", tries_left=row.tries_left)


def _enrolled(
    session: Session,
    row: EnrolmentCode,
    code: enrolment.Code,
    attempt: EnrolmentAttempt,
    *,
    server_public: bytes,
    actor: Actor,
    now: Millis,
) -> EnrolmentResult:
    device = queries.get(session, row.organisation_id, row.device_id)
    _require_key_is_new(session, attempt.device_public, device)
    row.used_at = now
    row.check_number = enrolment.check_number(attempt.device_public, server_public, attempt.nonce)
    service.complete_enrolment(session, device, attempt.device_public, actor=actor, now=now)
    answer = enrolment.server_proof(code, attempt.device_public, server_public, attempt.nonce)
    return EnrolmentResult(device, answer, row.check_number)


def _require_key_is_new(session: Session, public: bytes, device: Device) -> None:
    if len(public) != 32:
        raise InvalidRequest("A device's public key must have 32 bytes.")
    holder = queries.holder_of_key(session, public)
    if holder is not None and holder != device.id:
        raise Conflict("This key belongs to another device. Let the gate generate a new one.", code="key_taken")


def _locked(session: Session, code_id: bytes) -> EnrolmentCode | None:
    # A machine sends nothing that tells its organisation: the code does.
    found = select(EnrolmentCode.organisation_id).where(EnrolmentCode.code_id == code_id)
    organisation_id = session.scalar(found)
    named = organisation_id, code_id
    return session.get(EnrolmentCode, named, with_for_update=True) if organisation_id else None


def _withdraw_codes(session: Session, device: Device, now: Millis) -> None:
    still_open = (
        EnrolmentCode.organisation_id == device.organisation_id,
        EnrolmentCode.device_id == device.id,
        EnrolmentCode.used_at.is_(None),
        EnrolmentCode.withdrawn_at.is_(None),
    )
    session.execute(update(EnrolmentCode).where(*still_open).values(withdrawn_at=now))


def _purpose(code_id: bytes) -> str:
    return f"enrolment code {code_id.hex()}"


def _audit(session: Session, device: Device, action: str, actor: Actor, now: Millis) -> None:
    line = audit.AuditLine(actor, action, "device", device.id, device.organisation_id, now)
    audit.record(session, line)
