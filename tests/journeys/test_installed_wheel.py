"""The wheel beside somebody else's `shared`: both programs work, and nobody finds the packages of the other."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, free_port
from shared.release import DISTRIBUTION
from tests.architecture.tree import LAUNCHER, PRODUCT, project
from tests.services.wheel import build_wheel

VERSION = project()["project"]["version"]
FOREIGN = "OURS = 'a package of somebody else'\n"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel and a foreign `shared`; the libraries come from this one."""
    folder = tmp_path_factory.mktemp("installed")
    wheel = build_wheel(folder)
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    site = site_packages(environment)
    # As a plain path: what is installed here in editable form is not found through it.
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (site / "shared").mkdir()
    (site / "shared" / "__init__.py").write_text(FOREIGN)
    install = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python"), "install", "--quiet"]
    done = subprocess.run(
        [*install, "--no-deps", "--no-index", str(wheel)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return environment


def site_packages(environment: Path) -> Path:
    (site,) = environment.glob("lib/python*/site-packages")
    return site


def run(installed: Path, command: str, *arguments: str, **settings: str) -> str:
    """Run an installed command far from the tree; its standard output."""
    done = subprocess.run(
        [str(installed / "bin" / command), *arguments],
        cwd=installed,
        env=environment_of(installed, **settings),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def environment_of(installed: Path, **settings: str) -> dict[str, str]:
    # Programs write nothing beside the code of others, and find nothing by the environment of these tests.
    return {"PATH": os.environ["PATH"], "HOME": str(installed), "GATEHOUSE_LOG_LEVEL": "error", **settings}


def test_nothing_of_ours_stands_beside_the_packages_of_others(installed: Path) -> None:
    site = site_packages(installed)
    names = {path.name for path in site.iterdir() if not path.name.endswith((".dist-info", ".pth"))}
    assert names == {LAUNCHER, "shared"}
    assert (site / "shared" / "__init__.py").read_text() == FOREIGN
    python = [str(installed / "bin" / "python"), "-c"]
    found = subprocess.check_output([*python, "import shared; print(shared.OURS)"], cwd=installed, text=True)
    assert found.strip() == "a package of somebody else"
    for name in set(PRODUCT) - {"shared"}:
        done = subprocess.run([*python, f"import {name}"], cwd=installed, capture_output=True, check=False)
        assert done.returncode == 1, name


def test_both_programs_tell_their_version(installed: Path) -> None:
    assert run(installed, "gatehouse-server", "--version").strip() == VERSION
    assert run(installed, "gatehouse-gate", "--version").split() == ["gatehouse-gate", VERSION]
    (metadata,) = site_packages(installed).glob("*.dist-info")
    assert metadata.name == f"{DISTRIBUTION.replace('-', '_')}-{VERSION}.dist-info"


@pytest.fixture
def server(installed: Path, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The address of an installed server with the demo on a database of its own, and a code to enrol a device."""
    settings = {
        "GATEHOUSE_DATABASE_URL": f"sqlite:///{tmp_path / 'gatehouse.db'}",
        "GATEHOUSE_MASTER_KEY_FILE": str(tmp_path / "master.key"),
    }
    made = json.loads(run(installed, "gatehouse-server", "demo", "--json", **settings))
    port = free_port()
    command = [str(installed / "bin" / "gatehouse-server"), "serve", "--port", str(port)]
    # Children get this process's environment too: nothing in it may lead them to the tree.
    assert "PYTHONPATH" not in os.environ
    process = Child("the server", command, tmp_path / "log", environment_of(installed, **settings), tmp_path)
    address = f"http://{LOOPBACK}:{port}"
    process.start()
    try:
        process.wait_until(lambda: answers(f"{address}/healthz"))
        yield address, made["device_code"]
    finally:
        process.stop()


def answers(url: str) -> bool:
    try:
        return requests.get(url, timeout=5).status_code == 200
    except requests.ConnectionError:
        return False


def test_an_installed_server_has_its_pages_its_files_and_its_schema(server: tuple[str, str]) -> None:
    address, _ = server
    page = requests.get(f"{address}/admin/login", timeout=5)
    named = re.findall(r'(?:src|href)="(/[^"]+\.(?:js|css|svg))"', page.text)
    assert any("/vendor/" in name for name in named)
    for name in named:
        assert requests.get(address + name, timeout=5).status_code == 200, name
    assert requests.get(f"{address}/openapi.json", timeout=5).json()["info"]["title"] == "Gatehouse"


def test_an_installed_gate_enrols_and_tells_its_status(
    installed: Path, server: tuple[str, str], tmp_path: Path
) -> None:
    home = "--home", str(tmp_path / "home")
    run(installed, "gatehouse-gate", "enrol", *server, *home)
    run(installed, "gatehouse-gate", "sync", "--once", *home)
    status = json.loads(run(installed, "gatehouse-gate", "status", "--json", *home))
    assert status["unsent"] == 0
    assert status["organisation"]
