"""Every dependency has a licence that allows shipping it with Gatehouse."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, metadata

import pytest

from tests.architecture.tree import ROOT

PINNED = re.compile(r"^([a-z0-9][a-z0-9._-]*)==", re.MULTILINE)
#: The LGPL allows using a library unchanged; the others would cover the whole program.
FORBIDDEN = re.compile(r"(?<!L)(?<!Lesser )\b(A?GPL|General Public License|SSPL|BUSL|Commons Clause)", re.IGNORECASE)
LESSER = re.compile("lesser|LGPL", re.IGNORECASE)


def licences(package: str) -> list[str]:
    package_metadata = metadata(package)
    named = [*(package_metadata.get_all("License-Expression") or []), *(package_metadata.get_all("Classifier") or [])]
    return [licence for licence in named if "License ::" in licence or " ::" not in licence]


def is_forbidden(licence: str) -> bool:
    return bool(FORBIDDEN.search(licence)) and not LESSER.search(licence)


def runtime_packages() -> list[str]:
    return PINNED.findall((ROOT / "requirements" / "run.txt").read_text())


def test_no_dependency_restricts_what_apache_allows() -> None:
    forbidden = {}
    for package in runtime_packages():
        try:
            forbidden[package] = [licence for licence in licences(package) if is_forbidden(licence)]
        except PackageNotFoundError:
            continue  # pinned for another platform or Python
    assert len(forbidden) > 40
    assert {package: licence for package, licence in forbidden.items() if licence} == {}


@pytest.mark.parametrize(
    ("licence", "forbidden"),
    [
        ("License :: OSI Approved :: GNU General Public License v3 (GPLv3)", True),
        ("AGPL-3.0-or-later", True),
        ("LGPL-3.0-only", False),
        ("License :: OSI Approved :: GNU Lesser General Public License v2 (LGPLv2)", False),
        ("MIT", False),
    ],
)
def test_the_lgpl_is_told_from_the_gpl(licence: str, forbidden: bool) -> None:
    assert is_forbidden(licence) is forbidden
