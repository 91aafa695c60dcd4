"""Every block of code is run, parsed or read by a test; what cannot be is listed here with the reason."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import pytest
import typer

from gate_app.__main__ import app as gate_app
from sync_server.__main__ import app as server_app
from tests.documentation.blocks import ROOT, Block, blocks
from tests.documentation.test_requests import PAGES as PAGES_WITH_REQUESTS

PROGRAMS: Final = {"gatehouse-server": server_app, "gatehouse-gate": gate_app}

READ_BY: Final = {
    ("architecture.md", "mermaid"): "tests/architecture/test_documentation.py",
    ("event-lifecycle.md", "mermaid"): "scripts/generated_docs/event_lifecycle.py",
    ("badges.md", "toml"): "tests/unit/gate_app/badges/test_badge_documentation.py",
    ("gate-hardware.md", "toml"): "tests/unit/gate_app/installation/test_config.py",
    ("gate.md", "toml"): "tests/unit/gate_app/installation/test_config.py",
    ("operate.md", "ini"): "tests/contracts/server/test_pooler.py",
    ("seat-maps.md", "js"): "tests/contracts/seat_maps/test_documented.py",
    ("sell.md", "mermaid"): "tests/unit/sync_server/checkout/test_money.py",
    ("shop.md", "html"): "tests/browser/test_embedded_shop.py",
    ("webhooks.md", "js"): "tests/contracts/webhooks/test_documented.py",
    ("webhooks.md", "python"): "tests/contracts/webhooks/test_documented.py",
}
"""What other tests run or read; a generated block is compared by `scripts/check`."""

NOT_RUN: Final = {
    "adduser": "changes users of the machine",
    "docker": "needs a container engine; tests/contracts/server/test_deploy.py reads the files it takes",
    "install": "writes below /etc; tests/contracts/server/test_deploy.py checks what it installs",
    "python3": "installs into other folders, as scripts/test does before anything runs",
    "~/gatehouse/bin/pip": "installs into other folders, as scripts/test does before anything runs",
    "/tmp/build/bin/pip": "installs into other folders, as scripts/test does before anything runs",
    "/opt/gatehouse/.venv/bin/pip": "installs into other folders, as scripts/test does before anything runs",
    "printf": "writes passwords of a new installation",
    "runuser": "is run as root, with settings of a machine",
    "cd": "of the shell",
    "set": "of the shell",
    "export": "of the shell",
}
"""First words of commands that no test runs, and why."""
OUTPUT: Final = {"README.md", "first-evening.md"}
"""Pages that show what a program prints, with codes and passwords that differ every time."""

ALL = blocks()


@pytest.mark.parametrize("block", ALL, ids=str)
def test_somebody_looks_after_the_block(block: Block) -> None:
    if block.kind == "sh":
        for words in block.commands():
            check_command(block, words)
    elif block.kind in {"json", "http"}:
        text = block.text.replace(", …}", "}")
        for start in re.finditer(r'(?:^| )(?={")', text, re.MULTILINE):
            json.JSONDecoder().raw_decode(text, start.end())
    elif block.kind == "yaml":
        assert block.page == "deploy.md" and (ROOT / "deploy" / "prometheus" / "gatehouse.rules.yml").exists()
    elif block.kind == "output":
        assert block.page in OUTPUT, "say in which language it is: ```sh, ```json …"
    else:
        reader = READ_BY[block.page, block.kind]
        assert block.page in (ROOT / reader).read_text("utf-8"), f"{reader} does not read {block.page}"


def check_command(block: Block, words: list[str]) -> None:
    """A program of ours knows the command with these options; requests are sent by test_requests."""
    name = words[0].rpartition("/")[2]
    if name in PROGRAMS:
        understood(PROGRAMS[name], words[1:])
    elif words[0] == "curl":
        assert block.page in PAGES_WITH_REQUESTS
    elif words[0].startswith("scripts/"):
        assert (ROOT / words[0]).exists()
    else:
        assert words[0] in NOT_RUN or re.match(r"[A-Z]+=", words[0]), f"{block}: nobody runs {words[0]}"


def understood(app: typer.Typer, words: list[str]) -> None:
    """Parse the words as the program does, without doing anything."""
    command: Any = typer.main.get_command(app)
    while words and hasattr(command, "commands"):
        if words[0].startswith("--"):
            break
        assert words[0] in command.commands, f"there is no command {words[0]}"
        command, words = command.commands[words[0]], words[1:]
    try:
        command.make_context(command.name, [word.replace("…", "x") for word in words])
    except typer.Exit:  # --version and the like do what they say at once
        return
    except typer.BadParameter as refused:
        # The files of the pages are not here; that there must be one has been understood.
        assert "does not exist" in refused.message


def test_every_exception_is_needed() -> None:
    first_words = {words[0] for block in ALL if block.kind == "sh" for words in block.commands()}
    assert set(NOT_RUN) - first_words == set()
    assert set(READ_BY) - {(block.page, block.kind) for block in ALL} == set()
