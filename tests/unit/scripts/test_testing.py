"""scripts/test chooses tests by what changed, says why, and refuses arguments that make no sense."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from grimp import ImportGraph

from scripts.testing import __main__ as command
from scripts.testing import changes
from scripts.testing.choice import Choice

ROOT = Path(__file__).parents[3]


def a_repository(folder: Path, files: dict[str, str]) -> Path:
    """A committed repository on a branch beside main."""
    write(folder, files)
    for words in ("init -q -b main", "add -A", "commit -qm first", "switch -qc work"):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words.split()], cwd=folder, check=True)
    return folder


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture(scope="module")
def graph() -> ImportGraph:
    return changes.import_graph()


def chosen(graph: ImportGraph, file: str) -> set[str]:
    """The tests of this project that a change of one file would run."""
    tests = [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "tests").rglob("conftest.py")]
    imports = {str(test.relative_to(ROOT)): set(changes.imported(test)) for test in tests}
    return set(changes.choose([file], imports, graph).tests)


def test_committed_uncommitted_and_new_files_count_as_changed(tmp_path: Path) -> None:
    root = a_repository(tmp_path, {"one.py": "", "two.py": "", "same.py": ""})
    write(root, {"one.py": "x = 1"})
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "x"], cwd=root, check=True)
    write(root, {"two.py": "x = 1", "three.py": ""})
    assert changes.changed_files(root, None) == ["one.py", "three.py", "two.py"]
    assert changes.changed_files(root, "HEAD") == ["three.py", "two.py"]


def test_a_module_affects_the_tests_that_import_it_even_through_others(graph: ImportGraph) -> None:
    found = chosen(graph, "sync_server/reseating/free_seats.py")
    assert "tests/unit/sync_server/reseating/test_planning.py" in found
    assert "tests/unit/gate_app/scanning/test_gate.py" not in found and "tests/unit/shared/test_tickets.py" not in found


def test_a_package_affects_the_contracts_named_after_it_which_reach_it_only_through_the_app(
    graph: ImportGraph,
) -> None:
    found = chosen(graph, "sync_server/holds/routes.py")
    assert "tests/contracts/holds/test_group_holds.py" in found
    assert "tests/contracts/server/test_tickets.py" not in found


def test_a_test_and_a_conftest_affect_themselves_and_what_is_below(graph: ImportGraph) -> None:
    assert "tests/unit/shared/test_days.py" in chosen(graph, "tests/unit/shared/test_days.py")
    below = chosen(graph, "tests/contracts/seating/conftest.py")
    assert "tests/contracts/seating/test_moving_guests.py" in below
    assert "tests/contracts/holds/test_group_holds.py" not in below


def test_a_page_affects_the_tests_in_a_browser(graph: ImportGraph) -> None:
    assert "tests/browser/test_seat_page.py" in chosen(graph, "sync_server/static/seats.js")


def test_documentation_affects_the_test_of_documentation(graph: ImportGraph) -> None:
    assert changes.DOCUMENTATION in chosen(graph, "docs/operate.md")


@pytest.mark.parametrize("file", ["pyproject.toml", "requirements/run.txt", "tests/conftest.py", "sync_server/app.py"])
def test_what_everybody_shares_affects_everything(graph: ImportGraph, file: str) -> None:
    assert changes.choose(["docs/a.md", file], {}, graph) == Choice(everything=file)
    assert file in Choice(everything=file).text()


def test_shared_paths_exist() -> None:
    assert [path for path in changes.SHARED if not (ROOT / path).exists()] == []
    assert (ROOT / changes.DOCUMENTATION).exists() and (ROOT / changes.ALWAYS).is_dir()
    assert [path for path in (*command.QUICK, *command.SLOW_UNITS) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--affected", "nosuch"], "nosuch is not a commit"),
        (["--quick", "--affected"], "--affected must be the first argument"),
        (["--quick", "tests/unit"], "tests/unit is not an option"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(
    given: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(given) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


def test_help_says_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--help"]) == 0
    said = capsys.readouterr().out
    assert all(word in said for word in ("--quick", "--affected [BASE]", "PYTEST-ARGUMENT"))


def test_other_arguments_are_those_of_pytest() -> None:
    assert command.arguments(["-x", "tests/unit"]) == ["-x", "tests/unit"]
    assert command.arguments([]) == ["-n", "3", "--dist", "loadfile"]


def test_what_failed_is_asked_again_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, {"lastfailed": '{"tests/test_two.py::test_b": true, "tests/test_one.py::test_a": true}'})
    assert command.again(tmp_path / "lastfailed") == ["-v", "tests/test_one.py::test_a", "tests/test_two.py::test_b"]
    assert "Unsteady" in capsys.readouterr().err


def test_tests_that_share_a_fixture_fail_together_and_are_one_accident(tmp_path: Path) -> None:
    together = ", ".join(f'"tests/test_one.py::test_{n}": true' for n in range(8))
    write(tmp_path, {"together": f"{{{together}}}"})
    assert len(command.again(tmp_path / "together")) == len(["-v"]) + 8


def test_many_failures_are_no_accident_and_none_is_nothing_to_run(tmp_path: Path) -> None:
    many = ", ".join(f'"tests/test_{n}.py::test_a": true' for n in range(6))
    write(tmp_path, {"many": f"{{{many}}}", "none": "{}"})
    with pytest.raises(ValueError, match="tests of 6 modules failed"):
        command.again(tmp_path / "many")
    for name in ("none", "missing"):
        with pytest.raises(ValueError, match="no test failed"):
            command.again(tmp_path / name)
