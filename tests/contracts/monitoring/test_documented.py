"""docs/operate.md lists exactly the metrics and the kinds of alerts that exist."""

from __future__ import annotations

import re
from pathlib import Path

from sync_server.monitoring.rules import AlertKind
from tests.app_server import AppServer

DOCUMENT = (Path(__file__).parents[3] / "docs" / "operate.md").read_text("utf-8")


def section(title: str) -> str:
    """A section of the document."""
    return DOCUMENT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def first_cells(text: str) -> list[str]:
    """The names in the first cells of a table's rows."""
    return [
        name for cell in re.findall(r"^\|([^|]*)\|", text, re.MULTILINE) for name in re.findall(r"`([a-z_]+)`", cell)
    ]


def test_every_metric_is_documented(app_server: AppServer) -> None:
    text = app_server.parts.metrics.text().decode()
    exported = {
        name for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE) if not name.endswith("_created")
    }
    documented = first_cells(section("Metrics"))
    assert sorted(documented) == sorted(exported)


def test_every_metric_has_a_scope_and_a_threshold() -> None:
    rows = [row for row in section("Metrics").splitlines() if row.startswith("| `")]
    assert len(rows) > 15
    for row in rows:
        _, _, scope, shows, threshold, _, _ = row.split("|")
        assert scope.strip() in {"installation", "process"} and shows.strip() and threshold.strip(), row


def test_every_kind_of_alert_is_documented() -> None:
    assert sorted(first_cells(section("Alerts"))) == sorted(kind.value for kind in AlertKind)


def test_response_times_of_redis_are_measured(sqlite_url: str, redis_url: str, tmp_path: Path) -> None:
    app_server = AppServer(sqlite_url, tmp_path, redis_url=redis_url, redis_prefix="measured")
    try:
        app_server.api(app_server.organisation("marquee")).get("/api/events/summaries")
        found = re.search(r"gatehouse_redis_seconds_count (.+)", app_server.parts.metrics.text().decode())
        assert found and float(found[1]) >= 2, "a read and a write"
    finally:
        app_server.close()
