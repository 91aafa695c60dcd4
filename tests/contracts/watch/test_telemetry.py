"""What the log and the answers say of an event's life: every step with its ids, its reason and who took it."""

from __future__ import annotations

from typing import Any

import pytest
from structlog.testing import capture_logs

from sync_server.outbox import joins
from sync_server.outbox.joins import Join
from sync_server.plumbing import logs
from tests.office import Evening, Office


@pytest.fixture(autouse=True)
def talkative(office: Office) -> None:
    logs.set_up("info")


def said(evening: Evening, path: str, body: dict[str, Any], status: int = 200) -> list[Any]:
    with capture_logs() as lines:
        evening.desk.post(f"{evening.path}/{path}", body, status)
    return [line for line in lines if line["event"].startswith("event_")]


@pytest.mark.parametrize(("path", "target"), [("cancel", "cancelled"), ("postpone", "postponed")])
def test_calling_off_is_told_with_reason_and_actor(evening: Evening, path: str, target: str) -> None:
    evening.desk.post(f"{evening.path}/publish", {}, 200)
    who = evening.desk.get("/api/session")
    (line,) = said(evening, path, {"reason": "storm"})
    assert line["event"] == f"event_{target}"
    assert (line["old_status"], line["new_status"], line["reason"]) == ("published", target, "storm")
    assert (line["event_id"], line["venue_id"]) == (evening.event["id"], evening.venue["id"])
    assert (line["organisation_id"], line["actor_id"]) == (who["organisation"]["id"], who["id"])
    assert line["request_id"]


def test_a_step_that_is_refused_is_not_told(evening: Evening) -> None:
    assert said(evening, "end", {}, 409) == []


def test_the_log_holds_ids_and_no_names(evening: Evening) -> None:
    with capture_logs() as lines:
        evening.desk.patch(evening.path, {"name": "Secret Farewell", "description": "for Erika Mustermann"})
    (line,) = [line for line in lines if line["event"] == "event_updated"]
    assert "Farewell" not in str(line) and "Erika" not in str(line)


def test_changes_are_counted_by_their_kind(office: Office, evening: Evening) -> None:
    evening.desk.post(f"{evening.path}/publish", {}, 200)
    evening.desk.post(f"{evening.path}/cancel", {"reason": "storm"}, 200)
    measures = office.app.test_client().get("/metrics").get_data(as_text=True)
    assert 'gatehouse_event_changes_total{fact="event_cancelled"} 1.0' in measures


def test_organisers_see_how_many_joined_elsewhere(office: Office, evening: Evening) -> None:
    assert evening.desk.get(evening.path)["joined_elsewhere"] == 0
    with office.database.writing() as session:
        for n in range(3):
            joins.count(session, Join(f"m{n}", evening.event["id"], 1), office.now)
    assert evening.desk.get(evening.path)["joined_elsewhere"] == 3
    assert [one["joined_elsewhere"] for one in evening.desk.get("/api/events")["items"]] == [3]
