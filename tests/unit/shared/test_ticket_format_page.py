"""The page that specifies the ticket code tells the truth about its own example."""

from __future__ import annotations

import re
from pathlib import Path

from shared.layout_tables import LAYOUTS
from shared.tickets import SIGNED_AS, Entitlement, TicketFlags, as_text, code_hash_of, signed_bytes
from tests.vectors.make_tickets import CODE, TICKET, party_cases, private_key, public_key, seed

PAGE = Path("docs/ticket-format.md").read_text()
EXAMPLE = PAGE.split("## 8.")[1].split("## 9.")[0]
PARTY = re.sub(r"[\s|`]|ticket \d+, issue \d|tag, length", "", PAGE.split("## 9.")[1])
UNBROKEN = re.sub(r"\s", "", EXAMPLE)


def test_the_example_is_made_of_the_vectors_key() -> None:
    assert f"seed{seed(1).hex()}" in UNBROKEN
    assert f"public{public_key(1).hex()}" in UNBROKEN


def test_the_table_of_the_head_is_the_head() -> None:
    pieces = re.findall(r"\| `([0-9a-f]+)` \|$", EXAMPLE, re.MULTILINE)
    assert bytes.fromhex("".join(pieces)) == signed_bytes(TICKET, private_key(1))[:42]


def test_what_is_signed_and_the_signature_stand_there_in_full() -> None:
    raw = signed_bytes(TICKET, private_key(1))
    assert (SIGNED_AS + raw[:42]).hex() in UNBROKEN
    assert raw[42:].hex() in UNBROKEN


def test_the_text_and_its_hash_stand_there() -> None:
    assert CODE in UNBROKEN
    assert f"`{code_hash_of(CODE).hex()}`" in EXAMPLE


def test_the_party_stands_there_byte_by_byte() -> None:
    _, claims = next(party_cases())
    raw = signed_bytes(claims, private_key(1))
    assert raw.hex() in PARTY.replace("Thesignature:", "")
    assert as_text(raw) in PARTY
    assert code_hash_of(as_text(raw)).hex() in PARTY


def test_every_entitlement_and_flag_is_listed_by_its_number() -> None:
    for kind in Entitlement:
        assert f"| {kind.value} | `{kind.name.lower()}`" in PAGE
    for flag in TicketFlags:
        assert re.search(rf"\| {flag.value} \| {str(flag.name).split('_', maxsplit=1)[0]}", PAGE, re.IGNORECASE), flag


def test_every_layout_that_can_be_undone_is_named() -> None:
    named = re.sub(r"\s+", " ", PAGE)
    words = {word for layout in LAYOUTS for word in re.findall(r"[A-Z][a-zéü]+", layout.name)} - {"Mac", "Windows"}
    missing = sorted(word for word in words if word not in named)
    assert missing == []
