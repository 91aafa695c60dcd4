"""The codes that journals say were shown, compared with those that were handed out, on both databases."""

from __future__ import annotations

from typing import Any

import pytest

from shared.tickets import code_hash_of
from tests.contracts.sync.box_office import a_gate, shown
from tests.office import Evening, Office


def alarms(evening: Evening) -> list[tuple[str, int, str]]:
    """Kind, gravity and ticket of what stands unresolved."""
    found = evening.desk.get(f"{evening.path}/conflicts")["items"]
    return [(one["kind"], one["severity"], one["ticket_id"]) for one in found]


def reissued(evening: Evening, ticket: dict[str, Any]) -> None:
    evening.desk.post(f"/api/tickets/{ticket['id']}/reissue", {"reason": "lost"}, status=200)


def test_the_very_code_that_was_handed_out_is_nobodys_trouble(office: Office, evening: Evening) -> None:
    ticket = evening.ticket()
    _, gate = a_gate(office, evening)
    shown(gate, evening, ticket)
    gate.upload()
    assert alarms(evening) == []


@pytest.mark.parametrize(
    "words", [{}, {"mode": "test", "reason": "test_ok"}, {"admitted": False, "reason": "already_used"}]
)
def test_another_code_of_a_ticket_that_was_issued_is_the_gravest_alarm(
    office: Office, evening: Evening, words: dict[str, Any]
) -> None:
    ticket = evening.ticket()
    _, gate = a_gate(office, evening)
    shown(gate, evening, ticket, code_hash=b"not of our making"[:16], **words)
    gate.upload()
    assert alarms(evening) == [("forged_code", 4, ticket["id"])]


def test_who_shows_a_forged_code_takes_nothing_from_the_holder(office: Office, evening: Evening) -> None:
    ticket = evening.ticket()
    _, gate = a_gate(office, evening)
    shown(gate, evening, ticket, code_hash=b"not of our making"[:16])
    shown(gate, evening, ticket)
    gate.upload()
    assert alarms(evening) == [("forged_code", 4, ticket["id"])]


def test_an_issue_that_nobody_was_given_is_as_grave(office: Office, evening: Evening) -> None:
    """Who holds the key would print the next issue: a gate believes it, as it would one of after its last sync."""
    ticket = evening.ticket()
    _, gate = a_gate(office, evening)
    shown(gate, evening, ticket, issue=2, code_hash=b"not of our making"[:16])
    gate.upload()
    assert alarms(evening) == [("forged_code", 4, ticket["id"])]


def test_codes_before_and_after_a_new_issue_are_both_known(office: Office, evening: Evening) -> None:
    ticket = evening.ticket()
    _, gate = a_gate(office, evening)
    first = code_hash_of(evening.code(ticket))
    reissued(evening, ticket)
    reissued(evening, ticket)
    shown(gate, evening, ticket, code_hash=first, admitted=False, reason="ticket_replaced")
    shown(gate, evening, ticket, issue=3)
    gate.upload()
    assert alarms(evening) == []


def test_a_new_issue_does_not_wipe_the_alarm_out(office: Office, evening: Evening) -> None:
    """A new code is what an organiser gives who hears of a forgery."""
    ticket = evening.ticket()
    _, gate = a_gate(office, evening)
    shown(gate, evening, ticket, code_hash=b"not of our making"[:16])
    gate.upload()
    reissued(evening, ticket)
    shown(gate, evening, ticket, issue=2)
    gate.upload()
    assert alarms(evening) == [("forged_code", 4, ticket["id"])]


def test_codes_of_a_key_that_was_changed_over_are_known(office: Office, evening: Evening) -> None:
    old = evening.ticket()
    evening.desk.post("/api/keys/rotate", {"at_once": True})
    new = evening.ticket()
    _, gate = a_gate(office, evening)
    shown(gate, evening, old)
    shown(gate, evening, new)
    gate.upload()
    assert alarms(evening) == []


def test_what_a_steward_typed_shows_no_code(office: Office, evening: Evening) -> None:
    ticket = evening.ticket()
    _, gate = a_gate(office, evening)
    shown(gate, evening, ticket, kind="by_hand", code_hash=b"")
    gate.upload()
    assert alarms(evening) == []
