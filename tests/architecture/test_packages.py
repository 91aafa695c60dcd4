"""The wheel contains exactly the product."""

from __future__ import annotations

import zipfile

import pytest

from shared.release import DISTRIBUTION
from tests.architecture.tree import LAUNCHER, PRODUCT, ROOT, files, packages, product_modules, project
from tests.services.wheel import build_wheel

CARRIED = f"{LAUNCHER}/packages/"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names of all files in the wheel."""
    return set(zipfile.ZipFile(build_wheel(tmp_path_factory.mktemp("wheel"))).namelist())


def test_every_file_of_the_product_is_installed(built: set[str]) -> None:
    installed = [path for path in files() if path.suffix != ".md"]
    carried = {CARRIED + path.as_posix() for path in installed if path.parts[0] in PRODUCT}
    beside = {path.as_posix() for path in installed if path.parts[0] == LAUNCHER}
    assert (carried | beside) - built == set()


def test_nothing_stands_beside_the_packages_of_others(built: set[str]) -> None:
    assert {name.split("/")[0] for name in built if ".dist-info/" not in name} == {LAUNCHER}
    inside = {name.removeprefix(CARRIED).split("/")[0] for name in built if name.startswith(CARRIED)}
    assert inside == set(PRODUCT)


def test_the_list_of_packages_matches_the_tree() -> None:
    listed = project()["tool"]["setuptools"]["packages"]
    expected = [LAUNCHER, *(CARRIED.replace("/", ".") + name for name in sorted(packages()))]
    assert listed == expected, "update [tool.setuptools] packages in pyproject.toml to match the tree, sorted"


def test_every_package_has_an_init_module() -> None:
    without = [name for name in packages() if not (ROOT / name.replace(".", "/") / "__init__.py").is_file()]
    assert without == []


def test_every_top_package_is_marked_as_typed() -> None:
    tops = {path.parts[0] for path in product_modules()}
    assert {top for top in tops if not (ROOT / top / "py.typed").is_file()} == set()


def test_both_commands_are_installed() -> None:
    assert project()["project"]["scripts"] == {
        "gatehouse-gate": f"{LAUNCHER}:gate",
        "gatehouse-server": f"{LAUNCHER}:server",
    }


def test_the_programs_know_what_they_are_installed_as() -> None:
    assert project()["project"]["name"] == DISTRIBUTION


def test_no_index_takes_it() -> None:
    assert "Private :: Do Not Upload" in project()["project"]["classifiers"]
