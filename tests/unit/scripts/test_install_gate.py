"""scripts/install-gate says what it would do, and does nothing while it is only asked."""

from __future__ import annotations

import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parents[3] / "scripts" / "install-gate"


def typed(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(SCRIPT), *words], capture_output=True, text=True, check=False, timeout=60)


def test_a_dry_run_names_every_step_and_takes_none() -> None:
    said = typed("--dry-run", "--usb")
    assert said.returncode == 0
    for step in ("useradd", "requirements/usb.txt", "gatehouse-gate.service", "Restart=always", "gate.toml"):
        assert step in said.stdout
    assert not Path("/etc/systemd/system/gatehouse-gate.service").exists()
    assert not Path("/opt/gatehouse").exists()


def test_the_service_waits_for_no_network() -> None:
    unit = typed("--dry-run").stdout.partition("[Unit]")[2]
    assert "network" not in unit


def test_removing_keeps_the_journal() -> None:
    said = typed("--remove", "--dry-run")
    removed = [line for line in said.stdout.splitlines() if line.startswith("would run: rm")]
    assert (said.returncode, len(removed)) == (0, 2)
    assert not any("/var/lib/gatehouse-gate" in line for line in removed)


def test_an_unknown_word_is_told_and_nothing_happens() -> None:
    said = typed("--instal")
    assert (said.returncode, said.stdout, "--instal" in said.stderr) == (2, "", True)
