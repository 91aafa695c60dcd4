"""The command line: usage errors are one line with status 2; failures are a message with status 1."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


class Shell:
    """Runs gatehouse-server on a database in its own folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("GATEHOUSE_")}
        self.environment |= {"GATEHOUSE_DATABASE_URL": f"sqlite:///{folder / 'g.db'}", "GATEHOUSE_LOG_LEVEL": "error"}

    def run(self, *arguments: str, typed: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "sync_server", *arguments],
            cwd=ROOT,
            env=self.environment | settings,
            input=typed,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def said_at_the_end(self, value: str, *arguments: str) -> list[str]:
        """The lines of a command, and this expression's value when it has ended, and Python has not yet."""
        program = (
            "import atexit, sys; from sync_server.__main__ import main; "
            f"atexit.register(lambda: print({value})); sys.argv = ['g', *{arguments!r}]; main()"
        )
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture
def installed(shell: Shell, migrated_sqlite: Path) -> Shell:
    """As `migrate` leaves a new installation: a database and a master key."""
    shutil.copyfile(migrated_sqlite, shell.folder / "g.db")
    (shell.folder / "master.key").write_text("11" * 32)
    return shell


@pytest.mark.parametrize(
    "arguments",
    [
        ["dance"],
        ["serve", "--port", "seventy"],
        ["serve", "--port", "99999"],
        ["backup"],
        ["key", "revoke", "x", "--org", "demo"],
        ["invite", "--colour", "red"],
        ["key", "list"],
        ["invite", "king@marquee.example", "--role", "king", "--org", "marquee"],
        ["user", "role", "king@marquee.example", "king", "--org", "marquee"],
        ["user", "role", "king@marquee.example", "super_admin", "--org", "marquee"],
        ["restore", "/nowhere/backup"],
        ["mail-bounced", "/nowhere/mail"],
        ["migrate", "extra"],
        ["seats", "release", "x"],
        ["outbox", "replay"],
        ["audit", "verify", "--nonsense"],
        ["archive", "event"],
        ["person", "export"],
        ["retention", "set", "x"],
    ],
)
def test_usage_errors(shell: Shell, arguments: list[str]) -> None:
    done = shell.run(*arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("gatehouse-server: ")


def test_invalid_settings_are_listed_before_anything_opens(shell: Shell) -> None:
    done = shell.run("serve", GATEHOUSE_SESSION_HOURS="0", GATEHOUSE_BASE_URL="nowhere")
    assert done.returncode == 2 and "SESSION_HOURS" in done.stderr and "BASE_URL" in done.stderr
    assert "Traceback" not in done.stderr and list(shell.folder.iterdir()) == []


def test_an_organisation_its_staff_and_its_keys(installed: Shell) -> None:
    made = json.loads(installed.run("org", "add", "marquee", "--name", "Marquee").stdout)
    assert json.loads(installed.run("org", "list").stdout) == made
    invited = installed.run("invite", "olga@marquee.example", "--org", "marquee", "--role", "owner")
    assert "/admin/invitation#" in json.loads(invited.stdout)["link"] and "#" not in invited.stderr
    installed.run("demo", "--json")
    role = ["user", "role", "owner@demo.example", "staff", "--org", "demo"]
    assert "at least one owner" in installed.run(*role).stderr
    first = json.loads(installed.run("key", "list", "--org", "marquee").stdout)
    second = json.loads(installed.run("key", "rotate", "--org", "marquee", "--at-once").stdout)
    listed = installed.run("key", "list", "--org", "marquee").stdout
    states = [json.loads(line)["state"] for line in listed.splitlines()]
    assert sorted(states) == ["active", "retired"] and first["id"] != second["id"]
    refused = installed.run("key", "revoke", str(first["id"]), "--org", "marquee")
    assert refused.returncode == 1 and "kills=0" in refused.stderr
    revoked = installed.run("key", "revoke", str(first["id"]), "--org", "marquee", "--kills", "0", "--reissue")
    assert json.loads(revoked.stdout) == {"id": first["id"], "state": "revoked", "reissued": 0}
    assert "no organisation 'nobody'" in installed.run("key", "list", "--org", "nobody").stderr


def test_the_demo_has_all_that_an_event_needs_and_can_be_run_again(shell: Shell) -> None:
    made = [json.loads(shell.run("demo", "--json").stdout) for _ in range(2)]
    for name in ("organisation", "venue", "gates", "event", "tickets", "login", "api_token", "supervisor"):
        assert made[0][name]
    assert made[0]["event"]["status"] == "live" and made[0]["tickets"][0]["code"].startswith("MAY1")
    assert made[0]["organisation"] == made[1]["organisation"] and made[0]["event"]["id"] != made[1]["event"]["id"]


def test_the_master_key_is_created_once(shell: Shell) -> None:
    file = shell.folder / "keys" / "master.key"
    settings = {"GATEHOUSE_MASTER_KEY_FILE": str(file)}
    assert shell.run("key", "master", **settings).returncode == 0
    before = file.read_text()
    again = shell.run("key", "master", **settings)
    assert again.returncode == 1 and file.read_text() == before


def test_the_doctor_says_what_is_wrong(shell: Shell) -> None:
    before = shell.run("doctor")
    assert before.returncode == 1 and "Run `gatehouse-server migrate`" in before.stderr
    shell.run("migrate")
    after = shell.run("doctor")
    assert after.returncode == 0 and all(json.loads(line)["ok"] for line in after.stdout.splitlines())
    assert "none is set up: links are handed over by command" in after.stderr
    unsent = shell.run("doctor", GATEHOUSE_MAIL_URL="smtp://olga:hidden-words@127.0.0.1:1")
    assert unsent.returncode == 1 and "FAIL mail  Invitations and links cannot be sent. It does not" in unsent.stderr
    assert "hidden-words" not in unsent.stdout + unsent.stderr


def test_a_mail_that_came_back_is_read_from_a_pipe(installed: Shell) -> None:
    done = installed.run("mail-bounced", "-", typed="Subject: holidays\n\nI am away.\n")
    assert done.returncode == 0 and json.loads(done.stdout)["noted"] is False


def test_a_wrong_master_key_is_reported(shell: Shell) -> None:
    shell.run("demo", "--json")
    (shell.folder / "master.key").write_text("22" * 32)
    done = shell.run("demo", "--json")
    assert done.returncode == 2 and "master key" in done.stderr and "Traceback" not in done.stderr


def test_the_api_description_is_openapi_3_1(shell: Shell) -> None:
    from openapi_spec_validator import validate

    described = json.loads(shell.run("openapi").stdout)
    assert described["openapi"].startswith("3.1")
    validate(described)


@pytest.mark.parametrize("command", [["org", "list"], ["migrate"], ["serve"], ["worker"]])
def test_a_database_that_does_not_answer_is_reported(shell: Shell, command: list[str]) -> None:
    (shell.folder / "master.key").write_text("11" * 32)
    settings = {
        "GATEHOUSE_DATABASE_URL": "postgresql://olga:hidden-words@127.0.0.1:1/nowhere",
        "GATEHOUSE_MASTER_KEY_FILE": str(shell.folder / "master.key"),
    }
    done = shell.run(*command, **settings)
    assert done.returncode == 2 and "database" in done.stderr and len(done.stderr.splitlines()) == 1
    assert "Traceback" not in done.stderr and "hidden-words" not in done.stderr


def test_a_folder_that_cannot_hold_a_database(shell: Shell) -> None:
    (shell.folder / "file").write_text("")
    done = shell.run("migrate", GATEHOUSE_DATABASE_URL=f"sqlite:///{shell.folder}/file/g.db")
    assert done.returncode == 2 and "cannot be made" in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "command",
    [
        ["key", "revoke", "9" * 26, "--org", "demo"],
        ["key", "revoke", "0", "--org", "demo"],
        ["org", "add", "demo", "--name", ""],
        ["org", "add", "demo", "--name", "Demo", "--currency", "euros"],
    ],
)
def test_invalid_numbers_and_names_are_reported(installed: Shell, command: list[str]) -> None:
    done = installed.run(*command)
    assert done.returncode in {1, 2} and done.stderr
    assert "Traceback" not in done.stderr


