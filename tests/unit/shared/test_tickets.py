"""Signed tickets are read back; nothing else is accepted."""

from __future__ import annotations

import hashlib
import struct
from base64 import b32decode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from shared.errors import InvalidRequest, Unreadable
from shared.keys import KeyRing, KeyState, TicketKey
from shared.reasons import Reason
from shared.tickets import (
    Entitlement,
    ReadTicket,
    Refusal,
    Ticket,
    TicketFlags,
    as_text,
    code_hash_of,
    read,
    sign,
    signed_bytes,
)
from tests.vectors.make_tickets import CODE, RING, TICKET, flipped, private_key, public_key

ONE, TWO, FOUR, EIGHT = (st.integers(0, 256**size - 1) for size in (1, 2, 4, 8))
HARMLESS_EXTENSIONS = st.dictionaries(st.sampled_from([0, *range(2, 128)]), st.binary(max_size=12), max_size=8)

TICKETS = st.builds(
    Ticket,
    key_id=st.just(1),
    event_number=FOUR,
    ticket_id=EIGHT,
    issue=ONE,
    issued_at=FOUR,
    ticket_type=TWO,
    zone=TWO,
    seat=FOUR,
    valid_days=st.integers(0, 2**90),
    entitlement=st.sampled_from(Entitlement),
    limit=ONE,
    flags=st.integers(0, 63).map(TicketFlags),
    not_before=FOUR,
    not_after=FOUR,
    extensions=HARMLESS_EXTENSIONS.map(lambda found: tuple(sorted(found.items()))),
)


@given(TICKETS)
def test_every_claim_comes_back_as_it_was_signed(ticket: Ticket) -> None:
    answer = read(sign(ticket, private_key(1)), RING)
    assert isinstance(answer, ReadTicket)
    assert answer.ticket == ticket
    assert (answer.organisation, answer.key_distrusted) == ("opera", False)


@given(TICKETS)
def test_one_ticket_has_one_text(ticket: Ticket) -> None:
    """Ed25519 is deterministic and every form is canonical: what is read would be written just so."""
    text = sign(ticket, private_key(1))
    answer = read(text, RING)
    assert isinstance(answer, ReadTicket)
    assert sign(answer.ticket, private_key(1)) == text


def test_an_ordinary_ticket_is_174_characters_of_the_alphanumeric_mode() -> None:
    assert len(signed_bytes(TICKET, private_key(1))) == 106
    assert len(CODE) == 174
    assert set(CODE) <= set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:")


@given(st.text(max_size=300) | st.text(st.characters(codec=None, categories=["Cs", "Cc", "So", "Nd"])))
def test_any_text_is_answered(text: str) -> None:
    assert isinstance(read(text, RING), Refusal)


@given(st.binary(max_size=450))
def test_any_bytes_in_our_wrapping_are_answered(raw: bytes) -> None:
    assert isinstance(read(as_text(raw), RING), Refusal)


@given(st.binary(min_size=41, max_size=41), st.binary(max_size=40))
def test_any_bytes_under_a_good_signature_are_answered(rest: bytes, block: bytes) -> None:
    """No signed bytes make a gate crash."""
    head = b"\x01\x00\x01" + rest[2:-1] + bytes([len(block)])
    raw = head + block + private_key(1).sign(b"gatehouse:ticket:1\x00" + head + block)
    assert isinstance(read(as_text(raw), RING), ReadTicket | Refusal)


@given(st.data())
def test_a_code_that_was_edited_is_never_another_ticket(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(CODE)))
    end = data.draw(st.integers(start, len(CODE)))
    text = CODE[:start] + data.draw(st.text("ABCXYZ234567 \n]Q1", max_size=6)) + CODE[end:]
    answer = read(text, RING)
    assert isinstance(answer, Refusal) or answer.ticket == TICKET


