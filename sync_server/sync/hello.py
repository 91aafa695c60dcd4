"""Enrolment and hello: who a gate is, what the server holds of its journal, and what it is assigned to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.errors import GatehouseError
from shared.wire import protocol
from sync_server.accounts import queries as accounts
from sync_server.devices import enrolment, service
from sync_server.devices.queries import EnrolledDevice
from sync_server.devices.service import Passing, Report
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.scans import service as scans
from sync_server.sync import assignments

REVOKED = "The organiser has revoked this device. It no longer admits anybody; its journal can still be delivered."
MOVED_BACK = (
    "This gate's journal is shorter than the server's copy, or differs from it. "
    "The gate continues on a new branch; tell the organiser."
)

FORKED = (
    "Another machine has written entries with this gate's key: a copy of its card is in use. "
    "Switch the other machine off and tell the organiser."
)


def enrol(
    session: Session, request: protocol.EnrolRequest, public: bytes, sealer: Sealer, context: ActionContext
) -> protocol.EnrolAnswer | GatehouseError:
    """Enrol a machine; a refusal is returned, not raised, so that the failed attempt is committed."""
    protocol.version_spoken_by(request.versions)
    attempt = enrolment.EnrolmentAttempt(request.code_id, request.device_public, request.nonce, request.proof)
    result = enrolment.enrol(session, attempt, public, sealer, context)
    if isinstance(result, GatehouseError):
        return result
    device = result.device
    events = assignments.of_device(session, device.organisation_id, device.id)
    return protocol.EnrolAnswer(
        device_number=device.number,
        device_id=device.id,
        organisation=device.organisation_id,
        organisation_name=accounts.organisation(session, device.organisation_id).name,
        server_public=public,
        server_proof=result.server_proof,
        server_time=context.now,
        check=result.check_number,
        gate=events[0].gate_code or None if events else None,
        events=events,
    )


def hello(
    session: Session, device: EnrolledDevice, request: protocol.HelloRequest, waits_at: str, now: Millis
) -> protocol.HelloAnswer:
    """Store the gate's report and answer with its assignments, the server's mark, and where to wait for changes."""
    protocol.version_spoken_by(request.versions)
    service.store_report(session, device.id, device.organisation_id, _report(request), now)
    claim = scans.Claim(device.number, request.branch, request.last_seq, request.head)
    journal = scans.check_claim(session, device, claim, now)
    found = MOVED_BACK if journal.moved_back else FORKED if journal.forked else ""
    message = REVOKED if device.revoked else found
    return protocol.HelloAnswer(
        server_time=now,
        mark=protocol.Mark(branch=request.branch, seq=journal.mark.seq, head=journal.mark.head),
        assignments=[] if device.revoked else assignments.of_device(session, device.organisation_id, device.id),
        profile=device.profile,
        revoked=device.revoked,
        words=message,
        waits_at=waits_at,
        forked=journal.forked,
    )


def rows_held(events: Sequence[protocol.EventAt]) -> list[dict[str, int | None]]:
    """How current a gate's rows are and where it stands, as stored for the organiser's page."""
    return [{"event": at.event, "revision": at.revision, "heard": at.heard, "gate": at.gate} for at in events]


def said_in_passing(request: protocol.ChangesRequest) -> Passing:
    """What a gate says of itself while it asks for changes."""
    return Passing(rows_held(request.events), request.unsent, _health(request.health))


def _health(health: protocol.Health | None) -> dict[str, Any] | None:
    """What the machine told, without what it cannot tell."""
    if health is None:
        return None
    said = msgspec.structs.asdict(health)
    return {name: value for name, value in said.items() if name != "critical" and value not in (None, [], "")}


def _report(request: protocol.HelloRequest) -> Report:
    return Report(
        software=request.software[:40],
        branch=request.branch,
        last_seq=request.last_seq,
        unsent=request.unsent,
        rows=rows_held(request.rows),
        clock_offset=request.clock_offset,
        clock_uncertainty=request.clock_uncertainty,
        health=_health(request.health),
    )
