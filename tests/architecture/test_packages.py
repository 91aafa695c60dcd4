"""What is installed is what is listed, and nothing else."""

from __future__ import annotations

from tests.architecture.tree import ROOT, packages, product_modules, project


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
