"""Which values of an audit line are personal, and how they are separated."""

from __future__ import annotations

import pytest

from sync_server.audit import rules


def test_a_supervisors_name_is_hidden_and_a_venues_is_not() -> None:
    assert rules.split_personal({"name": "Sue", "active": True}, "supervisor") == (
        {"name": rules.HIDDEN, "active": True},
        {"name": "Sue"},
    )
    assert rules.split_personal({"name": "Town Hall"}, "venue") == ({"name": "Town Hall"}, {})


@pytest.mark.parametrize("field", ["email", "phone", "holder_name", "ip"])
def test_some_fields_are_personal_whatever_the_subject(field: str) -> None:
    shown, personal = rules.split_personal({field: "x"}, "event")
    assert shown == {field: rules.HIDDEN} and personal == {field: "x"}


def test_a_value_with_a_personal_one_inside_is_hidden_as_a_whole() -> None:
    values = {"seats": [{"row": "A", "holder_name": "Sue"}], "count": 1}
    shown, personal = rules.split_personal(values, "event")
    assert shown == {"seats": rules.HIDDEN, "count": 1} and personal == {"seats": values["seats"]}


def test_empty_values_are_not_hidden() -> None:
    assert rules.split_personal(None, "user") == (None, {})
    assert rules.split_personal({"name": None}, "user") == ({"name": None}, {})


def test_hidden_values_can_be_merged_back_until_they_are_erased() -> None:
    values = {"name": "Sue", "active": True}
    shown, personal = rules.split_personal(values, "supervisor")
    assert rules.merge_personal(shown, personal) == values
    assert rules.merge_personal(shown, None) == {"name": rules.ERASED, "active": True}


def test_the_address_of_an_unknown_actor_belongs_to_the_subject() -> None:
    assert rules.person_of("system", "", "user", "7") == ("user", "7")
    assert rules.person_of("platform", "9", "event", "7") == ("user", "9")


def test_a_digest_depends_on_its_salt() -> None:
    address = rules.canonical({"ip": "192.0.2.7"})
    assert rules.digest(b"1" * 16, address) != rules.digest(b"2" * 16, address)


def test_canonical_json_does_not_depend_on_the_order_of_keys() -> None:
    assert rules.canonical({"b": 1, "a": "ü\x00"}) == '{"a":"\\u00fc\\u0000","b":1}'
