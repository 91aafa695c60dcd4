"""Many hands walk one event at the same time: its history is one, and it is legal."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from shared.lifecycle import EventStatus, may_become
from shared.snapshot import RowKind
from sync_server.events.models import EventRecord
from sync_server.outbox.models import OutboxRow
from tests.builders import DAY, EVENING
from tests.office import Desk, Evening, Office

WALKED = {"event_published", "event_unpublished", "event_cancelled", "event_postponed", "event_went_live"}


def at_once(office: Office, evening: Evening, *steps: str) -> list[int]:
    """All of these at the same time, each over a connection of its own."""

    def send(step: str) -> int:
        desk = Desk(office.app.test_client(), evening.desk.headers)
        return desk.ask("POST", f"{evening.path}/{step}", {"reason": "at once"}).status_code

    with ThreadPoolExecutor(len(steps)) as pool:
        return list(pool.map(send, steps))


def history(evening: Evening) -> list[tuple[str, str]]:
    """From which status to which, as the audit log has it."""
    lines = evening.desk.get("/api/audit?limit=200")["items"]
    steps = [line for line in lines if line["action"] in WALKED]
    return [(line["before"]["status"], line["after"]["status"]) for line in sorted(steps, key=lambda line: line["id"])]


def told(office: Office, evening: Evening) -> list[tuple[str, str]]:
    """The same as the facts tell it, in the order of their numbers."""
    with office.database.reading() as session:
        facts = session.execute(select(OutboxRow).where(OutboxRow.name.in_(WALKED)).order_by(OutboxRow.id)).scalars()
        return [
            (fact.payload["before"]["status"], fact.payload["after"]["status"])
            for fact in facts
            if fact.subjects["event"] == evening.event["id"]
        ]


@pytest.mark.parametrize("last", ["cancel", "postpone", "go-live"])
def test_publishing_and_taking_back_at_once_is_one_legal_history(office: Office, evening: Evening, last: str) -> None:
    statuses = at_once(office, evening, *(["publish", "unpublish"] * 5), last)
    statuses += at_once(office, evening, "publish", last, "unpublish", last)
    assert set(statuses) <= {200, 409}
    facts, lines = told(office, evening), history(evening)
    assert len(facts) == statuses.count(200) == len(lines) and sorted(facts) == sorted(lines)
    for (old, new), (following, _) in zip(facts, [*facts[1:], (None, None)], strict=True):
        assert may_become(EventStatus(old), EventStatus(new)) and following in {new, None}
    assert facts[0][0] == "draft"
    status = evening.desk.get(evening.path)["status"]
    assert status == facts[-1][1] == office.held_of(evening.number, RowKind.EVENT)[0].status
    office.held(evening.number)


def test_cancelling_twice_at_once_cancels_once(office: Office, evening: Evening) -> None:
    assert sorted(at_once(office, evening, "cancel", "cancel", "cancel", "cancel")) == [200, 409, 409, 409]
    assert told(office, evening) == [("draft", "cancelled")]


WAYS = {
    "event_published": [],
    "event_unpublished": ["publish"],
    "event_cancelled": ["publish"],
    "event_postponed": ["publish"],
    "event_went_live": ["publish"],
}
STEP = {
    "event_published": "publish",
    "event_unpublished": "unpublish",
    "event_cancelled": "cancel",
    "event_postponed": "postpone",
    "event_went_live": "go-live",
}


@pytest.mark.parametrize("name", list(WAYS))
def test_higher_floors_act_inside_the_step_or_the_step_is_not_made(office: Office, evening: Evening, name: str) -> None:
    for step in WAYS[name]:
        evening.desk.post(f"{evening.path}/{step}", {}, 200)
    before, steps = evening.desk.get(evening.path), history(evening)
    seen: list[Any] = []

    def refuse(session: Session, subject: Any, now: int) -> None:
        row = session.get_one(EventRecord, subject[1])
        seen.append((subject, now, row.status))
        raise RuntimeError("the holds could not be let go")

    office.database.when(name, refuse)
    assert evening.desk.ask("POST", f"{evening.path}/{STEP[name]}", {}).status_code == 500
    (subject, now, status) = seen[0]
    assert subject[1:] == (evening.event["id"], evening.number) and now == office.now
    assert status != before["status"]  # whoever is told finds the event as it is to be
    assert evening.desk.get(evening.path) == before and history(evening) == steps


def test_a_new_date_tells_by_how_much_everything_moves(office: Office, evening: Evening) -> None:
    seen: list[Any] = []
    office.database.when("event_times_moved", lambda _session, subject, _now: seen.append(subject))
    for step in ("publish", "postpone"):
        evening.desk.post(f"{evening.path}/{step}", {}, 200)
    date = EVENING + 9 * DAY
    evening.desk.post(f"{evening.path}/reschedule", {"rescheduled_at": date}, 200)
    ((organisation, event, distance),) = seen
    assert event == evening.event["id"] and distance == date - (EVENING + 2 * 3_600_000) and organisation
