"""A row and the printed claims agree."""

from __future__ import annotations

from dataclasses import fields

from shared import claims
from shared.claims import Ticket
from shared.wire.rows import TicketRow
from shared.words.as_printed import as_printed
from tests.unit.shared.wire_builders import a_ticket_row


def test_every_claim_that_a_row_knows_is_the_rows() -> None:
    row = a_ticket_row(zone=3, seat=4, valid_days=5, limit=6, not_before=7, not_after=8, ticket_type=9)
    said = as_printed(row, 77)
    both = set(Ticket.__struct_fields__) & {field.name for field in fields(TicketRow)}
    assert len(both) >= 11
    assert {name: getattr(said, name) for name in both} == {name: getattr(row, name) for name in both}
    assert (said.key_id, said.event_number) == (0, 77)


def test_the_issue_that_was_shown_may_be_another_than_the_rows() -> None:
    said = as_printed(a_ticket_row(issue=3), 77, issue=2, issued_at=1_783_180_800)
    assert (said.issue, said.issued_at) == (2, 1_783_180_800)


def test_what_a_row_says_fits_into_a_code() -> None:
    assert claims.to_bytes(as_printed(a_ticket_row(), 77))
