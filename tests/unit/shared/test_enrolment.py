"""Enrolment codes in people's hands, and the proofs that stop whoever sits between gate and server."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import InvalidRequest
from shared.layout_tables import KEYS, LAYOUTS
from shared.wire.enrolment import ALPHABET, Code, check_number, fingerprint, new_code, parse, proof, same, server_proof
from tests.unit.shared.wire_builders import a_key

SERVER = a_key(2).public_key().public_bytes_raw()
IMPOSTOR = a_key(3).public_key().public_bytes_raw()
DEVICE = a_key(1).public_key().public_bytes_raw()
NONCE = bytes(range(16))


def a_code(seed: int = 7) -> Code:
    return new_code(lambda count: bytes([seed]) * count, SERVER)


def test_a_code_is_read_as_it_is_shown() -> None:
    code = a_code()
    assert parse(code.text) == code
    assert parse(code.scanned) == code
    assert (len(code.secret), code.fingerprint) == (10, fingerprint(SERVER))


def test_a_code_is_ten_random_bytes_and_the_mark_of_the_server() -> None:
    asked: list[int] = []

    def entropy(count: int) -> bytes:
        asked.append(count)
        return bytes(range(count))

    code = new_code(entropy, SERVER)
    assert asked == [10]
    assert code.secret == bytes(range(10))
    assert new_code(entropy, IMPOSTOR).id != code.id


@pytest.mark.parametrize("typed", [str.lower, lambda text: text.replace("-", " "), lambda text: f"\n {text}\t\r\n"])
def test_a_code_is_read_however_somebody_types_it(typed: object) -> None:
    assert callable(typed)
    assert parse(typed(a_code().text)) == a_code()


@given(st.binary(min_size=10, max_size=10))
def test_letters_that_people_mistake_are_read_as_what_was_meant(secret: bytes) -> None:
    code = new_code(lambda _: secret, SERVER)
    head, rest = code.text[:5], code.text[5:]
    assert parse(head + rest.replace("0", "O").replace("1", "I")) == code
    assert parse(head + rest.replace("1", "l")) == code


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_a_scanner_on_a_foreign_keyboard_gets_the_code_through(layout: object) -> None:
    plain = str.maketrans(dict(zip(KEYS, layout.plain, strict=True)))  # type: ignore[attr-defined]  # a Layout
    for seed in range(20):
        assert parse(a_code(seed).scanned.translate(plain)) == a_code(seed)


@given(st.integers(0, 27), st.sampled_from(ALPHABET))
def test_one_wrong_letter_is_found(place: int, letter: str) -> None:
    signs = a_code().scanned[4:]
    wrong = signs[:place] + letter + signs[place + 1 :]
    if wrong != signs:
        with pytest.raises(InvalidRequest, match="mistyped"):
            parse("MAYE" + wrong)


@given(st.integers(0, 26))
def test_two_letters_swapped_are_found(place: int) -> None:
    signs = a_code(0b01010011).scanned[4:]
    swapped = signs[:place] + signs[place + 1] + signs[place] + signs[place + 2 :]
    if swapped != signs:
        with pytest.raises(InvalidRequest):
            parse("MAYE" + swapped)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("", "begin with MAYE"),
        ("MAY1ABCDEF", "begin with MAYE"),
        ("MAYE", "has 0 signs"),
        (a_code().text[:-1], "has 27 signs"),
        (a_code().text + "7", "has 29 signs"),
        (a_code().text[:-1] + "U", "contains U"),
        (a_code().text[:-1] + "😀", "contains 😀"),
        ("MAYE" * 1_000, "signs after"),
    ],
)
def test_a_wrong_code_is_reported_clearly(typed: str, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        parse(typed)


@given(st.text(max_size=60))
def test_any_text_is_a_code_or_a_refusal(typed: str) -> None:
    with pytest.raises(InvalidRequest):
        parse(typed)


def test_neither_the_secret_nor_the_text_can_be_read_from_the_id() -> None:
    code = a_code()
    assert len(code.id) == 8
    assert code.id not in code.secret + code.fingerprint
    assert len({a_code(seed).id for seed in range(200)}) == 200


def test_a_proof_is_worth_something_for_one_code_one_key_and_one_nonce() -> None:
    code = a_code()
    proofs = {
        proof(code, DEVICE, NONCE),
        proof(a_code(8), DEVICE, NONCE),
        proof(code, IMPOSTOR, NONCE),
        proof(code, DEVICE, bytes(16)),
        server_proof(code, DEVICE, SERVER, NONCE),
    }
    assert len(proofs) == 5
    assert {len(one) for one in proofs} == {32}


def test_a_server_with_another_key_cannot_pass_for_ours_even_under_the_same_mark() -> None:
    code = a_code()
    expected = server_proof(code, DEVICE, SERVER, NONCE)
    assert not same(expected, server_proof(code, DEVICE, IMPOSTOR, NONCE))
    assert not same(expected, server_proof(code, IMPOSTOR, SERVER, NONCE))
    assert same(expected, server_proof(parse(code.text), DEVICE, SERVER, NONCE))


def test_both_screens_show_the_same_six_figures_and_an_impostor_shows_others() -> None:
    shown = check_number(DEVICE, SERVER, NONCE)
    assert shown.isdecimal()
    assert len(shown) == 6
    assert shown != check_number(DEVICE, IMPOSTOR, NONCE)
    assert shown != check_number(IMPOSTOR, SERVER, NONCE)
