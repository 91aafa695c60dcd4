"""One-time enrolment codes, and the handshake that turns a machine into a device of an organisation."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import Conflict, Forbidden, GatehouseError, InvalidRequest
from shared.wire import enrolment
from sync_server.audit import service as audit
from sync_server.devices import codes, queries, rules, service
from sync_server.devices.models import Device, EnrolmentCode
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer


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
    session: Session, device: Device, server_public: bytes, sealer: Sealer, context: ActionContext
) -> enrolment.Code:
    """A code for this device, shown once; earlier codes for it are withdrawn."""
    if device.revoked_at is not None:
        raise Conflict("This device has been revoked. Create a new device instead.", code="device_revoked")
    _withdraw_codes(session, device, context.now)
    code = enrolment.new_code(context.entropy, server_public)
    row = EnrolmentCode(
        code_id=code.id,
        organisation_id=device.organisation_id,
        device_id=device.id,
        sealed=sealer.seal(code.text.encode(), _purpose(code.id)),
        created_at=context.now,
        expires_at=context.now + rules.CODE_LIFETIME_MS,
        tries_left=rules.CODE_TRIES,
    )
    session.add(row)
    session.flush()
    _audit(session, device, "device.code_made", context)
    return code


def enrol(
    session: Session, attempt: EnrolmentAttempt, server_public: bytes, sealer: Sealer, context: ActionContext
) -> EnrolmentResult | GatehouseError:
    """Enrol the machine; a refusal is returned, not raised, so that the failed attempt is committed."""
    row = _locked(session, attempt.code_id)
    if row is None:
        return Forbidden(f"This server did not issue that code. {rules.ASK}", code="enrolment_code_unknown")
    try:
        rules.require_open_code(codes.state_of(row, context.now))
        code = enrolment.parse(sealer.open(row.sealed, _purpose(row.code_id)).decode())
        if not _proved(code, attempt):
            return _failed(session, row, context)
        return _enrolled(session, row, code, attempt, server_public=server_public, context=context)
    except GatehouseError as refusal:
        return refusal


def _proved(code: enrolment.Code, attempt: EnrolmentAttempt) -> bool:
    return enrolment.same(enrolment.proof(code, attempt.device_public, attempt.nonce), attempt.proof)


def _failed(session: Session, row: EnrolmentCode, context: ActionContext) -> GatehouseError:
    row.tries_left -= 1
    session.flush()
    device = queries.get(session, row.organisation_id, row.device_id)
    _audit(session, device, "device.enrolment_failed", context)
    tries = "1 try is" if row.tries_left == 1 else f"{row.tries_left} tries are"
    hint = f"{tries} left." if row.tries_left else f"It cannot be used any more. {rules.ASK}"
    return Forbidden(f"The code is wrong. {hint}", code="enrolment_proof_wrong", tries_left=row.tries_left)


def _enrolled(
    session: Session,
    row: EnrolmentCode,
    code: enrolment.Code,
    attempt: EnrolmentAttempt,
    *,
    server_public: bytes,
    context: ActionContext,
) -> EnrolmentResult:
    device = queries.get(session, row.organisation_id, row.device_id)
    _require_key_is_new(session, attempt.device_public, device)
    row.used_at = context.now
    row.check_number = enrolment.check_number(attempt.device_public, server_public, attempt.nonce)
    service.complete_enrolment(session, device, attempt.device_public, context)
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
    mine = EnrolmentCode.organisation_id == device.organisation_id, EnrolmentCode.device_id == device.id
    still_open = EnrolmentCode.used_at.is_(None), EnrolmentCode.withdrawn_at.is_(None)
    session.execute(update(EnrolmentCode).where(*mine, *still_open).values(withdrawn_at=now))


def _purpose(code_id: bytes) -> str:
    return f"enrolment code {code_id.hex()}"


def _audit(session: Session, device: Device, action: str, context: ActionContext) -> None:
    audit.record(session, audit.AuditLine(context, action, "device", device.id, device.organisation_id))
