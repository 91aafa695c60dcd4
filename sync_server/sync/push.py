"""What comes up from gates: journals, answered entry by entry."""

from __future__ import annotations

from sqlalchemy.orm import Session

from shared import protocol
from shared.clock import Millis
from sync_server.devices.queries import KnownDevice
from sync_server.plumbing.sealing import Sealer
from sync_server.scans import service as scans


def journal(
    session: Session, device: KnownDevice, asked: protocol.JournalRequest, sealer: Sealer, now: Millis
) -> protocol.JournalAnswer:
    """Keep the entries; only the mark says what need not be sent again."""
    claim = scans.Claim(device.number, asked.branch, asked.head_seq, asked.head, asked.head_signature)
    receipt = scans.accept(session, device, claim, asked.entries, sealer=sealer, now=now)
    return protocol.JournalAnswer(
        answers=[(one.seq, one.status.value, one.why) for one in receipt.answers],
        mark=protocol.Mark(branch=asked.branch, seq=receipt.mark.seq, head=receipt.mark.head),
        server_time=now,
    )
