"""One-time codes and the handshake by which a machine becomes a device of an organisation."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import update
from sqlalchemy.orm import Session

from shared import enrolment
from shared.clock import Millis
from shared.errors import Conflict, Forbidden, GatehouseError, InvalidRequest
from sync_server.audit import service as audit
from sync_server.devices import queries, rules, service
from sync_server.devices.models import Device, EnrolmentCode
from sync_server.plumbing.database import of
from sync_server.plumbing.principals import Actor
from sync_server.plumbing.sealing import Sealer

_ASK = "Ask for a new code on the device's page."


@dataclass(frozen=True, slots=True)
class Asked:
    """What a machine that wants to become a device sends."""

    code_id: bytes
    device_public: bytes
    nonce: bytes
    proof: bytes


@dataclass(frozen=True, slots=True)
class Welcome:
    """The device it became, and what proves to it that this is the server the code came from."""

    device: Device
    server_proof: bytes
    check_number: str


def new_code(
    session: Session, device: Device, server_public: bytes, sealer: Sealer, *, actor: Actor, now: Millis
) -> enrolment.Code:
    """A code for this device, shown once; codes given out for it before open nothing any more."""
    if device.revoked_at is not None:
        raise Conflict("This device has been revoked. Make a new device instead.", code="device_revoked")
    _withdraw_earlier(session, device, now)
    code = enrolment.new_code(of(session).entropy, server_public)
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
    _note(session, device, "device.code_made", actor, now)
    return code


def attempt(
    session: Session, asked: Asked, server_public: bytes, sealer: Sealer, *, actor: Actor, now: Millis
) -> Welcome | GatehouseError:
    """Let the machine in, or say why not; a refusal is returned, because the try that it cost must be committed."""
    row = _locked(session, asked.code_id)
    if row is None:
        return Forbidden(f"This server gave out no such code. {_ASK}", code="enrolment_code_unknown")
    try:
        used, withdrawn = row.used_at is not None, row.withdrawn_at is not None
        rules.require_open_code(now, row.expires_at, row.tries_left, used, withdrawn)
        code = enrolment.parse(sealer.open(row.sealed, _purpose(row.code_id)).decode())
        if not _proved(code, asked):
            return _failed(session, row, actor, now)
        return _welcome(session, row, code, asked, server_public=server_public, actor=actor, now=now)
    except GatehouseError as refusal:
        return refusal


def _proved(code: enrolment.Code, asked: Asked) -> bool:
    return enrolment.same(enrolment.proof(code, asked.device_public, asked.nonce), asked.proof)


def _failed(session: Session, row: EnrolmentCode, actor: Actor, now: Millis) -> GatehouseError:
    row.tries_left -= 1
    session.flush()
    device = queries.get(session, row.organisation_id, row.device_id)
    _note(session, device, "device.enrolment_failed", actor, now)
    left = f"{row.tries_left} tries are left." if row.tries_left else f"It is dead now. {_ASK}"
    return Forbidden(f"The code does not fit. {left}", code="enrolment_proof_wrong", tries_left=row.tries_left)


def _welcome(
    session: Session,
    row: EnrolmentCode,
    code: enrolment.Code,
    asked: Asked,
    *,
    server_public: bytes,
    actor: Actor,
    now: Millis,
) -> Welcome:
    device = queries.get(session, row.organisation_id, row.device_id)
    _require_key_is_new(session, asked.device_public, device)
    row.used_at = now
    row.check_number = enrolment.check_number(asked.device_public, server_public, asked.nonce)
    service.enrolled(session, device, asked.device_public, actor=actor, now=now)
    answer = enrolment.server_proof(code, asked.device_public, server_public, asked.nonce)
    return Welcome(device, answer, row.check_number)


def _require_key_is_new(session: Session, public: bytes, device: Device) -> None:
    if len(public) != 32:
        raise InvalidRequest("A device's public key has 32 bytes.")
    holder = queries.holder_of_key(session, public)
    if holder is not None and holder != device.id:
        raise Conflict("This key belongs to another device. Let the gate make a new one.", code="key_taken")


def _locked(session: Session, code_id: bytes) -> EnrolmentCode | None:
    return session.get(EnrolmentCode, code_id, with_for_update=True)


def _withdraw_earlier(session: Session, device: Device, now: Millis) -> None:
    still_open = (
        EnrolmentCode.device_id == device.id,
        EnrolmentCode.used_at.is_(None),
        EnrolmentCode.withdrawn_at.is_(None),
    )
    session.execute(update(EnrolmentCode).where(*still_open).values(withdrawn_at=now))


def _purpose(code_id: bytes) -> str:
    return f"enrolment code {code_id.hex()}"


def _note(session: Session, device: Device, action: str, actor: Actor, now: Millis) -> None:
    line = audit.AuditLine(actor, action, "device", device.id, device.organisation_id, now)
    audit.record(session, line)
