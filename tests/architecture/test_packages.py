"""What is installed is what is listed, and nothing else."""

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
    """The names of all files in the wheel; built from a copy, because building leaves crumbs behind."""
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


def test_what_is_installed_is_the_product_to_the_last_file(built: set[str]) -> None:
    wanted = {path.as_posix() for path in files() if path.parts[0] in PRODUCT and path.suffix != ".md"}
    assert wanted - built == set()


def test_nothing_else_is_installed(built: set[str]) -> None:
    assert {name.split("/")[0] for name in built if ".dist-info/" not in name} == set(PRODUCT)


def test_the_list_of_packages_is_the_tree() -> None:
    listed = project()["tool"]["setuptools"]["packages"]
    assert sorted(packages()) == listed, (
        "bring [tool.setuptools] packages in pyproject.toml in step with the tree, sorted"
    )


def test_every_package_says_that_it_is_one() -> None:
    without = [name for name in packages() if not (ROOT / name.replace(".", "/") / "__init__.py").is_file()]
    assert without == []


def test_every_application_and_library_is_typed_for_its_users() -> None:
    tops = {path.parts[0] for path in product_modules()}
    assert {top for top in tops if not (ROOT / top / "py.typed").is_file()} == set()


def test_both_commands_are_installed() -> None:
    assert project()["project"]["scripts"] == {
        "gatehouse-gate": "gate_app.__main__:main",
        "gatehouse-server": "sync_server.__main__:main",
    }
