"""The first word of a gate: what it is let in as, what the server holds of its journal, what it is to do."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from shared import protocol
from shared.clock import Millis
from shared.errors import GatehouseError
from sync_server.accounts import queries as accounts
from sync_server.devices import enrolment, service
from sync_server.devices.queries import KnownDevice
from sync_server.devices.service import Report
from sync_server.plumbing.principals import Actor
from sync_server.plumbing.sealing import Sealer
from sync_server.scans import service as scans
from sync_server.sync import assignments

REVOKED = "The organiser has shut this device out. It lets nobody in any more; its journal may still be delivered."
MOVED_BACK = (
    "This gate's journal is shorter or other than what the server has. "
    "It goes on under a new branch; tell the organiser."
)


def enrol(
    session: Session, asked: protocol.EnrolRequest, public: bytes, sealer: Sealer, *, actor: Actor, now: Millis
) -> protocol.EnrolAnswer | GatehouseError:
    """Let a machine in; a refusal is returned, because the try that it cost must be committed."""
    protocol.version_spoken_by(asked.versions)
    words = enrolment.Asked(asked.code_id, asked.device_public, asked.nonce, asked.proof)
    welcome = enrolment.attempt(session, words, public, sealer, actor=actor, now=now)
    if isinstance(welcome, GatehouseError):
        return welcome
    device = welcome.device
    told = assignments.told(session, device.id)
    return protocol.EnrolAnswer(
        device_number=device.number,
        device_id=device.id,
        organisation=device.organisation_id,
        organisation_name=accounts.organisation(session, device.organisation_id).name,
        server_public=public,
        server_proof=welcome.server_proof,
        server_time=now,
        check=welcome.check_number,
        gate=told[0].gate_code or None if told else None,
        events=told,
    )


def hello(session: Session, device: KnownDevice, asked: protocol.HelloRequest, now: Millis) -> protocol.HelloAnswer:
    """Note what the gate says of itself, and tell it how things stand."""
    protocol.version_spoken_by(asked.versions)
    service.hear(session, device.id, device.organisation_id, _report(asked), now)
    claim = scans.Claim(device.number, asked.branch, asked.last_seq, asked.head)
    heard = scans.hear_claim(session, device, claim, now)
    words = REVOKED if device.revoked else MOVED_BACK if heard.moved_back else ""
    return protocol.HelloAnswer(
        server_time=now,
        mark=protocol.Mark(branch=asked.branch, seq=heard.mark.seq, head=heard.mark.head),
        assignments=[] if device.revoked else assignments.told(session, device.id),
        profile=device.profile,
        revoked=device.revoked,
        words=words,
    )


def rows_held(events: Sequence[protocol.EventAt]) -> list[dict[str, int]]:
    """How far a gate's rows are, as the organiser's page shows it."""
    return [{"event": at.event, "revision": at.revision, "heard": at.heard} for at in events]


def _report(asked: protocol.HelloRequest) -> Report:
    return Report(
        software=asked.software[:40],
        branch=asked.branch,
        last_seq=asked.last_seq,
        unsent=asked.unsent,
        rows=rows_held(asked.rows),
        clock_offset=asked.clock_offset,
        clock_uncertainty=asked.clock_uncertainty,
    )
