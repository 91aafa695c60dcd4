"""The codes in journals compared with those that were issued, on both databases."""

from __future__ import annotations

from typing import Any

import pytest

from shared.tickets import code_hash_of
from tests.app_server import AppServer, Concert
from tests.contracts.sync.office_gates import a_gate, a_live_evening, shown


def alarms(concert: Concert) -> list[tuple[str, int, str]]:
    """Kind, severity and ticket of unresolved conflicts."""
    found = concert.api.get(f"{concert.path}/conflicts")["items"]
    return [(one["kind"], one["severity"], one["ticket_id"]) for one in found]


def reissued(concert: Concert, ticket: dict[str, Any]) -> None:
    concert.api.post(f"/api/tickets/{ticket['id']}/reissue", {"reason": "lost"}, status=200)


def test_the_code_that_was_issued_is_no_conflict(app_server: AppServer, concert: Concert) -> None:
    ticket = concert.ticket()
    _, gate = a_gate(app_server, concert)
    shown(gate, concert, ticket)
    gate.upload()
    assert alarms(concert) == []


@pytest.mark.parametrize(
    "fields", [{}, {"mode": "test", "reason": "test_ok"}, {"admitted": False, "reason": "already_used"}]
)
def test_another_code_of_a_ticket_that_was_issued_is_the_gravest_alarm(
    app_server: AppServer, concert: Concert, fields: dict[str, Any]
) -> None:
    ticket = concert.ticket()
    _, gate = a_gate(app_server, concert)
    shown(gate, concert, ticket, code_hash=b"not of our making"[:16], **fields)
    gate.upload()
    assert alarms(concert) == [("forged_code", 4, ticket["id"])]


def test_who_shows_a_forged_code_takes_nothing_from_the_holder(app_server: AppServer, concert: Concert) -> None:
    ticket = concert.ticket()
    _, gate = a_gate(app_server, concert)
    shown(gate, concert, ticket, code_hash=b"not of our making"[:16])
    shown(gate, concert, ticket)
    gate.upload()
    assert alarms(concert) == [("forged_code", 4, ticket["id"])]


def test_an_issue_that_was_never_given_out_is_as_grave(app_server: AppServer, concert: Concert) -> None:
    """Who holds the key would print the next issue: a gate believes it, as it would one of after its last sync."""
    ticket = concert.ticket()
    _, gate = a_gate(app_server, concert)
    shown(gate, concert, ticket, issue=2, code_hash=b"not of our making"[:16])
    gate.upload()
    assert alarms(concert) == [("forged_code", 4, ticket["id"])]


def test_codes_before_and_after_a_new_issue_are_both_known(app_server: AppServer, concert: Concert) -> None:
    ticket = concert.ticket()
    _, gate = a_gate(app_server, concert)
    first = code_hash_of(concert.code(ticket))
    reissued(concert, ticket)
    reissued(concert, ticket)
    shown(gate, concert, ticket, code_hash=first, admitted=False, reason="ticket_replaced")
    shown(gate, concert, ticket, issue=3)
    gate.upload()
    assert alarms(concert) == []


def test_a_new_issue_does_not_wipe_the_alarm_out(app_server: AppServer, concert: Concert) -> None:
    """A new code is what an organiser gives who hears of a forgery."""
    ticket = concert.ticket()
    _, gate = a_gate(app_server, concert)
    shown(gate, concert, ticket, code_hash=b"not of our making"[:16])
    gate.upload()
    reissued(concert, ticket)
    shown(gate, concert, ticket, issue=2)
    gate.upload()
    assert alarms(concert) == [("forged_code", 4, ticket["id"])]


def test_codes_are_compared_with_those_of_the_organisation_s_own_key(app_server: AppServer, concert: Concert) -> None:
    rivals = a_live_evening(app_server, "rivals")
    for evening in (concert, rivals):
        ticket = evening.ticket()
        assert ticket["key_id"] == 1
        _, gate = a_gate(app_server, evening)
        shown(gate, evening, ticket)
        gate.upload()
        assert alarms(evening) == []


def test_codes_of_a_key_that_was_changed_over_are_known(app_server: AppServer, concert: Concert) -> None:
    old = concert.ticket()
    concert.api.post("/api/keys/rotate", {"at_once": True})
    new = concert.ticket()
    _, gate = a_gate(app_server, concert)
    shown(gate, concert, old)
    shown(gate, concert, new)
    gate.upload()
    assert alarms(concert) == []


def test_what_a_steward_typed_shows_no_code(app_server: AppServer, concert: Concert) -> None:
    ticket = concert.ticket()
    _, gate = a_gate(app_server, concert)
    shown(gate, concert, ticket, kind="by_hand", code_hash=b"")
    gate.upload()
    assert alarms(concert) == []
