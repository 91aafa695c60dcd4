"""The codes of parties: their bytes never change, and readers that know none refuse them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import InvalidRequest
from shared.parties import LARGEST, Member, from_value, to_value
from shared.reasons import Reason
from shared.tickets import ReadParty, Refusal, party_claims, read, read_party_or_ticket, sign
from tests.unit.shared.test_tickets_vectors import RING, VECTORS, named
from tests.vectors.make_tickets import EVENTS, UNKNOWN_KEY, private_key

MEMBERS = st.lists(
    st.builds(Member, st.integers(0, 2**64 - 1), st.integers(0, 255)),
    min_size=2,
    max_size=LARGEST,
    unique_by=lambda member: member.ticket_id,
)


@pytest.mark.parametrize("case", VECTORS["parties"], ids=named)
def test_a_party_is_read_with_its_members(case: dict[str, object]) -> None:
    answer = read_party_or_ticket(str(case["text"]), RING)
    assert isinstance(answer, ReadParty)
    assert [[str(one.ticket_id), one.issue] for one in answer.members] == case["members"]
    assert (answer.event_number, answer.issued_at, answer.organisation, answer.key_distrusted) == tuple(
        case[name] for name in ("event_number", "issued_at", "organisation", "key_distrusted")
    )
    assert answer.code_hash.hex() == case["code_hash"]


@pytest.mark.parametrize("case", VECTORS["parties"], ids=named)
def test_a_reader_that_admits_one_guest_at_a_time_says_that_it_is_too_old(case: dict[str, object]) -> None:
    assert read(str(case["text"]), RING) == Refusal(Reason.UNSUPPORTED_VERSION)


@given(MEMBERS)
def test_every_party_has_one_form_whatever_the_order(members: list[Member]) -> None:
    value = to_value(members)
    assert value == to_value(reversed(members))
    assert from_value(value) == tuple(sorted(members))


@given(st.binary(max_size=300))
def test_any_bytes_are_a_party_in_its_one_form_or_none(value: bytes) -> None:
    found = from_value(value)
    assert found is None or to_value(found) == value


@pytest.mark.parametrize("count", [0, 1, LARGEST + 1])
def test_a_party_is_neither_one_guest_nor_a_crowd(count: int) -> None:
    with pytest.raises(InvalidRequest):
        to_value(Member(number, 1) for number in range(count))


def test_a_party_signed_by_a_stranger_is_refused_like_a_ticket() -> None:
    members = (Member(1, 1), Member(2, 1))
    forged = sign(party_claims(1, EVENTS[0], 0, members), private_key(UNKNOWN_KEY))
    unknown = sign(party_claims(UNKNOWN_KEY, EVENTS[0], 0, members), private_key(UNKNOWN_KEY))
    found = [read_party_or_ticket(text, RING) for text in (forged, unknown)]
    assert [one.reason for one in found if isinstance(one, Refusal)] == [Reason.BAD_SIGNATURE, Reason.UNKNOWN_KEY]
