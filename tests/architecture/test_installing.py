"""Nothing tells anybody to install Gatehouse from the public index, where the name is another project's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, files

TEXTS = {".md", ".py", ".sh", ".toml", ".html", ".yml", ".yaml", ".service", ".txt", ".conf", ".json", ""}
INSTALLS = re.compile(r"(?:\bpip3?|-m pip|\buv pip|\bpipx|\buv tool|\buvx|\buv) (?:install|add|run)\b([^\n;&|)]*)")
WITH_VALUE = {"-r", "-c", "--requirement", "--constraint", "--progress-bar", "--target"}
LOCAL = re.compile(r"^(\.|/|~|\$|<)|/|\.whl$|^gatehouse-.*\.whl$")


def texts() -> list[Path]:
    return [path for path in files() if path.suffix in TEXTS and "vendor" not in path.parts]


def named(arguments: str) -> list[str]:
    """What a command installs by name: neither an option, nor what an option takes, nor a file or folder."""
    words, found = re.sub("[`'\"]", " ", arguments).split(), list[str]()
    for before, word in zip(["", *words], words, strict=False):
        if before not in WITH_VALUE and not word.startswith("-") and not LOCAL.search(word):
            found.append(word.strip(".,:").partition("[")[0])
    return found


def offences(text: str) -> list[str]:
    """The commands of a text that would fetch something called Gatehouse."""
    return [found[0] for found in INSTALLS.finditer(text) if "gatehouse" in named(found[1])]


def test_no_text_installs_gatehouse_from_the_public_index() -> None:
    wrong = {str(path): offences((ROOT / path).read_text("utf-8", errors="replace")) for path in texts()}
    own = str(Path(__file__).relative_to(ROOT))
    assert {path: some for path, some in wrong.items() if some and path != own} == {}
    assert len(texts()) > 500


@pytest.mark.parametrize(
    "command",
    [
        "pip install gatehouse",
        "pip install -U 'gatehouse[gate]'",
        "python -m pip install gatehouse",
        "uvx run gatehouse",
    ],
)
def test_such_a_command_is_found(command: str) -> None:
    assert offences(f"Then {command}") != []


@pytest.mark.parametrize(
    "command",
    [
        "pip install --no-deps --no-build-isolation .",
        "pip install /tmp/dist/gatehouse-1.0-py3-none-any.whl",
        "pip install -r requirements/gatehouse",
        "/opt/gatehouse/bin/pip install --no-deps .",
    ],
)
def test_installing_from_a_checkout_or_a_wheel_is_not(command: str) -> None:
    assert offences(f"Then {command}") == []
