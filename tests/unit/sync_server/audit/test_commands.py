"""`gatehouse-server audit …`: what operators see, and the exit status for scripts."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from sync_server.__main__ import main
from sync_server.commands import audit
from sync_server.config import check
from sync_server.runtime import build_runtime
from sync_server.workers import Worker


@dataclass
class CommandResult:
    """Exit status, JSON objects on stdout, and the text on stderr."""

    status: int
    output: list[Any]
    message: str


Run = Callable[..., CommandResult]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command on a fresh database."""
    for name in [name for name in os.environ if name.startswith("GATEHOUSE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GATEHOUSE_DATABASE_URL", f"sqlite:///{tmp_path / 'g.db'}")
    monkeypatch.setenv("GATEHOUSE_LOG_LEVEL", "error")

    def run_command(*arguments: str) -> CommandResult:
        monkeypatch.setattr(sys, "argv", ["gatehouse-server", *arguments])
        status = 0
        try:
            main()
        except SystemExit as end:
            status = int(end.code or 0)
        out, err = capsys.readouterr()
        return CommandResult(status, [json.loads(line) for line in out.splitlines()], err)

    return run_command


@pytest.fixture
def work(run: Run, tmp_path: Path) -> Callable[[], None]:
    """One round of the worker, over an organisation `marquee`."""
    run("org", "add", "marquee", "--name", "Marquee")

    def once() -> None:
        runtime = build_runtime(check({"database_url": f"sqlite:///{tmp_path / 'g.db'}", "log_level": "error"}))
        Worker(runtime.parts).run_once()
        runtime.close()

    return once


def tamper(folder: Path, *statements: str) -> None:
    engine = create_engine(f"sqlite:///{folder / 'g.db'}")
    with engine.begin() as connection:
        for statement in ("DROP TRIGGER audit_lines_written", *statements):
            connection.execute(text(statement))
    engine.dispose()


def test_a_log_is_fine_before_and_after_sealing(run: Run, work: Callable[[], None]) -> None:
    waiting = run("audit", "verify", "--org", "marquee")
    assert (waiting.status, waiting.output[0]["sealed"], waiting.output[0]["waiting"]) == (0, 0, 2)
    work()
    sealed = run("audit", "verify")
    (output,) = sealed.output
    assert (
        sealed.status,
        output["organisation"],
        output["ok"],
        output["sealed"],
        output["waiting"],
        output["signed"],
    ) == (
        0,
        "marquee",
        True,
        2,
        0,
        True,
    )
    assert "2 lines sealed, 0 not sealed yet" in sealed.message


def test_a_broken_log_is_reported_with_status_one(run: Run, work: Callable[[], None], tmp_path: Path) -> None:
    work()
    tamper(tmp_path, "DROP TRIGGER audit_lines_sealed", "UPDATE audit_lines SET reason = 'x' WHERE seq = 2")
    found = run("audit", "verify")
    assert (found.status, found.output[0]["ok"], found.output[0]["broken_at"]["seq"]) == (1, False, 2)
    assert found.message.startswith("BROKEN marquee: at line 2 (") and "Traceback" not in found.message


def test_a_noted_seal_is_compared(run: Run, work: Callable[[], None]) -> None:
    work()
    output = run("audit", "verify").output[0]
    assert run("audit", "verify", "--org", "marquee", "--noted", f"{output['sealed']}:{output['seal']}").status == 0
    assert run("audit", "verify", "--org", "marquee", "--noted", f"{output['sealed']}:{'0' * 64}").status == 1
    assert run("audit", "verify", "--org", "marquee", "--noted", f"9:{output['seal']}").status == 1


@pytest.mark.parametrize(
    ("arguments", "status", "hint"),
    [
        (["verify", "--noted", f"1:{'0' * 64}"], 1, "--org"),
        (["verify", "--org", "marquee", "--noted", "yesterday"], 1, "SEQ:SEAL"),
        (["verify", "--org", "nobody"], 1, "no organisation"),
        (["erase", "--reason", "asked for"], 1, "--user"),
        (["erase", "--reason", "asked for", "--person", "supervisor:1"], 1, "--org"),
        (["erase", "--reason", "asked for", "--person", "nonsense"], 1, "KIND:ID"),
        (["erase", "--reason", "asked for", "--user", "who@nowhere.example"], 1, "no login"),
        (["erase", "--user", "x"], 2, "--reason"),
        (["check", "no-such-file.jsonl"], 1, "cannot be read"),
        (["dance"], 2, "dance"),
    ],
)
def test_wrong_arguments(run: Run, work: Callable[[], None], arguments: list[str], status: int, hint: str) -> None:
    done = run("audit", *arguments)
    assert (done.status, done.output) == (status, []) and hint in done.message
    assert "Traceback" not in done.message and len(done.message.splitlines()) == 1


def test_an_export_is_checked_elsewhere(run: Run, work: Callable[[], None], tmp_path: Path) -> None:
    work()
    lines = run("audit", "export", "--org", "marquee").output
    file = tmp_path / "log.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    public = lines[-1]["public_key"]
    whole = run("audit", "check", str(file), "--public-key", public)
    assert (whole.status, whole.output[0]["ok"], whole.output[0]["sealed"]) == (0, True, 2)
    assert run("audit", "check", str(file), "--public-key", "00" * 32).status == 1
    assert run("audit", "check", str(file), "--public-key", "short").status == 1
    file.write_text("".join(json.dumps(line) + "\n" for line in lines[1:]))
    assert run("audit", "check", str(file)).output[0]["broken_at"]["seq"] == 1
    file.write_bytes(b"\xff\xfe\x00 picture")
    assert run("audit", "check", str(file)).status == 1


def test_values_of_a_login_are_erased_by_email_address(run: Run, work: Callable[[], None], tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'g.db'}")
    with engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO users (id, email, name, password_hash, platform_role, active, created_at) "
                "VALUES ('7', 'olga@marquee.example', 'Olga', '', '', 1, 0)"
            )
        )
        connection.execute(
            text(
                "INSERT INTO audit_personal (organisation_id, line_id, part, person_kind, person_id, salt, content) "
                "VALUES ('org', '0', 'actor', 'user', '7', X'00', '{}')"
            )
        )
    engine.dispose()
    assert run("audit", "erase", "--reason", "asked for", "--user", "Olga@marquee.example").output == [{"erased": 1}]
    assert run("audit", "erase", "--reason", "asked for", "--user", "7").output == [{"erased": 0}]
    assert run("audit", "erase", "--reason", "kept long enough", "--older-than-days", "1").output == [{"erased": 0}]


def test_the_documentation_names_every_command_and_no_other() -> None:
    page = (Path(__file__).parents[4] / "docs" / "audit.md").read_text()
    named = set(re.findall(r"gatehouse-server audit (\w+)", page))
    assert named == {command.name for command in audit.app.registered_commands}
