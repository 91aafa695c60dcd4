"""Every error has a message for people and one code for programs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shared.errors import Conflict, GatehouseError


def tree(kind: type[GatehouseError] = GatehouseError) -> Iterator[type[GatehouseError]]:
    """Every class of shared.errors."""
    yield kind
    for child in kind.__subclasses__():
        if child.__module__ == GatehouseError.__module__:
            yield from tree(child)


KINDS = list(tree())


def test_no_two_errors_share_a_code_word() -> None:
    assert len(KINDS) > 10
    assert len({kind.code for kind in KINDS}) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_says_something_by_itself(kind: type[GatehouseError]) -> None:
    error = kind()
    assert str(error) == error.message == kind.words
    assert error.message.endswith(".")
    assert 400 <= error.status < 600


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.retryable])
def test_only_what_may_pass_by_itself_is_worth_another_try(kind: type[GatehouseError]) -> None:
    assert kind.status in {429, 503}


def test_a_use_case_narrows_the_word_and_adds_facts() -> None:
    error = Conflict("Seat A 12 was sold meanwhile. Choose another.", code="seat_no_longer_available", seat="A 12")
    assert (error.code, error.error_code, error.status) == ("conflict", "seat_no_longer_available", 409)
    assert error.details == {"seat": "A 12"}


def test_an_empty_message_is_no_message() -> None:
    assert Conflict("").message == Conflict.words
