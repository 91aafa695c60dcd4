"""What pages read does not grow with the tickets, guests, holds and past events that they are about."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Table, insert, select

from scripts.benchmarking.meters.rows_read import reads_of
from sync_server.plumbing.sql.tables import Base
from tests.analysed import analyse
from tests.app_server import AppServer
from tests.builders import DAY, an_id
from tests.contracts.archives.evening import Evening, an_evening
from tests.contracts.sync.office_gates import shown

FEW, MANY = 6, 240
MARGIN = 1.3
"""A few rows more are no growth: of the minutes in which guests came."""
ROWS_MORE, STEPS_MORE = 12, 400
PAGES = {
    "event page": "/admin/events/{event}",
    "list of events": "/admin/events",
    "list of keys": "/api/keys",
    "seating figures": "/api/events/{event}/seating/metrics",
    "counters": "/api/events/{event}/counters",
    "devices page": "/admin/devices",
    "device page": "/admin/devices/{device}",
    "journal of a device": "/api/devices/{device}/journal",
    "alerts": "/api/alerts",
    "attendance of a day": "/api/events/{event}/days/{day}/seats",
}


def copy(app_server: AppServer, name: str, **changed: Any) -> None:
    """Many more rows like the first one; what is `changed` is a function of their number."""
    table: Table = Base.metadata.tables[name]
    with app_server.database.writing() as session:
        row = dict(session.execute(select(table).limit(1)).mappings().first() or {})
        session.execute(
            insert(table), [row | {name: value(at) for name, value in changed.items()} for at in range(MANY)]
        )


def a_hold_that_ended(evening: Evening) -> dict[str, Any]:
    """The columns of a hold of a place, as functions of its number."""
    now = evening.app_server.now
    at_event = {**evening.key._asdict(), "kind": "places", "seat": None, "zone": 1, "quantity": 1}
    of_guest = {"bearer_kind": "guest", "bearer_id": an_id("guest"), "source": "web", "status": "expired"}
    times = {"held_until": now, "created_at": now, "updated_at": now}
    same = {name: lambda _at, value=value: value for name, value in (at_event | of_guest | times).items()}
    return same | {"id": lambda at: an_id(f"hold-{at}")}


def grow(app_server: AppServer, evening: Evening) -> None:
    """Forty times the guests, and as much of what has ended."""
    (floor,) = [each for each in evening.api.get(f"{evening.path}/ticket-types")["items"] if each["name"] == "Floor"]
    for count in (100, 100, MANY - 200):
        body = {"ticket_type": floor["number"], "count": count}
        for ticket in evening.api.post(f"{evening.path}/tickets", body)["items"]:
            shown(evening.gate, evening.concert, ticket)
    evening.gate.upload()
    copy(app_server, "holds", **a_hold_that_ended(evening))
    far = {"hash": lambda at: at.to_bytes(32, "big"), "seq": lambda at: 100_000 + at, "kind": lambda _: "boot"}
    copy(app_server, "scan_entries", event_id=lambda _: None, ticket=lambda _: 0, **far)
    named = {name: lambda at: f"past-{at}" for name in ("code", "slug", "dedupe_key")}
    times = {name: lambda at: app_server.now - (at + 2) * DAY + 1 for name in ("end_at",)}
    times["start_at"] = lambda at: app_server.now - (at + 2) * DAY
    ids = {"id": lambda at: an_id(f"past-{at}"), "number": lambda at: 1_000 + at}
    copy(app_server, "events", status=lambda _: "ended", **ids, **named, **times)


def reads(app_server: AppServer, evening: Evening) -> dict[str, tuple[int, int]]:
    """Statements and rows of each page, when asked for a second time."""
    names = {
        "event": evening.key.event_id,
        "device": evening.device["id"],
        "day": evening.concert.event["start_at"][:10],
    }
    client, headers = evening.api.client, evening.api.headers
    found = {}
    for page, path in PAGES.items():
        for _ in range(2):
            with reads_of(app_server.database) as counted:
                response = client.get(path.format(**names), headers=headers)
            assert response.status_code == 200, (page, response.get_data(as_text=True)[:300])
        found[page] = counted.statements, counted.rows
    return found


def a_busy_evening(app_server: AppServer) -> Evening:
    """Some guests inside."""
    return an_evening(app_server, guests=FEW, ended=False, last_hello=False)


def test_pages_read_as_much_after_an_evening_as_before(app_server: AppServer) -> None:
    evening = a_busy_evening(app_server)
    before = reads(app_server, evening)
    grow(app_server, evening)
    analyse(app_server.database)
    after = reads(app_server, evening)
    more = STEPS_MORE if app_server.database.embedded else ROWS_MORE
    grown = {page: (before[page], after[page]) for page in PAGES if after[page][1] > MARGIN * before[page][1] + more}
    assert grown == {}
    assert {page: one[0] for page, one in after.items()} == {page: one[0] for page, one in before.items()}, "statements"


def test_a_page_far_down_the_list_of_events_reads_no_earlier_ones(app_server: AppServer) -> None:
    evening = a_busy_evening(app_server)
    grow(app_server, evening)
    path, pages = "/api/events?limit=10", list[str]()
    for _ in range(20):
        pages.append(path)
        path = f"/api/events?limit=10&after={evening.api.get(path)['next']}"
    counted = []
    for page in (pages[1], pages[19]):
        with reads_of(app_server.database) as found:
            evening.api.get(page)
        counted.append(found.rows)
    assert counted[1] <= MARGIN * counted[0]
