"""Who commits runs what the project runs, and whoever finds a weakness is told what to do."""

from __future__ import annotations

import os
import re
from typing import Any

import yaml  # type: ignore[import-untyped]  # it has no types

from tests.architecture.tree import ROOT

CHECK, QUICK = "scripts/check", "scripts/test"


def hooks() -> dict[str, dict[str, Any]]:
    """The hooks by the program that they run."""
    written = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    assert [repo["repo"] for repo in written["repos"]] == ["local"], "nothing that another project can change"
    return {hook["entry"].split()[0]: hook for repo in written["repos"] for hook in repo["hooks"]}


def test_a_commit_runs_what_the_project_runs() -> None:
    found = hooks()
    assert set(found) == {CHECK, QUICK}
    assert all(os.access(ROOT / program, os.X_OK) for program in found)
    assert (found[CHECK]["entry"], found[CHECK].get("stages", "every commit")) == (CHECK, "every commit")
    assert (found[QUICK]["entry"], found[QUICK]["stages"]) == (f"{QUICK} --quick", ["pre-push"])
    assert all(hook["pass_filenames"] is False for hook in found.values()), "the whole tree, not what has changed"
    assert all(hook["language"] == "script" for hook in found.values())


def test_what_must_hold_before_anything_is_kept_is_the_same_check() -> None:
    runs = re.findall(r"bash (\S+)", (ROOT / ".ci" / "run").read_text("utf-8"))
    assert runs[0] == CHECK
    assert set(runs) == {CHECK, QUICK}


def test_security_says_how_to_report_what_is_supported_and_what_holds() -> None:
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    assert re.findall(r"^## (.*)$", text, re.M) == [
        "Reporting a weakness",
        "What is supported",
        "What Gatehouse relies on",
    ]
    for told in (
        "in private",
        "working days",
        "gatehouse-server --version",
        "do not open a public",
        "signed",
        "audit verify",
    ):
        assert told in " ".join(text.split()), told
    for path in re.findall(r"`(docs/[a-z-]+\.md|scripts/[a-z-]+)`", text):
        assert (ROOT / path).exists(), path
    assert "SECURITY.md" in (ROOT / "CONTRIBUTING.md").read_text("utf-8")
