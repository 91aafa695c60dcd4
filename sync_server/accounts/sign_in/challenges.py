"""Challenges for passkeys: nothing is stored before one is answered, and none is answered twice."""

from __future__ import annotations

import hmac
from typing import Final

from sqlalchemy import delete
from sqlalchemy.orm import Session

from shared.clock import Millis
from sync_server.accounts.models import UsedChallengeRow
from sync_server.plumbing.requests.principals import ActionContext
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.sql import writes

LASTS_MS: Final = 5 * 60_000
_NONCE: Final = 16
_TIME: Final = 8


def make(sealer: Sealer, purpose: str, context: ActionContext) -> bytes:
    """A challenge for this purpose: random, with its end and our mark."""
    begun = context.entropy(_NONCE) + (context.now + LASTS_MS).to_bytes(_TIME, "big")
    return begun + _mark(sealer, purpose, begun)


def use(session: Session, challenge: bytes, sealer: Sealer, purpose: str, now: Millis) -> bool:
    """Use a challenge up; False if it is not ours, not for this, over, or was used before."""
    begun, mark = challenge[: _NONCE + _TIME], challenge[_NONCE + _TIME :]
    ends_at = int.from_bytes(begun[_NONCE:], "big")
    if not hmac.compare_digest(mark, _mark(sealer, purpose, begun)) or not now < ends_at:
        return False
    row = {"challenge": challenge, "ends_at": ends_at}
    used = writes.insert(session, UsedChallengeRow).values(row).on_conflict_do_nothing()
    return session.execute(used.returning(UsedChallengeRow.challenge)).first() is not None


def _mark(sealer: Sealer, purpose: str, begun: bytes) -> bytes:
    return bytes.fromhex(sealer.keyed_hash(begun.hex(), f"passkey challenge {purpose}"))


def delete_old(session: Session, now: Millis) -> None:
    """Delete challenges that have ended."""
    session.execute(delete(UsedChallengeRow).where(UsedChallengeRow.ends_at <= now))
