"""The published codes: their bytes never change, and every reader answers them alike."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from shared.keys import KeyRing, TicketKey
from shared.reasons import Reason
from shared.tickets import ReadTicket, Refusal, read
from tests.unit.shared.test_tickets import by_the_specification
from tests.vectors.make_tickets import FILE, as_claims, written

VECTORS = json.loads(FILE.read_text())
KEYS = [
    TicketKey.of(key["id"], key["organisation"], bytes.fromhex(key["public"]), key["state"]) for key in VECTORS["keys"]
]
RING = KeyRing.of(KEYS, VECTORS["events"])


def named(case: dict[str, Any]) -> str:
    return str(case["name"])


def test_the_file_is_what_its_maker_makes() -> None:
    assert FILE.read_text() == written()


def test_there_are_enough_of_them() -> None:
    assert len(VECTORS["read"]) + len(VECTORS["refused"]) >= 100
    assert {case["reason"] for case in VECTORS["refused"]} == {
        reason.value
        for reason in (Reason.UNREADABLE, Reason.UNSUPPORTED_VERSION, Reason.UNKNOWN_KEY, Reason.BAD_SIGNATURE)
    }


@pytest.mark.parametrize("case", VECTORS["read"], ids=named)
def test_a_good_code_is_read(case: dict[str, Any]) -> None:
    answer = read(case["text"], RING)
    assert isinstance(answer, ReadTicket)
    assert as_claims(answer.ticket) == case["claims"]
    assert answer.code_hash.hex() == case["code_hash"]
    assert (answer.organisation, answer.key_distrusted) == (case["organisation"], case["key_distrusted"])


@pytest.mark.parametrize("case", VECTORS["read"], ids=named)
def test_a_second_reader_agrees(case: dict[str, Any]) -> None:
    signed = bytes.fromhex(case["signed"])
    public = next(key["public"] for key in VECTORS["keys"] if key["id"] == case["claims"]["key_id"])
    Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(
        signed[-64:], bytes.fromhex(VECTORS["signed_as"]) + signed[:-64]
    )
    assert by_the_specification(case["text"]) == case["claims"]


@pytest.mark.parametrize("case", VECTORS["read_anyway"]["texts"], ids=named)
def test_what_scanners_make_of_a_code_is_read_as_that_code(case: dict[str, Any]) -> None:
    assert read(case["text"], RING) == read(VECTORS["read_anyway"]["as"], RING)
    assert isinstance(read(case["text"], RING), ReadTicket)


@pytest.mark.parametrize("case", VECTORS["refused"], ids=named)
def test_a_bad_code_is_refused_with_its_reason(case: dict[str, Any]) -> None:
    answer = read(case["text"], RING)
    assert isinstance(answer, Refusal)
    assert answer.reason == case["reason"]
