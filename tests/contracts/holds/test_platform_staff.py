"""Platform staff hold seats only with a reason."""

from __future__ import annotations

from sqlalchemy import text

from sync_server.holds.attempts.runtime import hold_runtime
from tests.app_server import AppServer
from tests.contracts.holds.seated_event import SeatedEvent


def test_platform_staff_hold_no_seat_without_a_reason(app_server: AppServer, sale: SeatedEvent) -> None:
    app_server.user("root@platform.example", platform="super_admin")
    root = app_server.browser("root@platform.example")
    assert root.ask("POST", "/api/session/organisation", {"organisation_id": sale.organisation_id}).status_code == 204
    path = sale.reserve_path("A-1")
    assert root.refused("POST", path, {}) == (403, "reason_required")
    with app_server.app.app_context():
        hold_runtime(app_server.parts).failures.flush()
    app_server.advance(1)
    assert root.post(path, {}, 201, **{"X-Reason": "seats for the fire brigade"})["data"]["status"] == "held"
    with app_server.database.reading() as session:
        lines = session.execute(
            text("SELECT action, reason FROM audit_lines WHERE subject_kind IN ('seat', 'hold') ORDER BY id")
        ).all()
    assert [tuple(line) for line in lines] == [
        ("seat_reserve_failed", ""),
        ("seat_reserved", "seats for the fire brigade"),
    ]
