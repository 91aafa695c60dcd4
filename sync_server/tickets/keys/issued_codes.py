"""Recognises issued codes: signing the same claims gives the same bytes, so a code need not be stored."""

from __future__ import annotations

from collections.abc import Collection

from nacl.bindings import crypto_sign, crypto_sign_BYTES, crypto_sign_seed_keypair
from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.tickets import SIGNED_AS, code_hash
from sync_server.plumbing.sealing import Sealer
from sync_server.plumbing.sql.bulk import among
from sync_server.tickets.keys import signing_keys
from sync_server.tickets.models import TicketIssueRecord, TicketRecord

Issue = tuple[int, int]
"""Ticket id and issue number."""
SignedClaims = tuple[int, bytes]
"""Id of the signing key, and the claims."""


class IssuedCodes:
    """The codes of some tickets of one organisation, read and signed on demand."""

    def __init__(self, session: Session, organisation_id: str, sealer: Sealer, tickets: Collection[int]) -> None:
        """`tickets` are all the tickets that will be checked."""
        self._session = session
        self._organisation = organisation_id
        self._sealer = sealer
        self._tickets = tickets
        self._latest: dict[int, int] = {}
        self._claims: dict[Issue, SignedClaims] | None = None
        self._hashes: dict[Issue, bytes] = {}
        self._keys: dict[int, bytes] = {}  # for libsodium, which signs almost twice as fast

    def agrees(self, ticket_id: int, issue: int, shown: bytes) -> bool:
        """Whether a code with this hash was issued; also true if the claims of that issue are not stored."""
        signed = self._of(ticket_id, issue)
        if signed is None:
            # An issue beyond the latest has no code; the claims of a long replaced one may not have been stored.
            return issue <= self._latest.get(ticket_id, issue)
        expected = self._hashes.get((ticket_id, issue))
        if expected is None:
            expected = self._hashes[ticket_id, issue] = self._code_hash(*signed)
        return expected == shown

    def _of(self, ticket_id: int, issue: int) -> SignedClaims | None:
        if self._claims is None:
            self._claims = self._read_current() | self._read_replaced()
        return self._claims.get((ticket_id, issue))

    def _code_hash(self, key_id: int, claims: bytes) -> bytes:
        key = self._keys.get(key_id)
        if key is None:
            row = signing_keys.key(self._session, self._organisation, key_id)
            seed = signing_keys.private_key(row, self._sealer).private_bytes_raw()
            key = self._keys[key_id] = crypto_sign_seed_keypair(seed)[1]
        return code_hash(claims + crypto_sign(SIGNED_AS + claims, key)[:crypto_sign_BYTES])

    def _read_current(self) -> dict[Issue, SignedClaims]:
        columns = select(TicketRecord.id, TicketRecord.issue, TicketRecord.key_id, TicketRecord.claims)
        conditions = (
            TicketRecord.organisation_id == self._organisation,
            among(self._session, TicketRecord.id, self._tickets),
        )
        rows = self._session.execute(columns.where(*conditions)).all()
        self._latest = {id: issue for id, issue, *_ in rows}
        return {(id, issue): (key_id, claims) for id, issue, key_id, claims in rows}

    def _read_replaced(self) -> dict[Issue, SignedClaims]:
        reissued = [id for id, issue in self._latest.items() if issue > 1]
        if not reissued:
            return {}
        issues = TicketIssueRecord
        conditions = issues.organisation_id == self._organisation, among(self._session, issues.ticket_id, reissued)
        rows = self._session.execute(
            select(issues.ticket_id, issues.issue, issues.key_id, issues.claims).where(*conditions)
        )
        return {(id, issue): (key_id, claims) for id, issue, key_id, claims in rows}
