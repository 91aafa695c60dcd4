"""The acceptance list of the reserve-seat workflow: the lines that no other test module covers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from sqlalchemy import text

from shared.errors import Conflict
from sync_server.events.days.chosen_days import EVERY_DAY
from sync_server.holds.attempts.runtime import hold_runtime
from tests.app_server import ApiClient, AppServer
from tests.builders import HOUR, MINUTE, an_event
from tests.contracts.holds.seated_event import ADDRESS, SeatedEvent, a_seated_event


def rows(sale: SeatedEvent, query: str) -> list[Any]:
    return sale.rows(query, event=sale.id)


def code(who: ApiClient, method: str, path: str, body: Any = None) -> tuple[int, str]:
    return who.refused(method, path, {} if body is None else body)


def test_a_hold_record_is_created_and_the_seat_is_held(sale: SeatedEvent) -> None:
    hold = sale.reserve(sale.guest(), "A-1")
    until = sale.app_server.now + 5 * MINUTE
    query = "SELECT id, organisation_id, seat, status, held_until, source, notes, created_at, updated_at FROM holds"
    now = sale.app_server.now
    number = sale.number("A-1")
    assert rows(sale, query) == [
        (hold["hold_id"], sale.organisation_id, number, "active", until, "web", None, now, now)
    ]
    seat = "SELECT state, hold_id, held_until, locked_at, version FROM event_seats WHERE event_id = :event"
    assert rows(sale, seat) == [(1, hold["hold_id"], until, now, 1)]


def test_the_process_caches_the_hold(sale: SeatedEvent) -> None:
    sale.reserve(sale.guest(), "A-1")
    local = hold_runtime(sale.app_server.parts).hold_cache.local
    key = (sale.organisation_id, sale.id, sale.number("A-1"))
    assert local.find(key, EVERY_DAY, sale.app_server.now) is not None
    assert local.find(key, EVERY_DAY, sale.app_server.now + 5 * MINUTE) is None
    assert local.find(("other", *key[1:]), EVERY_DAY, sale.app_server.now) is None


def test_the_cleanup_is_due_ten_seconds_after_the_end(sale: SeatedEvent) -> None:
    jobs = [job for job in sale.app_server.parts.jobs if job.name == "holds.sweep"]
    assert len(jobs) == 1 and jobs[0].every_ms <= 10_000


def test_a_fact_is_emitted_and_an_audit_line_written(sale: SeatedEvent) -> None:
    guest = sale.guest()
    hold = sale.reserve(guest, "A-1", source="scanner")
    guest.post(f"{sale.path}/holds", {"count": 2, "zone_id": sale.zones["Floor"]})
    facts = rows(
        sale, "SELECT organisation_id, stream, payload FROM outbox WHERE name = 'seat_held' ORDER BY message_id"
    )
    assert [fact[:2] for fact in facts] == [(sale.organisation_id, f"event:{sale.event['number']}")] * 2
    assert sale.seats["A-1"][0] in str(facts[0][2]) and sale.seats["A-1"][0] not in str(facts[1][2])
    trail = sale.api.get(f"/api/audit?subject_kind=hold&subject_id={hold['hold_id']}")["items"]
    (line,) = [each for each in trail if each["action"] == "seat_reserved"]
    assert line["actor_kind"] == "guest"
    assert line["after"]["source"] == "scanner" and line["after"]["seat"] == "Stalls, row A, seat 1"
    personal = sale.rows("SELECT content FROM audit_personal WHERE line_id = :line", line=line["id"])
    assert ADDRESS in str(personal)  # the address, stored apart so that it can be erased


def test_a_refused_attempt_is_audited_and_changes_nothing(sale: SeatedEvent) -> None:
    sale.reserve(sale.guest(), "A-1")
    before = rows(sale, "SELECT * FROM holds") + rows(sale, "SELECT * FROM event_seats")
    assert sale.refused(sale.guest(), "A-1") == (409, "seat_held_by_another_user")
    hold_runtime(sale.app_server.parts).failures.flush()
    lines = rows(sale, "SELECT subject_id, after FROM audit_lines WHERE action = 'seat_reserve_failed'")
    assert len(lines) == 1 and lines[0][0] == sale.seats["A-1"][0]
    assert "seat_held_by_another_user" in str(lines[0][1]) and "Stalls, row A, seat 1" in str(lines[0][1])
    assert rows(sale, "SELECT * FROM holds") + rows(sale, "SELECT * FROM event_seats") == before


def test_no_organisation_reaches_into_another(app_server: AppServer) -> None:
    sale, other = a_seated_event(app_server), a_seated_event(app_server, slug="tent")
    stranger, guest = other.guest(), sale.guest()
    hold = sale.reserve(guest, "A-1")
    seat = sale.seats["A-1"][0]
    assert code(stranger, "POST", sale.reserve_path("A-2")) == (404, "event_not_found")
    assert code(stranger, "POST", f"{sale.path}/holds", {"seat_ids": [seat]}) == (404, "event_not_found")
    assert code(stranger, "DELETE", f"/api/holds/{hold['hold_id']}") == (404, "hold_not_found")
    assert code(stranger, "POST", f"/api/holds/{hold['hold_id']}/extend") == (404, "hold_not_found")
    assert code(other.api, "DELETE", f"/api/holds/{hold['hold_id']}") == (404, "hold_not_found")
    assert stranger.get(f"/api/me/holds?event={sale.id}")["data"]["holds"] == []
    # A seat of one's own venue under another organisation's event, and the other way round.
    assert code(guest, "POST", f"{sale.path}/seats/{other.seats['A-1'][0]}/reserve") == (404, "seat_not_found")
    assert code(guest, "POST", f"{other.path}/seats/{other.seats['A-1'][0]}/reserve") == (404, "event_not_found")


def test_error_codes_of_impossible_requests(sale: SeatedEvent) -> None:
    guest = sale.guest()
    seat = sale.seats["A-1"][0]
    assert code(guest, "POST", f"/api/events/x/seats/{seat}/reserve") == (400, "invalid_request")
    assert code(guest, "POST", f"{sale.path}/seats/A-1/reserve") == (400, "invalid_request")
    assert code(guest, "POST", sale.reserve_path("A-1"), {"source": "phone"}) == (400, "invalid_request")
    assert code(guest, "POST", sale.reserve_path("A-1"), {"organisation_id": "x"}) == (400, "invalid_request")
    nobody = "00000000-0000-7000-8000-000000000000"
    assert code(guest, "POST", f"/api/events/{nobody}/seats/{seat}/reserve") == (404, "event_not_found")
    assert code(guest, "POST", f"{sale.path}/seats/{nobody}/reserve") == (404, "seat_not_found")
    stranger = ApiClient(sale.app_server.app.test_client(), {})
    assert code(stranger, "POST", sale.reserve_path("A-1")) == (401, "unauthorized")
    assert stranger.ask("POST", sale.reserve_path("A-1")).headers["Cache-Control"] == "no-cache, no-store"
    assert code(ApiClient(guest.client, {}), "POST", sale.reserve_path("A-1")) == (403, "bad_csrf")


def test_an_event_that_is_not_on_sale(app_server: AppServer) -> None:
    sale = a_seated_event(app_server, sale_start_at=app_server.now + MINUTE, sale_end_at=app_server.now + HOUR)
    guest = sale.guest()
    assert sale.refused(guest, "A-1") == (400, "event_sales_closed")
    app_server.advance(MINUTE)
    sale.reserve(guest, "A-1")
    app_server.advance(HOUR - MINUTE)
    sale.reserve(guest, "A-3")  # the window includes its last millisecond
    app_server.advance(1)
    assert sale.refused(guest, "A-5") == (400, "event_sales_closed")
    sale.api.post(f"{sale.path}/go-live", {}, 200)
    sale.api.post(f"{sale.path}/end", {}, 200)
    assert sale.refused(guest, "A-5") == (400, "event_not_available")
    sale.api.post(f"{sale.path}/archive", {}, 200)
    assert sale.refused(guest, "A-5") == (400, "event_unavailable")


def test_a_sold_and_a_blocked_seat_say_what_they_are(sale: SeatedEvent) -> None:
    sale.sell("A-1")
    answer = sale.guest().ask("POST", sale.reserve_path("A-1"), {})
    assert answer.status_code == 409 and answer.json is not None
    assert answer.json["error"]["code"] == "seat_not_available"
    assert answer.json["error"]["details"] == {"current_status": "sold"}


def test_metrics_count_attempts_and_holds(sale: SeatedEvent) -> None:
    def measured(name: str) -> float:
        found = [line for line in sale.app_server.parts.metrics.text().decode().splitlines() if line.startswith(name)]
        return sum(float(line.rsplit(maxsplit=1)[1]) for line in found)

    guest, other = sale.guest(), sale.guest()
    sale.reserve(guest, "A-1")
    sale.reserve(guest, "A-1", 200)
    sale.refused(other, "A-1")
    released = sale.reserve(other, "B-1")
    other.ask("DELETE", f"/api/holds/{released['hold_id']}")
    assert measured('gatehouse_hold_tries_total{outcome="held"}') == 2
    assert measured('gatehouse_hold_tries_total{outcome="held_already"}') == 1
    assert measured('gatehouse_hold_tries_total{outcome="seat_held_by_another_user"}') == 1
    assert measured("gatehouse_hold_retries_total") == 0
    metrics = hold_runtime(sale.app_server.parts).metrics
    metrics.forget()
    assert (measured("gatehouse_holds_active"), measured("gatehouse_holds_overdue")) == (1, 0)
    sale.app_server.advance(5 * MINUTE)
    metrics.forget()
    assert (measured("gatehouse_holds_active"), measured("gatehouse_holds_overdue")) == (0, 1)
    sale.app_server.advance(10_000)
    sale.app_server.run_worker()
    metrics.forget()
    assert (measured("gatehouse_holds_active"), measured("gatehouse_holds_overdue")) == (0, 0)
    assert (
        measured('gatehouse_holds_total{became="given_up"}') == measured('gatehouse_holds_total{became="expired"}') == 1
    )


def test_a_stale_hold_is_not_sold(sale: SeatedEvent) -> None:
    hold = sale.reserve(sale.guest(), "A-1")
    sale.app_server.advance(5 * MINUTE)
    with pytest.raises(Conflict) as refused:
        sale.sell("A-1", holds=(hold["hold_id"],))
    assert refused.value.error_code == "hold_expired" and sale.states() == {"A-1": 1}


def test_a_guest_whose_visit_has_ended_is_refused(sale: SeatedEvent) -> None:
    guest = sale.guest()
    with sale.app_server.database.writing() as session:
        session.execute(text("UPDATE guests SET ends_at = :now"), {"now": sale.app_server.now})
    assert sale.refused(guest, "A-1") == (401, "unauthorized")


def test_staff_and_tokens_hold_seats_too(sale: SeatedEvent) -> None:
    sale.app_server.user("sue@marquee.example", sale.organisation_id, "staff")
    staff = sale.app_server.browser("sue@marquee.example")
    sale.reserve(staff, "A-1")
    sale.reserve(sale.api, "A-2")
    reader = sale.app_server.api(sale.organisation_id, ["read"])
    assert sale.refused(reader, "A-3") == (403, "forbidden")


def test_a_zone_that_is_not_open_to_all(sale: SeatedEvent) -> None:
    layout = sale.api.get(f"{sale.path}/layout")["layout_id"]
    closed = {sale.zones["Stalls"]: {"access_mode": "membership_tier", "membership_tier": "gold"}}
    sale.api.put(f"{sale.path}/layout", {"layout_id": layout, "overrides": {"zone_overrides": closed}})
    assert sale.refused(sale.guest(), "A-1") == (403, "sign_in_required")
    sale.reserve(sale.api, "A-1", override=True)


class TestWithRedis:
    """The cache in Redis: written after the commit, gone with the hold, and never needed."""

    @pytest.fixture
    def app_server(self, postgres_url: str, redis_url: str, tmp_path: Path) -> Iterator[AppServer]:
        """A server with PostgreSQL and Redis."""
        app_server = AppServer(postgres_url, tmp_path, redis_url=redis_url)
        yield app_server
        app_server.close()

    def test_redis_entries_are_created_and_go_with_the_hold(self, sale: SeatedEvent, redis_url: str) -> None:
        guest = sale.guest()
        prefix = f"gatehouse:org:{{{sale.organisation_id}}}"
        with redis.Redis.from_url(redis_url, decode_responses=True) as client:
            client.set(f"{prefix}:event:{sale.id}:occupancy", "old")
            hold = sale.reserve(guest, "A-1")
            seat, bearer = sale.seats["A-1"][0], sale.rows("SELECT bearer_id FROM holds")[0][0]
            until = hold["held_until_unix"]
            assert client.get(f"{prefix}:seat:{seat}:hold") == f"{hold['hold_id']}:{bearer}:{until}"
            assert 295 <= client.ttl(f"{prefix}:seat:{seat}:hold") <= 300
            member = f"{seat}:{hold['hold_id']}:{bearer}:{hold['held_until']}"
            assert client.zrange(f"{prefix}:event:{sale.id}:seat_holds", 0, -1, withscores=True) == [(member, until)]
            assert client.get(f"{prefix}:event:{sale.id}:occupancy") is None
            sale.app_server.advance(MINUTE)
            longer = guest.post(f"/api/holds/{hold['hold_id']}/extend", {}, 200)["data"]["held_until"]
            member = f"{seat}:{hold['hold_id']}:{bearer}:{longer}"
            assert client.zrange(f"{prefix}:event:{sale.id}:seat_holds", 0, -1) == [member]
            guest.ask("DELETE", f"/api/holds/{hold['hold_id']}")
            assert client.get(f"{prefix}:seat:{seat}:hold") is None
            assert client.zcard(f"{prefix}:event:{sale.id}:seat_holds") == 0

    def test_the_database_answers_what_redis_has_lost(self, sale: SeatedEvent, redis_url: str) -> None:
        hold = sale.reserve(sale.guest(), "A-1")
        with redis.Redis.from_url(redis_url) as client:
            client.flushall()
        assert sale.refused(sale.guest(), "A-1") == (409, "seat_held_by_another_user")
        # Another process releases the seat, and this one is not notified.
        with sale.app_server.database.writing() as session:
            session.execute(text("UPDATE holds SET status = 'cancelled' WHERE id = :id"), {"id": hold["hold_id"]})
            session.execute(text("UPDATE event_seats SET state = 0, hold_id = NULL, held_until = NULL"))
        sale.reserve(sale.guest(), "A-1")

    def test_seats_of_one_venue_at_two_events_do_not_mix(self, sale: SeatedEvent) -> None:
        other = sale.api.post("/api/events", an_event(sale.event["venue_id"], name="Second Night"))
        layout = sale.api.get(f"{sale.path}/layout")["layout_id"]
        sale.api.put(f"/api/events/{other['id']}/layout", {"layout_id": layout})
        sale.api.post(f"/api/events/{other['id']}/publish", {}, 200)
        sale.reserve(sale.guest(), "A-1")
        seat = sale.seats["A-1"][0]
        second = sale.guest().ask("POST", f"/api/events/{other['id']}/seats/{seat}/reserve", {})
        assert second.status_code == 201
        assert sale.refused(sale.guest(), "A-1") == (409, "seat_held_by_another_user")
