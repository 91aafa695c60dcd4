"""Signed requests and answers: accepted whole, refused when anything was changed, and true to the RFC's own library."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from http_message_signatures import HTTPMessageSigner, HTTPMessageVerifier, InvalidSignature
from http_message_signatures.algorithms import ED25519
from http_message_signatures.resolvers import MappingKeyResolver
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import Untrusted
from shared.wire.http_signatures import (
    ANSWER_TAG,
    CHANNELS,
    REQUEST_TAG,
    CounterWindow,
    SignedAnswer,
    SignedRequest,
    device_of,
    sign_answer,
    sign_request,
    verify_answer,
    verify_request,
)
from tests.unit.shared.wire_builders import EIGHT, a_key

GATE, SERVER = a_key(1), a_key(2)
PARTS = ("POST", "tickets.example.org", "/sync/v1/journal", "from=3&to=5", b"\x83 a body")


def signed(parts: tuple[str, str, str, str, bytes] = PARTS, counter: int = 17) -> dict[str, str]:
    return sign_request(*parts, key=GATE, device=4, channel="push", counter=counter)


def verify(headers: dict[str, str], parts: tuple[Any, ...] = PARTS) -> SignedRequest:
    return verify_request(*parts, headers=headers, public=GATE.public_key())


# --- Requests ---


def test_a_request_says_who_sent_it_on_which_channel_and_with_which_counter() -> None:
    request = verify(signed())
    assert (request.device, request.channel, request.counter) == (4, "push", 17)
    assert len(request.signature) == 64
    assert device_of(signed()) == 4


def test_an_empty_body_has_a_digest_too() -> None:
    parts = (*PARTS[:4], b"")
    headers = signed(parts)
    assert headers["Content-Digest"] == "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"
    assert verify(headers, parts).device == 4
    del headers["Content-Digest"]
    with pytest.raises(Untrusted):
        verify(headers, parts)


@pytest.mark.parametrize(
    ("place", "other"),
    [
        (0, "GET"),
        (1, "tickets.example.com"),
        (2, "/sync/v1/hello"),
        (3, "from=3&to=6"),
        (3, ""),
        (4, b"\x83 another body"),
        (4, b""),
    ],
)
def test_no_part_of_a_request_can_be_another(place: int, other: object) -> None:
    parts = tuple(other if at == place else part for at, part in enumerate(PARTS))
    with pytest.raises(Untrusted):
        verify(signed(), parts)


@pytest.mark.parametrize("name", ["Content-Digest", "Signature-Input", "Signature"])
@given(st.integers(min_value=0), st.integers(0, 6))
def test_a_bit_altered_in_any_header_is_found(name: str, place: int, bit: int) -> None:
    headers = signed()
    letters = bytearray(headers[name], "ascii")
    letters[place % len(letters)] ^= 1 << bit
    with pytest.raises(Untrusted):
        verify({**headers, name: letters.decode("ascii")})


@given(st.integers(min_value=0), st.integers(0, 7))
def test_a_bit_altered_in_the_body_is_found(place: int, bit: int) -> None:
    body = bytearray(PARTS[4])
    body[place % len(body)] ^= 1 << bit
    with pytest.raises(Untrusted):
        verify(signed(), (*PARTS[:4], bytes(body)))


@pytest.mark.parametrize("name", ["Content-Digest", "Signature-Input", "Signature"])
def test_a_header_left_out_is_missed(name: str) -> None:
    headers = signed()
    del headers[name]
    with pytest.raises(Untrusted, match=name):
        verify(headers)


@pytest.mark.parametrize(
    "weaker",
    [
        '("@method");keyid="4";nonce="push:17";tag="gatehouse-sync-1"',
        '();keyid="4";nonce="push:17";tag="gatehouse-sync-1"',
        '("@method" "@authority" "@path" "content-digest" "@query");keyid="4";nonce="push:17";tag="gatehouse-sync-1"',
        '("@method" "@authority" "@path" "@query" "content-digest");keyid="4";nonce="push:17";tag="somebody-else"',
        '("@method" "@authority" "@path" "@query" "content-digest");keyid="4";nonce="push:17"',
        '("@method" "@authority" "@path" "@query" "content-digest");keyid="04";nonce="push:17";tag="gatehouse-sync-1"',
        '("@method" "@authority" "@path" "@query" "content-digest");keyid="4";nonce="push:-1";tag="gatehouse-sync-1"',
        '("@method" "@authority" "@path" "@query" "content-digest");keyid="4";nonce="gossip:1";tag="gatehouse-sync-1"',
        '("@method" "@authority" "@path" "@query" "content-digest");created=1;keyid="4";nonce="push:17";'
        'tag="gatehouse-sync-1"',
    ],
)
def test_only_the_one_form_is_a_request_of_ours(weaker: str) -> None:
    with pytest.raises(Untrusted, match="not signed like a gate"):
        verify({**signed(), "Signature-Input": f"gate={weaker}"})


def test_the_key_of_another_device_does_not_fit() -> None:
    with pytest.raises(Untrusted):
        verify_request(*PARTS, signed(), SERVER.public_key())


def test_default_ports_and_capitals_in_the_host_make_no_difference() -> None:
    headers = signed(("POST", "Tickets.Example.org:443", *PARTS[2:]))
    assert verify(headers).device == 4
    with pytest.raises(Untrusted):
        verify(headers, ("POST", "tickets.example.org:8443", *PARTS[2:]))


def test_header_names_in_small_letters_are_found() -> None:
    assert verify({name.lower(): value for name, value in signed().items()}).device == 4


def test_a_line_cannot_be_smuggled_into_a_path() -> None:
    with pytest.raises(Untrusted):
        signed((*PARTS[:2], '/a\n"@query": ?b', *PARTS[3:]))


def test_a_word_beyond_ascii_is_refused_and_breaks_nothing() -> None:
    with pytest.raises(Untrusted):
        verify(signed(), ("POST", "tïckets.example.org", *PARTS[2:]))
    with pytest.raises(Untrusted):
        verify({**signed(), "Signature": "gate=:é:"})


@given(st.dictionaries(st.sampled_from(["Content-Digest", "Signature-Input", "Signature"]), st.text(max_size=80)))
def test_any_headers_are_refused_without_another_error(headers: dict[str, str]) -> None:
    with pytest.raises(Untrusted):
        verify(headers)
    with pytest.raises(Untrusted):
        verify_answer(200, b"", headers, SERVER.public_key(), b"")


# --- Answers ---


def answered(status: int = 200, body: bytes = b"rows", asked: bytes = bytes(64)) -> dict[str, str]:
    return sign_answer(status, body, key=SERVER, server_time=EIGHT, position="7:33", request_signature=asked)


def read(headers: dict[str, str], status: int = 200, body: bytes = b"rows", asked: bytes = bytes(64)) -> SignedAnswer:
    return verify_answer(status, body, headers, SERVER.public_key(), asked)


def test_an_answer_tells_the_time_and_the_position() -> None:
    assert read(answered()) == SignedAnswer(EIGHT, "7:33")


def test_an_answer_without_a_position_is_an_answer() -> None:
    headers = sign_answer(404, b"", key=SERVER, server_time=EIGHT, position="", request_signature=b"")
    assert verify_answer(404, b"", headers, SERVER.public_key(), b"") == SignedAnswer(EIGHT, "")


def test_yesterdays_answer_to_another_request_is_refused() -> None:
    with pytest.raises(Untrusted):
        read(answered(asked=bytes(63) + b"\x01"))


@pytest.mark.parametrize("other", [{"status": 500}, {"body": b"Rows"}, {"body": b""}, {"asked": b""}])
def test_no_part_of_an_answer_can_be_another(other: dict[str, Any]) -> None:
    with pytest.raises(Untrusted):
        read(answered(), **other)


ANSWER_HEADERS = ["Content-Digest", "Gatehouse-Time", "Gatehouse-Position", "Signature-Input", "Signature"]


@pytest.mark.parametrize("name", ANSWER_HEADERS)
@given(st.integers(min_value=0), st.integers(0, 6))
def test_a_bit_altered_in_any_header_of_an_answer_is_found(name: str, place: int, bit: int) -> None:
    headers = answered()
    letters = bytearray(headers[name], "ascii")
    letters[place % len(letters)] ^= 1 << bit
    with pytest.raises(Untrusted):
        read({**headers, name: letters.decode("ascii")})


def test_a_captive_portal_is_not_the_server() -> None:
    with pytest.raises(Untrusted):
        read({"Content-Type": "text/html"}, body=b"<html>Welcome to the hotel</html>")


def test_a_gate_is_not_the_server() -> None:
    with pytest.raises(Untrusted):
        verify_answer(200, b"rows", answered(), GATE.public_key(), bytes(64))


# --- The library of the RFC as the oracle ---


@dataclass
class Request:
    """What the library wants to see of a request."""

    method: str
    url: str
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Response:
    """And of a response."""

    status_code: int
    headers: dict[str, str]
    request: Request


class Verifier(HTTPMessageVerifier):
    """The library, told that there are no clocks in our signatures."""

    require_created = False


KEYS = MappingKeyResolver(
    public_keys={"4": GATE.public_key(), "server": SERVER.public_key()}, private_keys={"4": GATE, "server": SERVER}
)
COVERED = ("@method", "@authority", "@path", "@query", "content-digest")


@pytest.mark.parametrize("query", ["from=3&to=5", ""])
def test_the_library_accepts_our_requests(query: str) -> None:
    headers = signed((*PARTS[:3], query, PARTS[4]))
    url = f"https://tickets.example.org/sync/v1/journal{'?' if query else ''}{query}"
    verifier = Verifier(signature_algorithm=ED25519, key_resolver=KEYS)
    message = Request("POST", url, headers)
    expected = {"max_age": None, "expect_tag": REQUEST_TAG, "require_components": COVERED}
    (result,) = verifier.verify(message, body=PARTS[4], **expected)
    assert result.nonce == "push:17"
    with pytest.raises(InvalidSignature):
        verifier.verify(message, body=b"another", **expected)


def test_the_library_accepts_our_answers() -> None:
    asked = signed()
    headers = answered(asked=verify(asked).signature)
    message = Response(200, headers, Request("POST", "https://tickets.example.org/sync/v1/journal", asked))
    (result,) = Verifier(signature_algorithm=ED25519, key_resolver=KEYS).verify(
        message, max_age=None, expect_tag=ANSWER_TAG, body=b"rows"
    )
    assert '"signature";req;key="gate"' in result.covered_components


def test_a_signature_with_a_clock_in_it_is_not_ours() -> None:
    message = Request("POST", "https://tickets.example.org/sync/v1/journal?from=3&to=5")
    signer = HTTPMessageSigner(signature_algorithm=ED25519, key_resolver=KEYS)
    signer.sign(
        message,
        key_id="4",
        nonce="push:17",
        label="gate",
        tag=REQUEST_TAG,
        include_alg=False,
        covered_component_ids=COVERED,
        body=PARTS[4],
    )
    # It always writes `created`; a signature with a clock in it is not ours.
    with pytest.raises(Untrusted, match="not signed like a gate"):
        verify(message.headers)
    assert message.headers["Content-Digest"] == signed()["Content-Digest"]


# --- Counters ---


def used(*counters: int) -> tuple[CounterWindow, list[bool]]:
    window, answers = CounterWindow(64), []
    for counter in counters:
        window, new = window.accept(counter)
        answers.append(new)
    return window, answers


def test_a_counter_counts_once() -> None:
    assert used(1, 2, 2, 1, 3)[1] == [True, True, False, False, True]


def test_counters_may_overtake_each_other_inside_the_window() -> None:
    window, answers = used(100, 37, 99, 37, 36)
    assert answers == [True, True, True, False, False]
    assert window.highest == 100


def test_a_leap_forgets_what_lies_below_the_window() -> None:
    assert used(5, 1_000_000, 5, 999_937, 999_936)[1] == [True, True, False, True, False]


def test_nought_and_less_are_no_counters() -> None:
    assert used(0, -1)[1] == [False, False]


@given(st.lists(st.integers(1, 300), max_size=60))
def test_no_counter_is_ever_taken_twice_and_every_new_highest_is_taken(counters: list[int]) -> None:
    taken: list[int] = []
    window = CounterWindow(64)
    for counter in counters:
        highest = window.highest
        window, new = window.accept(counter)
        assert new == (counter not in taken and counter > highest - 64)
        taken += [counter] if new else []
        assert window.seen < 1 << 64


def test_channels_are_three() -> None:
    assert CHANNELS == ("pull", "push", "other")
