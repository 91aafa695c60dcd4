"""Staff of the platform hold seats only where they say why."""

from __future__ import annotations

from sqlalchemy import text

from sync_server.holds.box_office import box_office
from tests.contracts.holds.house import House
from tests.office import Office


def test_staff_of_the_platform_hold_no_seat_without_saying_why(office: Office, house: House) -> None:
    office.user("root@platform.example", platform="super_admin")
    root = office.browser("root@platform.example")
    assert root.ask("POST", "/api/session/organisation", {"organisation_id": house.organisation_id}).status_code == 204
    path = house.reserve_path("A-1")
    assert root.refused("POST", path, {}) == (403, "reason_required")
    with office.app.app_context():
        box_office(office.parts).failures.flush()
    assert root.post(path, {}, 201, **{"X-Reason": "seats for the fire brigade"})["data"]["status"] == "held"
    with office.database.reading() as session:
        told = session.execute(
            text("SELECT action, reason FROM audit_lines WHERE subject_kind IN ('seat', 'hold') ORDER BY id")
        ).all()
    assert [tuple(line) for line in told] == [
        ("seat_reserve_failed", ""),
        ("seat_reserved", "seats for the fire brigade"),
    ]
