"""An organisation decides how long it keeps what; a daily job removes the rest and says how much that was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, text

from sync_server.archives import retention
from sync_server.archives.rules import KEPT
from sync_server.migrations.tables import metadata
from tests.app_server import ApiClient, AppServer
from tests.builders import DAY
from tests.contracts.archives.evening import Evening


def rows(app_server: AppServer, table: str, where: str = "1 = 1") -> int:
    with app_server.database.reading() as session:
        found = select(func.count()).select_from(metadata().tables[table]).where(text(where))
        return int(session.execute(found).scalar_one())


def a_day(app_server: AppServer, days: int) -> None:
    """The worker runs some days later."""
    app_server.advance(days * DAY)
    app_server.run_worker()


def removed(app_server: AppServer, organisation_id: str) -> list[dict[str, Any]]:
    """What the audit log says was removed, newest first."""
    api = app_server.api(organisation_id)
    return [line["after"] for line in api.get("/api/audit?action=organisation.records_removed")["items"]]


def test_by_default_names_go_before_the_event_is_put_away(evening: Evening) -> None:
    app_server, owner = evening.app_server, evening.key.organisation_id
    app_server.run_worker()
    a_day(app_server, 20)
    assert rows(app_server, "tickets", "holder_name <> ''") == 6
    a_day(app_server, 11)
    assert rows(app_server, "tickets", "holder_name <> ''") == 0
    assert rows(app_server, "tickets") == 6, "everything else of a ticket stays"
    assert removed(app_server, owner)[0]["names"] == 6
    a_day(app_server, 1)
    assert len(removed(app_server, owner)) == 1, "nothing more was due"


def test_an_organisation_chooses_and_others_keep_the_defaults(evening: Evening) -> None:
    app_server, api = evening.app_server, evening.api
    rivals = app_server.api(app_server.organisation("rivals"))
    changed = api.patch("/api/retention", {"days": {"names": 2, "events": None}})["days"]
    assert (changed["names"], changed["events"], changed["facts"]) == (2, None, 7)
    assert rivals.get("/api/retention")["days"]["names"] == 30
    [line] = api.get("/api/audit?action=organisation.retention_changed")["items"]
    assert (line["before"], line["after"]) == ({"names": 30, "events": 90}, {"names": 2, "events": None})
    a_day(app_server, 3)
    assert rows(app_server, "tickets", "holder_name <> ''") == 0
    a_day(app_server, 200)
    app_server.run_worker()
    assert rows(app_server, "tickets") == 6, "for ever"


@pytest.mark.parametrize(
    "days", [{"names": 0}, {"facts": 8}, {"facts": None}, {"archives": 30}, {"sandwiches": 3}, {"names": "two"}]
)
def test_out_of_bounds_nothing_changes(api: ApiClient, days: dict[str, Any]) -> None:
    before = api.get("/api/retention")
    assert api.refused("PATCH", "/api/retention", {"days": days})[0] == 400
    assert api.get("/api/retention") == before


def test_facts_go_earlier_where_an_organisation_wants_it(evening: Evening) -> None:
    app_server = evening.app_server
    evening.api.patch("/api/retention", {"days": {"facts": 1}})
    app_server.run_worker()
    facts = rows(app_server, "outbox")
    a_day(app_server, 2)
    assert facts > 5 and rows(app_server, "outbox") <= 2


def test_personal_values_of_the_log_go_and_its_lines_stay(evening: Evening) -> None:
    app_server = evening.app_server
    evening.api.patch("/api/retention", {"days": {"audit_values": 30}})
    lines = rows(app_server, "audit_lines")
    assert rows(app_server, "audit_personal", "content IS NOT NULL") > 0
    app_server.run_worker()
    a_day(app_server, 31)
    assert rows(app_server, "audit_personal", "content IS NOT NULL") == 0
    assert rows(app_server, "audit_lines") >= lines


def test_the_file_of_an_old_archive_goes_and_its_figures_stay(evening: Evening) -> None:
    app_server = evening.app_server
    evening.api.patch("/api/retention", {"days": {"archives": 365}})
    evening.put_away()
    file = evening.file()
    app_server.run_worker()
    a_day(app_server, 364)
    assert file.is_file()
    a_day(app_server, 2)
    shown = app_server.api(evening.key.organisation_id).get(f"{evening.path}/archive")
    assert (file.exists(), shown["state"], shown["figures"]["admitted"]) == (False, "discarded", 3)


def test_what_goes_goes_in_pieces(evening: Evening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "PIECE", 2)
    app_server, owner = evening.app_server, evening.key.organisation_id
    app_server.advance(31 * DAY)
    found = retention.remove_due(
        app_server.parts.config, app_server.parts.sealer, app_server.database, app_server.context(), owner
    )
    assert found["names"] == 6


def test_the_page_lists_every_kind_with_its_default() -> None:
    page = (Path(__file__).parents[3] / "docs" / "retention.md").read_text(encoding="utf-8")
    for kind, keeping in KEPT.items():
        default, most = ("for ever" if days is None else str(days) for days in (keeping.default, keeping.most))
        assert f"| `{kind}` | {default} | {keeping.least}, {most} |" in page
