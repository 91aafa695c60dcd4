"""Enrolment codes in people's hands, and the proofs that stop whoever sits between gate and server."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import InvalidRequest
from shared.layout_tables import KEYS, LAYOUTS
from shared.wire.enrolment import (
    ALPHABET,
    LONGEST_ADDRESS,
    PREFIX,
    Code,
    Offer,
    check_number,
    fingerprint,
    is_offer,
    new_code,
    offered,
    parse,
    proof,
    same,
    server_proof,
)
from tests.unit.shared.wire_builders import a_key

SERVER = a_key(2).public_key().public_bytes_raw()
IMPOSTOR = a_key(3).public_key().public_bytes_raw()
DEVICE = a_key(1).public_key().public_bytes_raw()
NONCE = bytes(range(16))
ADDRESS = "https://tickets.example.org"


def a_code(seed: int = 7) -> Code:
    return new_code(lambda count: bytes([seed]) * count, SERVER)


def test_a_code_is_read_as_it_is_shown() -> None:
    code = a_code()
    assert parse(code.text) == code
    assert parse(code.shown("")) == code
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
        assert offered(a_code(seed).shown(ADDRESS).translate(plain)) == Offer(a_code(seed), ADDRESS)


@given(st.integers(0, 27), st.sampled_from(ALPHABET))
def test_one_wrong_letter_is_found(place: int, letter: str) -> None:
    signs = a_code().text.replace("-", "")[4:]
    wrong = signs[:place] + letter + signs[place + 1 :]
    if wrong != signs:
        with pytest.raises(InvalidRequest, match="mistyped"):
            parse("MAYE" + wrong)


@given(st.integers(0, 26))
def test_two_letters_swapped_are_found(place: int) -> None:
    signs = a_code(0b01010011).text.replace("-", "")[4:]
    swapped = signs[:place] + signs[place + 1] + signs[place] + signs[place + 2 :]
    if swapped != signs:
        with pytest.raises(InvalidRequest):
            parse("MAYE" + swapped)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("", "begin with MAYE"),
        ("MAY1ABCDEF", "begin with MAYE"),
        ("MAYE", "has 0 characters"),
        (a_code().text[:-1], "has 27 characters"),
        (a_code().text + "7", "has 29 characters"),
        (a_code().text[:-1] + "U", "contains U"),
        (a_code().text[:-1] + "😀", "contains 😀"),
        (a_code().text[:8] + "7" + a_code().text[8:], "has 29 characters"),
        (a_code().text + "7" * 50, "has 78 characters"),
        ("MAYE" * 1_000, "mistyped"),
    ],
)
def test_a_wrong_code_is_reported_clearly(typed: str, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        parse(typed)


@given(st.text(min_size=1, max_size=70))
def test_the_picture_of_a_code_says_where_its_server_is(address: str) -> None:
    shown = a_code().shown(address)
    assert shown.isalnum() and shown.isascii() and shown == shown.upper()
    assert is_offer(shown)
    assert offered(shown) == Offer(a_code(), address)
    assert parse(shown) == a_code()


def test_an_address_that_fits_no_picture_is_left_out() -> None:
    longest = "https://" + "a" * (LONGEST_ADDRESS - 8)
    assert offered(a_code().shown(longest)).address == longest
    assert offered(a_code().shown(longest + "a")).address == ""
    assert offered(a_code().text).address == ""


@given(st.data())
def test_an_address_that_was_read_wrong_leads_nowhere(data: st.DataObject) -> None:
    shown = a_code().shown(ADDRESS)
    place = data.draw(st.integers(len(PREFIX) + 28, len(shown) - 1))
    letter = data.draw(st.sampled_from(sorted(set(ALPHABET) - {shown[place]})))
    for wrong in (shown[:place] + letter + shown[place + 1 :], shown[:place], shown + letter):
        if len(wrong) > len(PREFIX) + 28:
            with pytest.raises(InvalidRequest):
                offered(wrong)


def test_the_address_of_one_code_is_none_of_another() -> None:
    head = a_code(8).text.replace("-", "")
    with pytest.raises(InvalidRequest):
        offered(head + a_code().shown(ADDRESS)[len(head) :])


@pytest.mark.parametrize("text", ["", "MAY1ABCDEF", "https://tickets.example.org", "poster"])
def test_what_else_readers_read_is_no_offer(text: str) -> None:
    assert not is_offer(text)


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
