"""Sums that pages read are those of the rows whatever happens; a wrong one is found, reported and put right."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, select, update

from shared.journal.scans import EntryKind
from sync_server.commands.doctor import _sums
from sync_server.holds import expiry
from sync_server.holds.endings import outcomes
from sync_server.monitoring.queries import platform_alerts
from sync_server.monitoring.sum_checks import ALL_SUMS, wrong
from sync_server.plumbing.event_key import EventKey
from sync_server.scans.attendance.inside import SPANS, occupancy
from sync_server.scans.models import InsideSum, Presence
from sync_server.tickets.models import TicketCountRecord
from tests.app_server import ApiClient, AppServer
from tests.builders import DAY, MINUTE
from tests.contracts.archives.evening import an_evening
from tests.contracts.holds.seated_event import a_seated_event
from tests.contracts.sync.office_gates import shown


@pytest.fixture
def app_server(database_url: str, tmp_path: Path) -> Iterator[AppServer]:
    """A server with a folder for archives."""
    made = AppServer(database_url, tmp_path, archives_folder=tmp_path / "archives")
    yield made
    made.close()


def differences(app_server: AppServer, event: EventKey) -> dict[str, Any]:
    """What the sums of an event are wrong by."""
    with app_server.database.reading() as session:
        found = {each.name: each.differences(session, event) for each in ALL_SUMS}
    return {name: some for name, some in found.items() if some}


def stored(app_server: AppServer, event: EventKey) -> dict[str, dict[Any, int]]:
    """The sums of an event, by table and key."""
    found: dict[str, dict[Any, int]] = {}
    with app_server.database.reading() as session:
        for each in ALL_SUMS:
            table = each.table.__table__
            rows = session.execute(select(table).where(event.of(table.c))).all()
            found[each.name] = {tuple(row[:-1]): row.n for row in rows}
    return found


class Door:
    """An evening at which anything may happen, in any order."""

    def __init__(self, app_server: AppServer, number: int, api: ApiClient) -> None:
        self.evening = an_evening(app_server, guests=8, ended=False, last_hello=False, number=number, api=api)
        self.app_server, self.api, self.gate = app_server, api, self.evening.gate

    def act(self, what: str, who: int) -> None:
        """Do it with one of the tickets; a refusal changes nothing."""
        ticket, number = self.evening.tickets[who], self.evening.concert.number
        if what in {"cancel", "block", "unblock", "reissue"}:
            self.api.ask("POST", f"/api/tickets/{ticket['id']}/{what}", {"reason": "as told"})
        elif what == "enter":
            self.gate.admit(int(ticket["id"], 16), event=number)
        elif what == "leave":
            self.gate.admit(int(ticket["id"], 16), event=number, direction="exit", reason="exited")
        elif what == "annul":
            annulled = {"annuls": [self.gate.number, self.gate.branch, len(self.gate.bodies)]}
            self.gate.write(kind=EntryKind.ANNULMENT, event=number, ticket_id=int(ticket["id"], 16), details=annulled)
        elif what == "wait":
            self.app_server.advance(37 * MINUTE)
        elif what == "rotate":
            self.api.ask("POST", "/api/keys/rotate", {"at_once": True})
        elif what == "upload":
            self.gate.upload()


ACTIONS = ("cancel", "block", "unblock", "reissue", "enter", "leave", "annul", "wait", "rotate", "upload")


def test_sums_are_those_of_the_rows_whatever_happens(app_server: AppServer) -> None:
    api, numbers = app_server.api(app_server.organisation("marquee")), count(1)

    @settings(max_examples=5)
    @given(st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 7)), min_size=6, max_size=16))
    def happen(what: list[tuple[str, int]]) -> None:
        door = Door(app_server, next(numbers), api)
        for action, who in what:
            door.act(action, who)
        door.gate.upload()
        assert differences(app_server, door.evening.key) == {}

    happen()


def test_holds_that_end_are_counted_and_no_longer_once_they_are_deleted(app_server: AppServer) -> None:
    sale = a_seated_event(app_server)
    guest = sale.guest()
    for name in ("A-1", "A-2"):
        sale.reserve(guest, name)
    app_server.advance(DAY)
    app_server.run_worker()
    key = EventKey(sale.organisation_id, sale.id)
    with app_server.database.reading() as session:
        assert dict(outcomes.outcomes(session, *key)) == {"expired": 2}
    assert differences(app_server, key) == {}
    with app_server.database.writing() as session:
        assert expiry.delete_piece(session, *key, 1) == 1
    with app_server.database.reading() as session:
        assert dict(outcomes.outcomes(session, *key)) == {"expired": 1}
    assert differences(app_server, key) == {}


def test_occupancy_since_any_moment_is_that_of_the_rows(app_server: AppServer) -> None:
    evening = an_evening(app_server, guests=8, ended=False, last_hello=False)
    for ticket in evening.tickets[2:]:
        app_server.advance(7 * MINUTE + 13_337)
        shown(evening.gate, evening.concert, ticket)
    evening.gate.upload()
    with app_server.database.reading() as session:
        came = [(row.at, row.bodies) for row in session.query(Presence).filter(Presence.bodies > 0)]
        edges = {at // span * span + each for at, _ in came for span in SPANS for each in (-1, 0, 1, span)}
        for since in sorted({0, *edges, *(at + later for at, _ in came for later in (0, 1))}):
            expected = sum(bodies for at, bodies in came if at >= since)
            found = occupancy(session, evening.key, since)
            assert (found.inside, sum(found.by_gate.values()), sum(found.by_zone.values())) == (expected,) * 3, since
    assert len(came) >= 6


def test_sums_leave_with_their_event_and_come_back(app_server: AppServer) -> None:
    evening = an_evening(app_server)
    before = stored(app_server, evening.key)
    assert before["ticket_counts"] and before["scan_inside"] and before["scan_days"]
    evening.put_away()
    assert not any(stored(app_server, evening.key).values())
    assert list(wrong(app_server.database)) == []
    evening.api.post(f"{evening.path}/archive/restore", {"reason": "a dispute"}, 202)
    evening.work()
    assert stored(app_server, evening.key) == before
    assert differences(app_server, evening.key) == {}


def test_a_wrong_sum_is_found_reported_and_put_right(app_server: AppServer) -> None:
    evening = an_evening(app_server)
    with app_server.database.writing() as session:
        session.execute(update(TicketCountRecord).values(n=TicketCountRecord.n + 5))
        session.execute(delete(InsideSum).where(InsideSum.span == SPANS[0]))
    problem = _sums(app_server.database)
    assert not problem["ok"] and "ticket_counts" in str(problem) and "scan_inside" in str(problem)
    app_server.advance(DAY)
    app_server.run_worker()
    assert differences(app_server, evening.key) == {}
    assert _sums(app_server.database)["ok"]
    with app_server.database.reading() as session:
        alerts = [alert.kind.value for alert in platform_alerts(session, app_server.now)]
    assert "sums_differ" in alerts
    app_server.advance(DAY)
    app_server.run_worker()
    with app_server.database.reading() as session:
        assert "sums_differ" not in [alert.kind.value for alert in platform_alerts(session, app_server.now)]
