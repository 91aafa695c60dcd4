"""Which codes were handed out: the same words are signed to the same bytes, so a code can be known again."""

from __future__ import annotations

from collections.abc import Collection

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.tickets import SIGNED_AS, code_hash
from sync_server.plumbing.many import among
from sync_server.plumbing.sealing import Sealer
from sync_server.tickets import signing
from sync_server.tickets.models import TicketIssueRecord, TicketRecord

Issue = tuple[int, int]
"""Ticket id and issue number."""
Words = tuple[int, bytes]
"""The number of the key that signed, and what it signed."""


class HandedOut:
    """The codes of some tickets of one organisation; nothing is read or signed before it is asked for."""

    def __init__(self, session: Session, organisation_id: str, sealer: Sealer, tickets: Collection[int]) -> None:
        """`tickets` are all that will be asked about."""
        self._session = session
        self._organisation = organisation_id
        self._sealer = sealer
        self._tickets = tickets
        self._latest: dict[int, int] = {}
        self._words: dict[Issue, Words] | None = None
        self._hashes: dict[Issue, bytes] = {}
        self._keys: dict[int, Ed25519PrivateKey] = {}

    def agrees(self, ticket_id: int, issue: int, shown: bytes) -> bool:
        """Whether a code of this hash was handed out as this issue; true where nothing is kept that could tell."""
        words = self._of(ticket_id, issue)
        if words is None:
            # Of an issue beyond the latest there is no code; of one replaced long ago the words may not have been kept.
            return issue <= self._latest.get(ticket_id, issue)
        known = self._hashes.get((ticket_id, issue))
        if known is None:
            known = self._hashes[ticket_id, issue] = self._signed(*words)
        return known == shown

    def _of(self, ticket_id: int, issue: int) -> Words | None:
        if self._words is None:
            self._words = self._read_present() | self._read_replaced()
        return self._words.get((ticket_id, issue))

    def _signed(self, key_id: int, words: bytes) -> bytes:
        key = self._keys.get(key_id)
        if key is None:
            sealed = signing.key(self._session, self._organisation, key_id)
            key = self._keys[key_id] = signing.private_part(sealed, self._sealer)
        return code_hash(words + key.sign(SIGNED_AS + words))

    def _read_present(self) -> dict[Issue, Words]:
        columns = select(TicketRecord.id, TicketRecord.issue, TicketRecord.key_id, TicketRecord.claims)
        mine = TicketRecord.organisation_id == self._organisation, among(self._session, TicketRecord.id, self._tickets)
        rows = self._session.execute(columns.where(*mine)).all()
        self._latest = {id: issue for id, issue, *_ in rows}
        return {(id, issue): (key_id, words) for id, issue, key_id, words in rows}

    def _read_replaced(self) -> dict[Issue, Words]:
        again = [id for id, issue in self._latest.items() if issue > 1]
        if not again:
            return {}
        kept = TicketIssueRecord
        mine = kept.organisation_id == self._organisation, among(self._session, kept.ticket_id, again)
        rows = self._session.execute(select(kept.ticket_id, kept.issue, kept.key_id, kept.claims).where(*mine))
        return {(id, issue): (key_id, words) for id, issue, key_id, words in rows}
