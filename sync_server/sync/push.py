"""What gates upload: journals, answered entry by entry."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared.clock import Millis
from shared.wire import protocol
from sync_server.devices.queries import EnrolledDevice
from sync_server.plumbing.sealing import Sealer
from sync_server.scans import service as scans


def journal(
    session: Session, device: EnrolledDevice, request: protocol.JournalRequest, sealer: Sealer, now: Millis
) -> protocol.JournalAnswer:
    """Store the entries; only the mark says what need not be sent again."""
    claim = scans.Claim(device.number, request.branch, request.head_seq, request.head, request.head_signature)
    receipt = scans.accept(session, device, claim, request.entries, sealer=sealer, now=now)
    return protocol.JournalAnswer(
        answers=[(answer.seq, answer.status.value, answer.why) for answer in receipt.answers],
        mark=protocol.Mark(branch=request.branch, seq=receipt.mark.seq, head=receipt.mark.head),
        server_time=now,
        forked=receipt.forked,
    )