def test_no_single_bit_can_be_changed() -> None:
    raw = signed_bytes(replace(TICKET, extensions=((7, b"x"),)), private_key(1))
    believed = [bit for bit in range(len(raw) * 8) if not isinstance(read(as_text(flipped(raw, bit)), RING), Refusal)]
    assert believed == []


@pytest.mark.parametrize("size", [4_096, 100_000, 2_000_000])
@pytest.mark.parametrize("start", [CODE, "MAY1", "may1", "?QY&", "]Q1", " ", "\ud800"])
def test_a_text_of_any_length_is_unreadable(size: int, start: str) -> None:
    assert read(start + "A" * size, RING) == Refusal(Reason.UNREADABLE)


class TestTrust:
    """The first failing check is reported, in the order of the admission table."""

    def test_a_length_that_lies_is_reported_before_an_unknown_extension_s_signature(self) -> None:
        raw = signed_bytes(replace(TICKET, extensions=((0x90, b"x"),)), private_key(1))
        assert read(as_text(raw), RING).reason is Reason.UNSUPPORTED_VERSION  # type: ignore[union-attr]
        assert read(as_text(raw[:-1]), RING).reason is Reason.UNREADABLE  # type: ignore[union-attr]

    def test_what_is_not_understood_is_reported_before_the_key(self) -> None:
        text = sign(replace(TICKET, key_id=99, extensions=((0x80, b""),)), private_key(99))
        assert read(text, RING) == Refusal(Reason.UNSUPPORTED_VERSION)

    def test_an_unknown_key_is_reported_before_its_signature(self) -> None:
        ticket = replace(TICKET, key_id=99)
        text = sign(ticket, private_key(1))
        assert read(text, RING) == Refusal(Reason.UNKNOWN_KEY, ticket, code_hash_of(text))

    def test_a_revoked_key_is_unknown_and_says_that_it_was_revoked(self) -> None:
        ticket = replace(TICKET, key_id=4)
        answer = read(sign(ticket, private_key(4)), RING)
        assert isinstance(answer, Refusal)
        assert (answer.reason, answer.key_revoked, answer.ticket) == (Reason.UNKNOWN_KEY, True, ticket)

    def test_an_altered_ticket_keeps_its_claims_for_the_journal_only(self) -> None:
        raw = flipped(signed_bytes(TICKET, private_key(1)), 14 * 8 + 7)
        answer = read(as_text(raw), RING)
        assert isinstance(answer, Refusal)
        assert answer.reason is Reason.BAD_SIGNATURE
        assert answer.ticket == replace(TICKET, ticket_id=TICKET.ticket_id ^ 1)

    def test_a_signature_that_fails_is_a_forgery_only_at_an_event_that_is_held(self) -> None:
        """Two organisations may both have key 1: elsewhere it is a genuine ticket whose key is not held here."""
        theirs = sign(replace(TICKET, event_number=70_002), private_key(99))
        assert read(theirs, RING) == Refusal(
            Reason.UNKNOWN_KEY, replace(TICKET, event_number=70_002), code_hash_of(theirs)
        )
        both = KeyRing.of(RING.keys.values(), {70_001, 70_002})
        assert read(theirs, both).reason is Reason.BAD_SIGNATURE  # type: ignore[union-attr]

    def test_a_retired_key_still_verifies(self) -> None:
        answer = read(sign(replace(TICKET, key_id=2), private_key(2)), RING)
        assert isinstance(answer, ReadTicket)
        assert not answer.key_distrusted

    def test_a_distrusted_key_verifies_and_says_so(self) -> None:
        answer = read(sign(replace(TICKET, key_id=3), private_key(3)), RING)
        assert isinstance(answer, ReadTicket)
        assert answer.key_distrusted

    def test_the_organisation_is_the_key_s_and_never_the_ticket_s(self) -> None:
        ring = KeyRing.of([TicketKey.of(1, "arena", public_key(1), KeyState.ACTIVE)], ())
        answer = read(CODE, ring)
        assert isinstance(answer, ReadTicket)
        assert answer.organisation == "arena"


