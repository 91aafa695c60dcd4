"""Passwords cost an attacker what was chosen, although tests hash at the lowest cost."""

from __future__ import annotations

from argon2 import Type, extract_parameters

from tests.services.shared_work import REAL_HASHER


def test_passwords_cost_19_mebibytes_and_two_passes() -> None:
    made = extract_parameters(REAL_HASHER.hash("four walls and a roof"))
    assert (made.type, made.memory_cost, made.time_cost, made.parallelism) == (Type.ID, 19 * 1024, 2, 1)
