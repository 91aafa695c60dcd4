"""What of a line is a person's, and where it goes."""

from __future__ import annotations

import pytest

from sync_server.audit import rules


def test_a_supervisors_name_is_hidden_and_a_venues_is_not() -> None:
    assert rules.apart({"name": "Sue", "active": True}, "supervisor") == (
        {"name": rules.HIDDEN, "active": True},
        {"name": "Sue"},
    )
    assert rules.apart({"name": "Town Hall"}, "venue") == ({"name": "Town Hall"}, {})


@pytest.mark.parametrize("word", ["email", "phone", "holder_name", "ip"])
def test_some_values_are_a_persons_whatever_they_are_about(word: str) -> None:
    shown, personal = rules.apart({word: "x"}, "event")
    assert shown == {word: rules.HIDDEN} and personal == {word: "x"}


def test_a_value_that_holds_a_personal_one_deep_inside_goes_as_a_whole() -> None:
    values = {"seats": [{"row": "A", "holder_name": "Sue"}], "count": 1}
    shown, personal = rules.apart(values, "event")
    assert shown == {"seats": rules.HIDDEN, "count": 1} and personal == {"seats": values["seats"]}


def test_nothing_is_hidden_where_there_was_nothing() -> None:
    assert rules.apart(None, "user") == (None, {})
    assert rules.apart({"name": None}, "user") == ({"name": None}, {})


def test_hidden_values_come_back_until_they_are_erased() -> None:
    values = {"name": "Sue", "active": True}
    shown, personal = rules.apart(values, "supervisor")
    assert rules.together(shown, personal) == values
    assert rules.together(shown, None) == {"name": rules.ERASED, "active": True}


def test_an_unknown_actors_address_belongs_with_whom_it_was_about() -> None:
    assert rules.person_of("system", "", "user", "7") == ("user", "7")
    assert rules.person_of("platform", "9", "event", "7") == ("user", "9")


def test_a_digest_tells_nothing_without_its_salt() -> None:
    address = rules.canonical({"ip": "192.0.2.7"})
    assert rules.digest(b"1" * 16, address) != rules.digest(b"2" * 16, address)


def test_values_are_written_down_in_one_form_whatever_their_order() -> None:
    assert rules.canonical({"b": 1, "a": "ü\x00"}) == '{"a":"\\u00fc\\u0000","b":1}'