class TestHash:
    """By what journals name a code."""

    def test_it_is_the_same_however_the_code_was_typed(self) -> None:
        answer = read(CODE, RING)
        assert isinstance(answer, ReadTicket)
        assert code_hash_of(f"]Q1{CODE.lower()}\n") == code_hash_of(CODE) == answer.code_hash

    def test_it_is_reported_of_codes_that_this_device_cannot_check(self) -> None:
        raw = signed_bytes(replace(TICKET, key_id=99), private_key(99))
        assert code_hash_of(as_text(raw)) == hashlib.sha256(raw).digest()[:16]

    def test_what_is_no_code_has_none(self) -> None:
        with pytest.raises(Unreadable):
            code_hash_of("https://example.org")


class TestIssuing:
    """A claim that does not fit is named before anything is printed."""

    @pytest.mark.parametrize(
        ("claim", "value"),
        [
            ("key_id", 1 << 16),
            ("event_number", 1 << 32),
            ("ticket_id", 1 << 64),
            ("ticket_id", -1),
            ("issue", 256),
            ("issued_at", -1),
            ("seat", 1 << 32),
            ("valid_days", -1),
            ("limit", 256),
            ("not_after", 1 << 32),
        ],
    )
    def test_a_number_too_large(self, claim: str, value: int) -> None:
        with pytest.raises(InvalidRequest) as refusal:
            sign(changed({claim: value}), private_key(1))
        assert refusal.value.details["claim"] == claim
        assert claim in refusal.value.message or claim == "valid_days"

    @pytest.mark.parametrize(
        "changes",
        [
            {"extensions": ((7, b""), (7, b""))},
            {"extensions": ((1, b"\x01"),)},
            {"extensions": ((256, b""),)},
            {"extensions": ((2, bytes(254)),)},
            {"extensions": ((2, bytes(200)), (3, bytes(60)))},
            {"valid_days": 1 << (16 + 8 * 253)},
        ],
    )
    def test_extensions_that_cannot_be_written(self, changes: dict[str, Any]) -> None:
        with pytest.raises(InvalidRequest):
            sign(changed(changes), private_key(1))

    def test_an_event_of_more_than_two_thousand_days_still_fits(self) -> None:
        ticket = replace(TICKET, valid_days=1 << (15 + 8 * 253))
        answer = read(sign(ticket, private_key(1)), RING)
        assert isinstance(answer, ReadTicket)
        assert answer.ticket == ticket


def changed(changes: dict[str, Any]) -> Ticket:
    """The usual ticket with some claims overwritten, whatever that makes of it."""
    return replace(TICKET, **changes)


def by_the_specification(text: str) -> dict[str, Any]:
    """A second reader, written from docs/ticket-format.md with nothing of the first."""
    body = text[4:]
    raw = b32decode(body + "=" * (-len(body) % 8))
    places = [
        *[("key_id", 1, 2), ("event_number", 3, 4), ("ticket_id", 7, 8), ("issue", 15, 1), ("issued_at", 16, 4)],
        *[("ticket_type", 20, 2), ("zone", 22, 2), ("seat", 24, 4), ("valid_days", 28, 2), ("entitlement", 30, 1)],
        *[("limit", 31, 1), ("flags", 32, 1), ("not_before", 33, 4), ("not_after", 37, 4)],
    ]
    found: dict[str, Any] = {name: int.from_bytes(raw[at : at + size], "big") for name, at, size in places}
    found["ticket_id"] = str(found["ticket_id"])
    found["extensions"] = []
    rest = raw[42 : 42 + raw[41]]
    while rest:
        (tag, size), value = struct.unpack("BB", rest[:2]), rest[2 : 2 + rest[1]]
        rest = rest[2 + size :]
        if tag == 1:
            found["valid_days"] += int.from_bytes(value, "big") << 16
        else:
            found["extensions"].append([tag, value.hex()])
    return found
