"""What scanners type into the gate's page becomes codes: with Enter, or where they send none, by their pause."""

from __future__ import annotations

import pytest

from hardware.typed_keys import TypedKeys
from tests.unit.hardware.images import ticket_text


class Clock:
    now = 0

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys(clock: Clock) -> TypedKeys:
    return TypedKeys(clock, "screen")


def texts(keys: TypedKeys) -> list[str]:
    found = []
    while reading := keys.next(0):
        found.append(reading.text)
    return found


def test_enter_ends_a_code_also_a_short_one_of_a_person(keys: TypedKeys) -> None:
    keys.keys(f"{ticket_text(1)}\nCODE0002\n")
    assert texts(keys) == [ticket_text(1), "CODE0002"]


def test_a_scanner_without_enter_is_read_after_its_pause(keys: TypedKeys, clock: Clock) -> None:
    keys.keys(ticket_text(1)[:100])
    clock.now += 20_000_000
    keys.keys(ticket_text(1)[100:])
    assert texts(keys) == []
    clock.now += 100_000_000
    assert texts(keys) == [ticket_text(1)]


def test_half_a_code_is_not_joined_to_the_next_guests(keys: TypedKeys, clock: Clock) -> None:
    keys.keys("MAY1HALF")
    clock.now += 11_000_000_000
    keys.keys(f"{ticket_text(2)}\n")
    assert texts(keys) == [ticket_text(2)]


def test_nothing_is_read_once_it_is_closed(keys: TypedKeys) -> None:
    keys.keys("CODE0001\n")
    keys.close()
    keys.keys("CODE0002\n")
    assert keys.ended
    assert texts(keys) == []
