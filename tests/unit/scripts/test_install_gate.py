"""scripts/install-gate prints what it would do, and a dry run changes nothing."""

from __future__ import annotations

import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parents[3] / "scripts" / "install-gate"


def install_gate(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(SCRIPT), *arguments], capture_output=True, text=True, check=False, timeout=60)


def test_a_dry_run_names_every_step_and_takes_none() -> None:
    result = install_gate("--dry-run", "--usb")
    assert result.returncode == 0
    for step in ("useradd", "requirements/usb.txt", "gatehouse-gate.service", "Restart=always", "gate.toml"):
        assert step in result.stdout
    assert not Path("/etc/systemd/system/gatehouse-gate.service").exists()
    assert not Path("/opt/gatehouse").exists()


def test_the_service_waits_for_no_network() -> None:
    unit = install_gate("--dry-run").stdout.partition("[Unit]")[2]
    assert "network" not in unit


def test_removing_keeps_the_journal() -> None:
    result = install_gate("--remove", "--dry-run")
    removed = [line for line in result.stdout.splitlines() if line.startswith("would run: rm")]
    assert (result.returncode, len(removed)) == (0, 2)
    assert not any("/var/lib/gatehouse-gate" in line for line in removed)


def test_an_unknown_option_is_an_error_and_nothing_happens() -> None:
    result = install_gate("--instal")
    assert (result.returncode, result.stdout, "--instal" in result.stderr) == (2, "", True)
