"""What the house stands on may be shipped with it."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, metadata

import pytest

from tests.architecture.tree import ROOT

PINNED = re.compile(r"^([a-z0-9][a-z0-9._-]*)==", re.MULTILINE)
#: The Lesser licence lets others use a library as it is; the others would lay hold of the whole.
FORBIDDEN = re.compile(r"(?<!L)(?<!Lesser )\b(A?GPL|General Public License|SSPL|BUSL|Commons Clause)", re.IGNORECASE)
LESSER = re.compile("lesser|LGPL", re.IGNORECASE)


def licences(part: str) -> list[str]:
    said = metadata(part)
    named = [*(said.get_all("License-Expression") or []), *(said.get_all("Classifier") or [])]
    return [words for words in named if "License ::" in words or " ::" not in words]


def is_forbidden(words: str) -> bool:
    return bool(FORBIDDEN.search(words)) and not LESSER.search(words)


def parts_that_run() -> list[str]:
    return PINNED.findall((ROOT / "requirements" / "house.txt").read_text())


def test_no_part_forbids_what_apache_allows() -> None:
    forbidden = {}
    for part in parts_that_run():
        try:
            forbidden[part] = [words for words in licences(part) if is_forbidden(words)]
        except PackageNotFoundError:
            continue  # pinned for another platform or Python
    assert len(forbidden) > 40
    assert {part: words for part, words in forbidden.items() if words} == {}


@pytest.mark.parametrize(
    ("words", "forbidden"),
    [
        ("License :: OSI Approved :: GNU General Public License v3 (GPLv3)", True),
        ("AGPL-3.0-or-later", True),
        ("LGPL-3.0-only", False),
        ("License :: OSI Approved :: GNU Lesser General Public License v2 (LGPLv2)", False),
        ("MIT", False),
    ],
)
def test_a_licence_is_told_from_its_lesser_sister(words: str, forbidden: bool) -> None:
    assert is_forbidden(words) is forbidden
