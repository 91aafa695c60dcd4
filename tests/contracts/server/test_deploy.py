"""The kit for operators: units that start what exists, backups restored on trial, rules about real measures."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from sync_server.__main__ import app as commands
from sync_server.config import PREFIX, Config
from tests.app_server import AppServer, Concert

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").iterdir())
PROGRAM = "/opt/gatehouse/.venv/bin/gatehouse-server"
#: What the units and the backup read themselves; the server would refuse settings that it does not know.
OWN = {"SERVE_HOST", "SERVE_PORT", "SERVE_PROCESSES", "BACKUP_FOLDER", "BACKUPS_KEPT", "BACKUP_TRIAL_URL"}


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_start_commands_that_exist(unit: Path) -> None:
    known = get_command(commands).commands  # type: ignore[attr-defined]
    for line in unit.read_text("utf-8").splitlines():
        if line.startswith(f"ExecStart={PROGRAM} "):
            name, *options = line.split()[1:]
            accepted = {option for parameter in known[name].params for option in parameter.opts}
            assert {option for option in options if option.startswith("-")} <= accepted
        elif line.startswith("ExecStart="):
            assert (ROOT / line.partition("/opt/gatehouse/")[2]).is_file()


def test_systemd_understands_the_units(tmp_path: Path) -> None:
    for unit in UNITS:
        text = unit.read_text("utf-8").replace(PROGRAM, sys.executable)
        name = unit.name.replace("@", "@1")
        (tmp_path / name).write_text(text.replace("/opt/gatehouse/deploy/backup", sys.executable))
    units = [str(one) for one in tmp_path.iterdir()]
    done = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False)
    about_ours = [line for line in done.stderr.splitlines() if "gatehouse" in line]
    assert (done.returncode, about_ours) == (0, [])


def test_prometheus_understands_the_rules() -> None:
    rules = DEPLOY / "prometheus" / "gatehouse.rules.yml"
    done = subprocess.run(["promtool", "check", "rules", rules], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    count = re.search(r"SUCCESS: (\d+) rules found", done.stdout)
    assert count and int(count[1]) == rules.read_text("utf-8").count("alert: ")


def test_the_environment_file_has_settings_that_exist() -> None:
    text = (DEPLOY / "gatehouse.env").read_text("utf-8")
    named = set(re.findall(r"^#?([A-Z_]+)=", text, re.MULTILINE))
    assert {name for name in named if not name.startswith(PREFIX)} == OWN
    assert {name.removeprefix(PREFIX) for name in named - OWN} <= {name.upper() for name in Config.model_fields}
    units = "".join(unit.read_text("utf-8") for unit in UNITS) + (DEPLOY / "backup").read_text("utf-8")
    assert set(re.findall(r"\$\{?((?:SERVE|BACKUPS?)_[A-Z_]+)", units)) - {"BACKUP_PROGRAM"} == OWN


def back_up(app_server: AppServer, folder: Path, **changed: str) -> subprocess.CompletedProcess[str]:
    """Run the script of the nightly unit."""
    settings = {
        "PATH": os.environ["PATH"],
        "GATEHOUSE_DATABASE_URL": app_server.url,
        "GATEHOUSE_MASTER_KEY_FILE": str(app_server.folder / "master.key"),
        "GATEHOUSE_LOG_LEVEL": "error",
        "BACKUP_FOLDER": str(folder),
        "BACKUP_PROGRAM": f"{Path(sys.executable).parent}/gatehouse-server",
        **changed,
    }
    return subprocess.run([DEPLOY / "backup"], env=settings, capture_output=True, text=True, check=False)


def test_a_backup_is_restored_on_trial_before_old_ones_go(
    app_server: AppServer, concert: Concert, empty_postgres_url: str, tmp_path: Path
) -> None:
    concert.issue(count=2)
    kept = tmp_path / "backups"
    kept.mkdir()
    for day in ("01", "02", "03"):
        (kept / f"gatehouse-2026-01-{day}T033000Z").write_text("an older one")
    done = back_up(app_server, kept, BACKUPS_KEPT="2", BACKUP_TRIAL_URL=empty_postgres_url)
    assert (done.returncode, "restored on trial" in done.stdout) == (0, True), done.stderr
    newest, second = sorted((one.name for one in kept.iterdir()), reverse=True)
    assert newest > "gatehouse-2026-07" and second == "gatehouse-2026-01-03T033000Z"


def test_a_backup_that_cannot_be_restored_removes_nothing(app_server: AppServer, tmp_path: Path) -> None:
    broken = tmp_path / "gatehouse-server"
    broken.write_text('#!/bin/sh\nif [ "$1" = backup ]; then echo no backup > "$2"; else exit 2; fi\n')
    broken.chmod(0o700)
    kept = tmp_path / "backups"
    kept.mkdir()
    (kept / "gatehouse-2026-01-01T033000Z").write_text("the last good one")
    changed = {"BACKUPS_KEPT": "1", "BACKUP_PROGRAM": str(broken)}
    done = back_up(app_server, kept, BACKUP_TRIAL_URL="postgresql://nowhere/none", **changed)
    assert done.returncode != 0 and (kept / "gatehouse-2026-01-01T033000Z").exists()


def test_rules_and_dashboard_are_about_measures_that_exist(app_server: AppServer) -> None:
    exported = set(re.findall(r"^# TYPE (\S+) ", app_server.parts.metrics.text().decode(), re.MULTILINE))
    panels = json.loads((DEPLOY / "grafana" / "gatehouse.json").read_text("utf-8"))["panels"]
    queries = [target["expr"] for panel in panels for target in panel["targets"]]
    rules = (DEPLOY / "prometheus" / "gatehouse.rules.yml").read_text("utf-8")
    queries += re.findall(r"^ +expr: (.+)$", rules, re.MULTILINE)
    for query in queries:
        named = re.findall(r"\b((?:gatehouse|process)_[a-z_]+)\b", query)
        assert named and {re.sub("_bucket$", "", name) for name in named} <= exported, query
    assert {panel["title"] for panel in panels} == {name for name in exported if not name.endswith("_created")}