def test_an_invitation_to_an_unknown_organisation_is_refused(installed: Shell) -> None:
    done = installed.run("invite", "olga@marquee.example", "--org", "nobody")
    assert done.returncode == 1 and "no organisation 'nobody'" in done.stderr and done.stdout == ""


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["backup", "--help"], ["outbox", "list", "--help"]])
def test_help_does_not_import_the_whole_server(shell: Shell, arguments: list[str]) -> None:
    heavy = "{'sqlalchemy', 'flask', 'alembic'} & set(sys.modules)"
    *printed, said = shell.said_at_the_end(f"{heavy} or 'LIGHT'", *arguments)
    assert printed and said == "LIGHT"


def test_a_command_without_redis_does_without_its_library(installed: Shell) -> None:
    heavy = "{'redis', 'opentelemetry', 'icalendar'} & set(sys.modules)"
    assert installed.said_at_the_end(f"{heavy} or 'LIGHT'", "org", "list") == ["LIGHT"]


def test_a_port_in_use_is_reported(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        done = shell.run("serve", "--port", port)
    assert done.returncode == 2 and f"port {port}: Address already in use" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_typo_in_the_name_of_a_setting_is_found(shell: Shell) -> None:
    done = shell.run("org", "list", GATEHOUSE_REDIS="redis://somewhere", GATEHOUSE_GATE_HOME="/gate")
    assert done.returncode == 2 and "GATEHOUSE_REDIS: there is no such setting; did you mean" in done.stderr
    assert "GATE_HOME" not in done.stderr


def test_a_lost_master_key_is_not_replaced_beside_existing_data(installed: Shell) -> None:
    (installed.folder / "master.key").unlink()
    done = installed.run("org", "list")
    assert done.returncode == 2 and "Put your copy of it there" in done.stderr
    assert not (installed.folder / "master.key").exists()


@pytest.mark.parametrize("content", ["", "22" * 31, "no key at all", "22" * 33])
def test_a_file_without_a_valid_master_key(shell: Shell, content: str) -> None:
    (shell.folder / "master.key").write_text(content)
    done = shell.run("org", "list")
    assert done.returncode == 2 and "64 hexadecimal digits" in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_master_key_that_cannot_be_read_or_created(shell: Shell) -> None:
    unreadable = shell.run("org", "list", GATEHOUSE_MASTER_KEY_FILE=str(shell.folder))
    assert unreadable.returncode == 2 and "cannot be read: Is a directory" in unreadable.stderr
    nowhere = shell.run("key", "master", GATEHOUSE_MASTER_KEY_FILE="/proc/no/master.key")
    assert nowhere.returncode == 2 and "cannot be made" in nowhere.stderr and "Traceback" not in nowhere.stderr


def test_the_doctor_creates_nothing_and_detects_a_wrong_key(shell: Shell) -> None:
    assert "There is none at" in shell.run("doctor").stderr and list(shell.folder.iterdir()) == []
    shell.run("migrate")
    (shell.folder / "master.key").write_text("22" * 32)
    failed = shell.run("doctor")
    (wrong,) = [json.loads(line)["part"] for line in failed.stdout.splitlines() if not json.loads(line)["ok"]]
    assert failed.returncode == 1 and wrong == "master key"


def test_no_other_account_reads_what_the_server_writes(shell: Shell) -> None:
    """Whatever the umask of whoever started it; the test of an old file needs none."""
    loose = f"umask 0; exec {sys.executable} -m sync_server "
    for command in ("demo", f"backup {shell.folder}/copy.gatehouse"):
        subprocess.run(["sh", "-c", loose + command], cwd=ROOT, env=shell.environment, capture_output=True, check=True)
    written = {path.name: path.stat().st_mode & 0o077 for path in shell.folder.iterdir()}
    assert {"g.db", "master.key", "copy.gatehouse"} <= set(written) and set(written.values()) == {0}, written


def test_a_database_that_others_may_read_is_told_and_then_closed_to_them(installed: Shell) -> None:
    database = installed.folder / "g.db"
    database.chmod(0o644)
    assert "Other accounts of this machine may read g.db" in installed.run("doctor").stderr
    assert database.stat().st_mode & 0o777 == 0o644, "doctor changes nothing"
    installed.run("org", "add", "barn", "--name", "Barn")
    assert database.stat().st_mode & 0o777 == 0o600
