"""Concurrent changes of one event's status leave one valid history."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.lifecycle import EventStatus, may_become
from shared.wire.snapshot import RowKind
from sync_server.events.lifecycle import status
from sync_server.events.models import EventRecord
from sync_server.events.signals import EventStatusChanged, EventTimesMoved
from sync_server.outbox.models import OutboxRow
from sync_server.plumbing.requests.principals import SYSTEM, ActionContext
from tests.app_server import ApiClient, AppServer, Concert
from tests.builders import DAY, EVENING, MINUTE

TRANSITION_FACTS = {"event_published", "event_unpublished", "event_cancelled", "event_postponed", "event_went_live"}


def at_once(app_server: AppServer, concert: Concert, *steps: str) -> list[int]:
    """All of these at the same time, each over a connection of its own."""

    def send(step: str) -> int:
        api = ApiClient(app_server.app.test_client(), concert.api.headers)
        return api.ask("POST", f"{concert.path}/{step}", {"reason": "at once"}).status_code

    with ThreadPoolExecutor(len(steps)) as pool:
        return list(pool.map(send, steps))


def history(concert: Concert) -> list[tuple[str, str]]:
    """From which status to which, as the audit log has it."""
    lines = concert.api.get("/api/audit?limit=200")["items"]
    steps = [line for line in lines if line["action"] in TRANSITION_FACTS]
    return [(line["before"]["status"], line["after"]["status"]) for line in sorted(steps, key=lambda line: line["id"])]


def recorded(app_server: AppServer, concert: Concert) -> list[tuple[str, str]]:
    """The same as the facts tell it, in the order in which they are delivered."""
    app_server.run_worker()
    with app_server.database.reading() as session:
        facts = session.execute(
            select(OutboxRow).where(OutboxRow.name.in_(TRANSITION_FACTS)).order_by(OutboxRow.position)
        ).scalars()
        return [
            (fact.payload["before"]["status"], fact.payload["after"]["status"])
            for fact in facts
            if fact.subjects["event"] == concert.event["id"]
        ]


@pytest.mark.parametrize("last", ["cancel", "postpone", "go-live"])
def test_concurrent_publishing_and_unpublishing_leaves_one_valid_history(
    app_server: AppServer, concert: Concert, last: str
) -> None:
    statuses = at_once(app_server, concert, *(["publish", "unpublish"] * 5), last)
    statuses += at_once(app_server, concert, "publish", last, "unpublish", last)
    assert set(statuses) <= {200, 409}
    facts, lines = recorded(app_server, concert), history(concert)
    assert len(facts) == statuses.count(200) == len(lines) and sorted(facts) == sorted(lines)
    for (old, new), (following, _) in zip(facts, [*facts[1:], (None, None)], strict=True):
        assert may_become(EventStatus(old), EventStatus(new)) and following in {new, None}
    assert facts[0][0] == "draft"
    status = concert.api.get(concert.path)["status"]
    assert status == facts[-1][1] == app_server.gate_rows_of(concert.number, RowKind.EVENT)[0].status
    app_server.gate_rows(concert.number)


def test_a_change_that_waited_for_another_is_the_later_one_in_the_audit_log(
    app_server: AppServer, concert: Concert
) -> None:
    """Asked for first, and then kept waiting until the other was done and time had passed."""
    concert.api.post(f"{concert.path}/publish", {}, 200)
    organisation, event = concert.api.get("/api/session")["organisation"]["id"], concert.event["id"]
    early = ActionContext(SYSTEM, app_server.now, app_server.parts.entropy)
    app_server.advance(MINUTE)
    concert.api.post(f"{concert.path}/unpublish", {}, 200)
    app_server.advance(MINUTE)
    with app_server.database.writing() as session:
        status.change_status(session, organisation, event, EventStatus.PUBLISHED, early)
    assert history(concert) == [("draft", "published"), ("published", "draft"), ("draft", "published")]
    newest, before, _ = concert.api.get(f"/api/audit?subject_id={event}&limit=3")["items"]
    assert (newest["action"], newest["at"]) == ("event_published", "2026-07-04T16:02:00Z")
    assert newest["at"] > before["at"]


def test_concurrent_cancellations_cancel_once(app_server: AppServer, concert: Concert) -> None:
    assert sorted(at_once(app_server, concert, "cancel", "cancel", "cancel", "cancel")) == [200, 409, 409, 409]
    assert recorded(app_server, concert) == [("draft", "cancelled")]


WAYS = {
    "publish": [],
    "unpublish": ["publish"],
    "cancel": ["publish"],
    "postpone": ["publish"],
    "go-live": ["publish"],
}


@pytest.mark.parametrize("step", list(WAYS))
def test_handlers_run_inside_the_transition_and_can_abort_it(
    app_server: AppServer, concert: Concert, step: str
) -> None:
    for earlier in WAYS[step]:
        concert.api.post(f"{concert.path}/{earlier}", {}, 200)
    before, steps = concert.api.get(concert.path), history(concert)
    seen: list[EventStatusChanged] = []

    def refuse(session: Session, event: EventStatusChanged) -> None:
        assert (
            session.get_one(EventRecord, (event.organisation_id, event.event_id)).status
            == event.status.value
            != before["status"]
        )
        seen.append(event)
        raise RuntimeError("the holds could not be released")

    app_server.database.signals.on(EventStatusChanged, refuse)
    assert concert.api.ask("POST", f"{concert.path}/{step}", {}).status_code == 500
    (event,) = seen
    assert (event.event_id, event.number) == (concert.event["id"], concert.number)
    assert event.context.now == app_server.now
    assert concert.api.get(concert.path) == before and history(concert) == steps


def test_a_new_date_is_announced_with_its_distance(app_server: AppServer, concert: Concert) -> None:
    seen: list[EventTimesMoved] = []
    app_server.database.signals.on(EventTimesMoved, lambda _session, event: seen.append(event))
    for step in ("publish", "postpone"):
        concert.api.post(f"{concert.path}/{step}", {}, 200)
    date = EVENING + 9 * DAY
    concert.api.post(f"{concert.path}/reschedule", {"rescheduled_at": date}, 200)
    (moved,) = seen
    assert moved.event_id == concert.event["id"] and moved.shift.distance == date - (EVENING + 2 * 3_600_000)
