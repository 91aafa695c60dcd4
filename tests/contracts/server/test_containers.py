"""The image and the compose file: they name what exists, pin what they stand on, and run nothing as root."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from sync_server.__main__ import app as commands
from sync_server.config import PREFIX, Config
from tests.architecture.tree import LAUNCHER, PRODUCT, ROOT

FOLDER = ROOT / "deploy" / "container"
IMAGE = (FOLDER / "Dockerfile").read_text("utf-8")
COMPOSE = (FOLDER / "compose.yaml").read_text("utf-8")
IGNORED = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
EXACT = re.compile(r"^[a-z]+:\d+\.\d+(\.\d+)?(-[a-z-]+)?$")
OUR_IMAGE = "gatehouse"


def services() -> dict[str, str]:
    """The text of each service by its name."""
    found = re.split(r"^  ([a-z]+):\n", COMPOSE.partition("\nservices:\n")[2].partition("\nvolumes:\n")[0], flags=re.M)
    return dict(zip(found[1::2], found[2::2], strict=True))


HADOLINT = [str(Path(sys.executable).with_name("hadolint"))]
COMPOSE_SCHEMA = [str(Path(sys.executable).with_name("check-jsonschema")), "--builtin-schema", "vendor.compose-spec"]


@pytest.mark.parametrize(
    ("linter", "file"), [(HADOLINT, "Dockerfile"), (COMPOSE_SCHEMA, "compose.yaml")], ids=["Dockerfile", "compose.yaml"]
)
def test_the_linter_of_its_kind_finds_nothing(linter: list[str], file: str) -> None:
    done = subprocess.run([*linter, str(FOLDER / file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_everything_that_is_fetched_has_an_exact_version() -> None:
    fetched = re.findall(r"^FROM (\S+)", IMAGE, re.M) + re.findall(r"^ +image: (\S+)", COMPOSE, re.M)
    assert [name for name in fetched if name != OUR_IMAGE and not EXACT.match(name)] == []
    assert len(fetched) >= 6
    installs = re.findall(r"pip install (.*)", IMAGE)
    assert all("--require-hashes" in each or "--no-build-isolation" in each for each in installs)


def test_the_image_contains_the_product_and_nothing_is_ignored_that_it_needs() -> None:
    copied = {name for line in re.findall(r"^COPY (?!--)(.*) \S+$", IMAGE, re.M) for name in line.split()}
    assert {name for name in copied if not (ROOT / name).exists()} == set()
    assert {*PRODUCT, LAUNCHER} <= copied
    assert {f"!{name}" for name in copied} <= set(IGNORED)
    assert IGNORED[1] == "*"


def test_the_image_runs_as_nobody_special_and_says_how_it_is() -> None:
    running = IMAGE.rpartition("\nFROM ")[2]
    user = re.findall(r"^USER (\S+)$", running, re.M)
    assert user == ["10001"]
    assert "HEALTHCHECK" in running
    assert "readyz" in running


def test_every_service_says_how_it_is_and_is_started_again() -> None:
    for name, text in services().items():
        of_image = "<<: *gatehouse" in text  # which has its own
        assert of_image or "healthcheck:" in text, name
        assert of_image or "restart:" in text, name
    assert set(services()) >= {"server", "worker", "migrate", "nginx", "postgres", "redis", "rabbitmq"}
    assert "healthcheck:" in services()["worker"], "it does not serve what the image asks"


def test_commands_and_settings_exist() -> None:
    known = get_command(commands).commands  # type: ignore[attr-defined]
    given = re.findall(r"^    command: \[([a-z]+)(.*)\]$", COMPOSE, re.M)
    given += re.findall(r'^CMD \["([a-z]+)"(.*)\]$', IMAGE, re.M)
    assert {name for name, _ in given} >= {"serve", "worker", "migrate"}
    for name, options in given:
        if name not in known:
            assert name == "redis", name  # of another image
            continue
        accepted = {option for parameter in known[name].params for option in parameter.opts}
        assert set(re.findall(r"--[a-z]+", options)) <= accepted, name
    named = set(re.findall(rf"{PREFIX}([A-Z_]+)", IMAGE + COMPOSE))
    assert named <= {name.upper() for name in Config.model_fields}
    assert len(named) > 5


def test_what_is_mounted_is_shipped() -> None:
    mounted = re.findall(r"- (\.\./\S+?):", COMPOSE)
    assert mounted
    assert [name for name in mounted if not (Path(FOLDER) / name).resolve().is_file()] == []
