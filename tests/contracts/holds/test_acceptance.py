"""The acceptance list of the reserve-seat workflow, a test for each of its lines that no other page here tells."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from sqlalchemy import text

from shared.errors import Conflict
from sync_server.holds.box_office import box_office
from tests.builders import HOUR, MINUTE, an_event
from tests.contracts.holds.house import House, a_house
from tests.office import Desk, Office


def rows(house: House, query: str) -> list[Any]:
    return house.rows(query, event=house.id)


def code(who: Desk, method: str, path: str, body: Any = None) -> tuple[int, str]:
    return who.refused(method, path, {} if body is None else body)


def test_a_hold_record_is_created_and_the_seat_is_held(house: House) -> None:
    hold = house.reserve(house.guest(), "A-1")
    until = house.office.now + 5 * MINUTE
    kept = "SELECT id, organisation_id, seat, status, held_until, source, notes, created_at, updated_at FROM holds"
    now = house.office.now
    number = house.number("A-1")
    assert rows(house, kept) == [
        (hold["hold_id"], house.organisation_id, number, "active", until, "web", None, now, now)
    ]
    seat = "SELECT state, hold_id, held_until, locked_at, version FROM event_seats WHERE event_id = :event"
    assert rows(house, seat) == [(1, hold["hold_id"], until, now, 1)]


def test_the_process_remembers_the_hold(house: House) -> None:
    house.reserve(house.guest(), "A-1")
    near = box_office(house.office.parts).tiers.near
    key = (house.organisation_id, house.id, house.number("A-1"))
    assert near.find(key, house.office.now) is not None
    assert near.find(key, house.office.now + 5 * MINUTE) is None
    assert near.find(("other", *key[1:]), house.office.now) is None


def test_the_cleanup_is_due_ten_seconds_after_the_end(house: House) -> None:
    jobs = [job for job in house.office.parts.jobs if job.name == "holds.sweep"]
    assert len(jobs) == 1 and jobs[0].every_ms == 1_000


def test_a_fact_is_emitted_and_an_audit_line_written(house: House) -> None:
    guest = house.guest()
    hold = house.reserve(guest, "A-1", source="scanner")
    guest.post(f"{house.path}/holds", {"count": 2, "zone_id": house.zones["Floor"]})
    facts = rows(house, "SELECT organisation_id, stream, payload FROM outbox WHERE name = 'seat_held' ORDER BY id")
    assert [fact[:2] for fact in facts] == [(house.organisation_id, f"event:{house.event['number']}")] * 2
    assert house.seats["A-1"][0] in str(facts[0][2]) and house.seats["A-1"][0] not in str(facts[1][2])
    trail = house.desk.get(f"/api/audit?subject_kind=hold&subject_id={hold['hold_id']}")["items"]
    (line,) = [each for each in trail if each["action"] == "seat_reserved"]
    assert line["actor_kind"] == "guest"
    assert line["after"]["source"] == "scanner" and line["after"]["seat"] == house.number("A-1")
    kept = house.rows("SELECT content FROM audit_personal WHERE line_id = :line", line=line["id"])
    assert "127.0.0.1" in str(kept)  # from where, kept apart so that it can be erased


def test_a_refused_try_is_in_the_audit_log_and_changes_nothing(house: House) -> None:
    house.reserve(house.guest(), "A-1")
    before = rows(house, "SELECT * FROM holds") + rows(house, "SELECT * FROM event_seats")
    assert house.refused(house.guest(), "A-1") == (409, "seat_held_by_another_user")
    box_office(house.office.parts).failures.flush()
    told = rows(house, "SELECT subject_id, after FROM audit_lines WHERE action = 'seat_reserve_failed'")
    assert len(told) == 1 and told[0][0] == house.seats["A-1"][0]
    assert "seat_held_by_another_user" in str(told[0][1])
    assert rows(house, "SELECT * FROM holds") + rows(house, "SELECT * FROM event_seats") == before


def test_no_organisation_reaches_into_another(office: Office) -> None:
    house, other = a_house(office), a_house(office, slug="tent")
    stranger, guest = other.guest(), house.guest()
    hold = house.reserve(guest, "A-1")
    seat = house.seats["A-1"][0]
    assert code(stranger, "POST", house.reserve_path("A-2")) == (404, "event_not_found")
    assert code(stranger, "POST", f"{house.path}/holds", {"seat_ids": [seat]}) == (404, "event_not_found")
    assert code(stranger, "DELETE", f"/api/holds/{hold['hold_id']}") == (404, "hold_not_found")
    assert code(stranger, "POST", f"/api/holds/{hold['hold_id']}/extend") == (404, "hold_not_found")
    assert code(other.desk, "DELETE", f"/api/holds/{hold['hold_id']}") == (404, "hold_not_found")
    assert stranger.get(f"/api/me/holds?event={house.id}")["data"]["holds"] == []
    # A seat of one's own hall under somebody else's event, and the other way round.
    assert code(guest, "POST", f"{house.path}/seats/{other.seats['A-1'][0]}/reserve") == (404, "seat_not_found")
    assert code(guest, "POST", f"{other.path}/seats/{other.seats['A-1'][0]}/reserve") == (404, "event_not_found")


def test_words_of_refusal_for_requests_that_cannot_be(house: House) -> None:
    guest = house.guest()
    seat = house.seats["A-1"][0]
    assert code(guest, "POST", f"/api/events/x/seats/{seat}/reserve") == (400, "invalid_request")
    assert code(guest, "POST", f"{house.path}/seats/A-1/reserve") == (400, "invalid_request")
    assert code(guest, "POST", house.reserve_path("A-1"), {"source": "phone"}) == (400, "invalid_request")
    assert code(guest, "POST", house.reserve_path("A-1"), {"organisation_id": "x"}) == (400, "invalid_request")
    nobody = "00000000-0000-7000-8000-000000000000"
    assert code(guest, "POST", f"/api/events/{nobody}/seats/{seat}/reserve") == (404, "event_not_found")
    assert code(guest, "POST", f"{house.path}/seats/{nobody}/reserve") == (404, "seat_not_found")
    stranger = Desk(house.office.app.test_client(), {})
    assert code(stranger, "POST", house.reserve_path("A-1")) == (401, "unauthorized")
    assert stranger.ask("POST", house.reserve_path("A-1")).headers["Cache-Control"] == "no-cache, no-store"
    assert code(Desk(guest.client, {}), "POST", house.reserve_path("A-1")) == (403, "bad_csrf")


def test_an_event_that_is_not_on_sale(office: Office) -> None:
    house = a_house(office, sale_start_at=office.now + MINUTE, sale_end_at=office.now + HOUR)
    guest = house.guest()
    assert house.refused(guest, "A-1") == (400, "event_sales_closed")
    office.advance(MINUTE)
    house.reserve(guest, "A-1")
    office.advance(HOUR - MINUTE)
    house.reserve(guest, "A-3")  # the last millisecond belongs to the window
    office.advance(1)
    assert house.refused(guest, "A-5") == (400, "event_sales_closed")
    house.desk.post(f"{house.path}/go-live", {}, 200)
    house.desk.post(f"{house.path}/end", {}, 200)
    assert house.refused(guest, "A-5") == (400, "event_not_available")
    house.desk.post(f"{house.path}/archive", {}, 200)
    assert house.refused(guest, "A-5") == (400, "event_unavailable")


def test_a_sold_and_a_blocked_seat_say_what_they_are(house: House) -> None:
    house.sell("A-1")
    answer = house.guest().ask("POST", house.reserve_path("A-1"), {})
    assert answer.status_code == 409 and answer.json is not None
    assert answer.json["error"]["code"] == "seat_not_available"
    assert answer.json["error"]["details"] == {"current_status": "sold"}


def test_operators_see_what_came_of_tries_and_of_holds(house: House) -> None:
    def measured(name: str) -> float:
        found = [line for line in house.office.parts.metrics.text().decode().splitlines() if line.startswith(name)]
        return sum(float(line.rsplit(maxsplit=1)[1]) for line in found)

    guest, other = house.guest(), house.guest()
    house.reserve(guest, "A-1")
    house.reserve(guest, "A-1", 200)
    house.refused(other, "A-1")
    given_up = house.reserve(other, "B-1")
    other.ask("DELETE", f"/api/holds/{given_up['hold_id']}")
    assert measured('gatehouse_hold_tries_total{outcome="held"}') == 2
    assert measured('gatehouse_hold_tries_total{outcome="held_already"}') == 1
    assert measured('gatehouse_hold_tries_total{outcome="seat_held_by_another_user"}') == 1
    assert measured("gatehouse_hold_retries_total") == 0
    measures = box_office(house.office.parts).measures
    measures.forget()
    assert (measured("gatehouse_holds_active"), measured("gatehouse_holds_overdue")) == (1, 0)
    house.office.advance(5 * MINUTE)
    measures.forget()
    assert (measured("gatehouse_holds_active"), measured("gatehouse_holds_overdue")) == (0, 1)
    house.office.advance(10_000)
    house.office.work()
    measures.forget()
    assert (measured("gatehouse_holds_active"), measured("gatehouse_holds_overdue")) == (0, 0)
    assert (
        measured('gatehouse_holds_total{became="given_up"}') == measured('gatehouse_holds_total{became="expired"}') == 1
    )


def test_a_stale_hold_is_not_sold(house: House) -> None:
    hold = house.reserve(house.guest(), "A-1")
    house.office.advance(5 * MINUTE)
    with pytest.raises(Conflict) as refused:
        house.sell("A-1", holds=(hold["hold_id"],))
    assert refused.value.error_code == "hold_expired" and house.states() == {"A-1": 1}


def test_a_guest_whose_visit_is_over_is_told_so(house: House) -> None:
    guest = house.guest()
    with house.office.database.writing() as session:
        session.execute(text("UPDATE guests SET ends_at = :now"), {"now": house.office.now})
    assert house.refused(guest, "A-1") == (401, "unauthorized")


def test_staff_and_tokens_hold_seats_too(house: House) -> None:
    house.office.user("sue@marquee.example", house.organisation_id, "staff")
    staff = house.office.browser("sue@marquee.example")
    house.reserve(staff, "A-1")
    house.reserve(house.desk, "A-2")
    reader = house.office.desk(house.organisation_id, ["read"])
    assert house.refused(reader, "A-3") == (403, "forbidden")


def test_a_zone_that_is_not_open_to_all(house: House) -> None:
    layout = house.desk.get(f"{house.path}/layout")["layout_id"]
    closed = {house.zones["Stalls"]: {"access_mode": "membership_tier", "membership_tier": "gold"}}
    house.desk.put(f"{house.path}/layout", {"layout_id": layout, "overrides": {"zone_overrides": closed}})
    assert house.refused(house.guest(), "A-1") == (403, "sign_in_required")
    house.reserve(house.desk, "A-1", override=True)


class TestWithRedis:
    """The warm tier: written after the commit, gone with the hold, and never needed."""

    @pytest.fixture
    def office(self, postgres_url: str, redis_url: str, tmp_path: Path) -> Iterator[Office]:
        """A server with PostgreSQL and Redis."""
        made = Office(postgres_url, tmp_path, redis_url=redis_url)
        yield made
        made.close()

    def test_redis_entries_are_created_and_go_with_the_hold(self, house: House, redis_url: str) -> None:
        guest = house.guest()
        prefix = f"gatehouse:org:{{{house.organisation_id}}}"
        with redis.Redis.from_url(redis_url, decode_responses=True) as line:
            line.set(f"{prefix}:event:{house.id}:occupancy", "old")
            hold = house.reserve(guest, "A-1")
            seat, bearer = house.seats["A-1"][0], house.rows("SELECT bearer_id FROM holds")[0][0]
            until = hold["held_until_unix"]
            assert line.get(f"{prefix}:seat:{seat}:hold") == f"{hold['hold_id']}:{bearer}:{until}"
            assert 295 <= line.ttl(f"{prefix}:seat:{seat}:hold") <= 300
            member = f"{seat}:{hold['hold_id']}:{bearer}:{hold['held_until']}"
            assert line.zrange(f"{prefix}:event:{house.id}:seat_holds", 0, -1, withscores=True) == [(member, until)]
            assert line.get(f"{prefix}:event:{house.id}:occupancy") is None
            house.office.advance(MINUTE)
            longer = guest.post(f"/api/holds/{hold['hold_id']}/extend", {}, 200)["data"]["held_until"]
            member = f"{seat}:{hold['hold_id']}:{bearer}:{longer}"
            assert line.zrange(f"{prefix}:event:{house.id}:seat_holds", 0, -1) == [member]
            guest.ask("DELETE", f"/api/holds/{hold['hold_id']}")
            assert line.get(f"{prefix}:seat:{seat}:hold") is None
            assert line.zcard(f"{prefix}:event:{house.id}:seat_holds") == 0

    def test_what_redis_has_forgotten_is_asked_of_the_database(self, house: House, redis_url: str) -> None:
        hold = house.reserve(house.guest(), "A-1")
        with redis.Redis.from_url(redis_url) as line:
            line.flushall()
        assert house.refused(house.guest(), "A-1") == (409, "seat_held_by_another_user")
        # Another process gives the seat back, and nobody hears of it.
        with house.office.database.writing() as session:
            session.execute(text("UPDATE holds SET status = 'cancelled' WHERE id = :id"), {"id": hold["hold_id"]})
            session.execute(text("UPDATE event_seats SET state = 0, hold_id = NULL, held_until = NULL"))
        house.reserve(house.guest(), "A-1")

    def test_seats_of_one_hall_at_two_events_do_not_mix(self, house: House) -> None:
        other = house.desk.post("/api/events", an_event(house.event["venue_id"], name="Second Night"))
        layout = house.desk.get(f"{house.path}/layout")["layout_id"]
        house.desk.put(f"/api/events/{other['id']}/layout", {"layout_id": layout})
        house.desk.post(f"/api/events/{other['id']}/publish", {}, 200)
        house.reserve(house.guest(), "A-1")
        seat = house.seats["A-1"][0]
        second = house.guest().ask("POST", f"/api/events/{other['id']}/seats/{seat}/reserve", {})
        assert second.status_code == 201
        assert house.refused(house.guest(), "A-1") == (409, "seat_held_by_another_user")
