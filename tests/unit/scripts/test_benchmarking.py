"""Results of benchmarks have the same fields and statistics, and show when a goal is missed."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.benchmarking import registry
from scripts.benchmarking.meters.interpreter_steps import StepCounter
from scripts.benchmarking.record import recorded
from scripts.benchmarking.report import table
from scripts.benchmarking.result import Figure, Goal, Result, at_least, at_most, both
from scripts.benchmarking.statistics import Spread, percentile
from scripts.benchmarking.yardsticks.bare_scan import CHECKPOINT_EVERY, BareScan
from scripts.generated_docs import figures

KEYS = {"bench", "case", "value", "unit", "p50", "p95", "p99", "yardstick", "ratio", "goal", "holds"}


def a_result(*, figure: Figure | None = None, goal: Goal | None = None) -> Result:
    measured = figure or Figure.of_spread(Spread(0.3, 0.4, 0.5), "ms", yardstick=0.2)
    return Result("scan", "200000 tickets", measured, goal or at_most(1.5, "ratio"))


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0.01, 1))
def test_a_percentile_is_a_measured_value_that_the_share_does_not_exceed(values: list[float], share: float) -> None:
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9


def test_percentiles_of_a_hundred_are_their_ranks() -> None:
    assert Spread.of(list(range(1, 101))) == Spread(50, 95, 99)


def test_nothing_measured_is_no_percentile() -> None:
    with pytest.raises(ValueError, match="nothing was measured"):
        percentile([], 0.5)


def test_a_full_result_has_all_the_keys_that_machines_read() -> None:
    assert a_result().as_json().keys() == KEYS


def test_what_was_not_measured_is_left_out() -> None:
    result = a_result(figure=Figure(value=0, unit="seats"), goal=at_most(0))
    assert result.as_json().keys() == KEYS - {"p50", "p95", "p99", "yardstick", "ratio"}


@pytest.mark.parametrize(
    ("goal", "holds"),
    [
        (at_most(1.5, "ratio"), True),
        (at_most(1.4, "ratio"), False),
        (at_least(0.3), True),
        (at_least(0.31), False),
        (both(at_most(1.5, "ratio"), at_most(0.45, "p99")), False),
    ],
)
def test_a_goal_holds_or_does_not(goal: Goal, holds: bool) -> None:
    result = a_result(goal=goal)
    assert result.as_json()["holds"] is holds


def test_a_goal_about_something_unmeasured_is_a_mistake_not_a_success() -> None:
    with pytest.raises(ValueError, match="p99, which was not measured"):
        a_result(figure=Figure(value=1, unit="ms"), goal=at_most(2, "p99")).as_json()


def test_the_table_has_a_row_for_each_result() -> None:
    assert table([a_result(), a_result()]).row_count == 2


def test_every_benchmark_says_what_it_measures() -> None:
    assert [name for name in registry.names() if not registry.description(name).endswith(".")] == []


def test_benchmarks_of_two_rooms_have_two_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for room in ("door", "lobby"):
        (tmp_path / "cases_of_two" / room).mkdir(parents=True)
        (tmp_path / "cases_of_two" / room / "__init__.py").touch()
        (tmp_path / "cases_of_two" / room / "scan.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match=r"called scan: cases_of_two\.door\.scan and cases_of_two\.lobby\.scan"):
        registry.modules(importlib.import_module("cases_of_two"))


def test_the_bare_scan_writes_a_row_a_scan(tmp_path: Path) -> None:
    bare = BareScan(tmp_path / "bare.db", tickets=10)
    for _ in range(12):
        bare()
    rows = bare.journal_rows()
    bare.close()
    assert rows == 12


def test_the_log_of_the_bare_scan_stops_growing_once_it_has_rested(tmp_path: Path) -> None:
    bare, log = BareScan(tmp_path / "bare.db", tickets=10), tmp_path / "bare.db-wal"
    sizes = []
    for _ in range(3):
        for _ in range(CHECKPOINT_EVERY):
            bare()
        bare.rest()
        sizes.append(log.stat().st_size)
    bare.close()
    assert sizes[0] == sizes[1] == sizes[2]


class TestRecorded:
    """Figures that are kept for the documentation."""

    def test_the_figures_of_a_benchmark_replace_its_older_ones_and_no_others(self, tmp_path: Path) -> None:
        file = tmp_path / "figures.json"
        other = Result("scan", "other", Figure(value=2, unit="ms"), at_most(3))
        list(recorded("reserve", [other], file, quick=False))
        list(recorded("scan", [other, a_result()], file, quick=False))
        list(recorded("scan", [a_result()], file, quick=True))
        kept = json.loads(file.read_text())
        assert sorted(kept) == ["reserve", "scan"]
        assert (kept["scan"]["quick"], kept["scan"]["cases"]) == (True, [a_result().as_json()])
        assert {"day", "load", "cores", "processor"} < kept["scan"].keys()

    def test_a_benchmark_that_fails_half_way_keeps_its_older_figures(self, tmp_path: Path) -> None:
        file = tmp_path / "figures.json"
        list(recorded("scan", [a_result()], file, quick=False))
        before = file.read_text()

        def broken() -> Iterator[Result]:
            yield a_result()
            raise RuntimeError

        with pytest.raises(RuntimeError):
            list(recorded("scan", broken(), file, quick=False))
        assert file.read_text() == before

    def test_a_missed_goal_is_named_first(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        missed = a_result(goal=at_most(1.4, "ratio"))
        list(recorded("scan", [missed], tmp_path / "figures.json", quick=True))
        monkeypatch.setattr(figures, "FIGURES", tmp_path / "figures.json")
        page = figures.text()
        assert page.index("## What misses its goal") < page.index("## scan")
        assert (
            "| bench | case | figure | p50 |" in page
            and "|\n|---|---|---|---|---|---|---|---|---|---|\n| scan |" in page
        )
        assert "| scan | 200000 tickets | 0.3 ms |" in page and "ratio ≤ 1.4 | **no** |" in page


def test_steps_are_the_same_each_time_and_end_where_counting_stops() -> None:
    counter = StepCounter()

    def add(numbers: int) -> int:
        return sum(number for number in range(numbers))

    def stopped() -> None:
        add(10)
        counter.stop()
        add(1_000)

    assert [counter.run(lambda: add(10)) for _ in range(2)] == [45, 45]
    counter.run(lambda: add(1_000))
    counter.run(stopped)
    once, again, longer, until_stopped = counter.counts
    assert once == again and longer > once + 1_000 and once < until_stopped < once + 100
