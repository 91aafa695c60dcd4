"""No committed file names a folder of one machine or a package registry."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, files

REGISTRIES = (
    "pypi" + ".org",
    "files." + "pythonhosted",
    "registry." + "npmjs",
    "--index" + "-url",
    "--extra-index" + "-url",
    "find-" + "links",
)
MACHINE = re.compile("(?<![\\w.$}-])/(" + "|".join(("wo" + "rk", "ro" + "ot", "home/[a-z]+", "Users")) + ")/")
TEXT = {
    ".cfg",
    ".css",
    ".html",
    ".ini",
    ".js",
    ".json",
    ".md",
    ".mako",
    ".py",
    ".sh",
    ".sql",
    ".toml",
    ".txt",
    ".yaml",
    ".yml",
    "",
}


def texts() -> list[tuple[Path, str]]:
    ours = [path for path in files() if path.suffix in TEXT and "vendor" not in path.parts]
    return [(path, (ROOT / path).read_text(errors="replace")) for path in ours]


@pytest.mark.parametrize("address", REGISTRIES)
def test_no_file_names_a_package_registry(address: str) -> None:
    assert [str(path) for path, text in texts() if address in text] == []


def test_no_file_names_a_folder_of_one_machine() -> None:
    assert [f"{path}: {found.group()}" for path, text in texts() if (found := MACHINE.search(text))] == []
