"""Reads the table of measures in docs/operate.md, from which alerting rules and the dashboard are made."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Measure:
    """A row of the table; several names share a row where they belong together."""

    name: str
    scope: str  # installation: the same from every process; process: its own
    shows: str
    look_when: str
    do: str


def measures() -> list[Measure]:
    """All measures, in the order of the table."""
    section = (ROOT / "docs" / "operate.md").read_text("utf-8").partition("\n## Metrics\n")[2].partition("\n## ")[0]
    rows = [row.strip("|").split("|") for row in section.splitlines() if row.startswith("| `")]
    return [
        Measure(name, *(_plain(cell) for cell in cells))
        for first, *cells in rows
        for name in re.findall(r"`([a-z_]+)`", first)
    ]


def _plain(cell: str) -> str:
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", cell).replace("`", "").strip()
