"""Keeps the newest figures of each benchmark in docs/figures.json, with the day, the machine and its load."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scripts.benchmarking.result import Result

FILE = Path(__file__).parents[2] / "docs" / "figures.json"


def circumstances(*, quick: bool) -> dict[str, Any]:
    """What a figure must be read with: taken before the benchmark begins to load the machine itself."""
    return {
        "day": datetime.now(UTC).date().isoformat(),
        "quick": quick,
        "load": round(os.getloadavg()[0], 1),
        "cores": os.cpu_count(),
        "processor": _processor(),
    }


def recorded(name: str, results: Iterable[Result], file: Path, *, quick: bool) -> Iterator[Result]:
    """Yield the results, and keep them once the benchmark has ended; one that fails half-way leaves its old figures."""
    around = circumstances(quick=quick)
    cases = []
    for result in results:
        cases.append(result.as_json())
        yield result
    kept = json.loads(file.read_text("utf-8")) if file.exists() else {}
    kept[name] = {**around, "cases": cases}
    file.write_text(json.dumps(kept, indent=1, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith(("model name", "Model"))]
    return names[0] if names else "unknown processor"
