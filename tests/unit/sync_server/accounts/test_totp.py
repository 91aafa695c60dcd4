"""Codes of authenticator apps, by the test vectors of RFC 6238."""

from __future__ import annotations

import pytest

from sync_server.accounts.sign_in import totp

SECRET = b"12345678901234567890"
NOW = 1_783_180_800_000


@pytest.mark.parametrize(
    ("second", "code"),
    [
        (59, "94287082"),
        (1111111109, "07081804"),
        (1111111111, "14050471"),
        (1234567890, "89005924"),
        (2000000000, "69279037"),
        (20000000000, "65353130"),
    ],
)
def test_the_vectors_of_the_rfc(second: int, code: str) -> None:
    assert totp.code_at(SECRET, second // 30, digits=8) == code
    assert totp.matching_step(SECRET, code[2:], second * 1000) == second // 30


@pytest.mark.parametrize(("off_ms", "known"), [(-60_000, False), (-30_000, True), (30_000, True), (60_000, False)])
def test_clocks_may_be_half_a_minute_off(off_ms: int, known: bool) -> None:
    code = totp.code_at(SECRET, (NOW + off_ms) // totp.STEP_MS)
    assert (totp.matching_step(SECRET, code, NOW) is not None) is known


@pytest.mark.parametrize("code", ["", "12345", "1234567", "\u0661\u0662\u0663\u0664\u0665\u0666", "abcdef"])
def test_what_is_no_code(code: str) -> None:
    assert totp.matching_step(SECRET, code, NOW) is None


def test_what_an_app_reads() -> None:
    uri = totp.uri(SECRET, "olga@marquee.example")
    assert uri == (
        "otpauth://totp/Gatehouse:olga%40marquee.example?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Gatehouse"
    )
