"""Every measure and every kind of alert stands in docs/operate.md, and nothing stands there that is not told."""

from __future__ import annotations

import re
from pathlib import Path

from sync_server.watch.rules import Kind
from tests.office import Office

PAGE = (Path(__file__).parents[3] / "docs" / "operate.md").read_text("utf-8")


def part(title: str) -> str:
    """A section of the page."""
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def named(text: str) -> list[str]:
    """What the first cells of a table's rows name."""
    return [
        name for cell in re.findall(r"^\|([^|]*)\|", text, re.MULTILINE) for name in re.findall(r"`([a-z_]+)`", cell)
    ]


def test_the_page_and_the_server_tell_the_same_measures(office: Office) -> None:
    text = office.app.test_client().get("/metrics").get_data(as_text=True)
    told = {
        name for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE) if not name.endswith("_created")
    }
    described = named(part("Measures"))
    assert sorted(described) == sorted(told)


def test_every_measure_says_when_to_look() -> None:
    rows = [row for row in part("Measures").splitlines() if row.startswith("| `")]
    assert len(rows) > 15
    for row in rows:
        _, _, of, says, when, _, _ = row.split("|")
        assert of.strip() in {"house", "process"} and says.strip() and when.strip(), row


def test_the_page_tells_every_kind_of_alert() -> None:
    assert sorted(named(part("Alerts"))) == sorted(kind.value for kind in Kind)


def test_how_long_redis_takes_to_answer_is_measured(sqlite_url: str, redis_url: str, tmp_path: Path) -> None:
    office = Office(sqlite_url, tmp_path, redis_url=redis_url, redis_prefix="measured")
    try:
        office.desk(office.organisation("marquee")).get("/api/events/summaries")
        found = re.search(r"gatehouse_redis_seconds_count (.+)", office.parts.metrics.text().decode())
        assert found and float(found[1]) >= 2, "asked, and told the answer"
    finally:
        office.close()
