"""The key ring of a gate."""

from __future__ import annotations

import pytest

from shared.errors import Unreadable
from shared.keys import KeyRing, KeyState, TicketKey
from tests.vectors.make_tickets import public_key


def test_a_key_is_found_whatever_its_state() -> None:
    keys = (TicketKey.of(number, "opera", public_key(1), state) for number, state in enumerate(KeyState))
    ring = KeyRing.of(keys, ())
    assert [key.state for number in range(4) if (key := ring.get(number))] == list(KeyState)
    assert ring.get(4) is None


def test_a_state_that_only_a_newer_server_knows_opens_nothing() -> None:
    assert TicketKey.of(1, "opera", public_key(1), "on_probation").state is KeyState.REVOKED


@pytest.mark.parametrize("size", [0, 31, 33])
def test_bytes_that_are_no_key_are_reported_by_the_key_s_number(size: int) -> None:
    with pytest.raises(Unreadable, match="Ticket key 77"):
        TicketKey.of(77, "opera", bytes(size), KeyState.ACTIVE)


def test_nobody_puts_a_key_on_a_ring_later() -> None:
    ring = KeyRing.of([], ())
    with pytest.raises(TypeError):
        ring.keys[1] = TicketKey.of(1, "opera", public_key(1), "active")  # type: ignore[index]
