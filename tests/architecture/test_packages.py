"""The wheel contains exactly the product."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.architecture.tree import PRODUCT, ROOT, files, packages, product_modules, project


def a_copy_of_the_tree(folder: Path) -> Path:
    for path in files():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, folder / path)
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names of all files in the wheel, built from a copy because building leaves files in the tree."""
    tree = a_copy_of_the_tree(tmp_path_factory.mktemp("tree"))
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(tree),
        str(tree),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = tree.glob("gatehouse-*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def test_every_file_of_the_product_is_installed(built: set[str]) -> None:
    expected = {path.as_posix() for path in files() if path.parts[0] in PRODUCT and path.suffix != ".md"}
    assert expected - built == set()


def test_nothing_else_is_installed(built: set[str]) -> None:
    assert {name.split("/")[0] for name in built if ".dist-info/" not in name} == set(PRODUCT)


def test_the_list_of_packages_matches_the_tree() -> None:
    listed = project()["tool"]["setuptools"]["packages"]
    assert sorted(packages()) == listed, "update [tool.setuptools] packages in pyproject.toml to match the tree, sorted"


def test_every_package_has_an_init_module() -> None:
    without = [name for name in packages() if not (ROOT / name.replace(".", "/") / "__init__.py").is_file()]
    assert without == []


def test_every_top_package_is_marked_as_typed() -> None:
    tops = {path.parts[0] for path in product_modules()}
    assert {top for top in tops if not (ROOT / top / "py.typed").is_file()} == set()


def test_both_commands_are_installed() -> None:
    assert project()["project"]["scripts"] == {
        "gatehouse-gate": "gate_app.__main__:main",
        "gatehouse-server": "sync_server.__main__:main",
    }
