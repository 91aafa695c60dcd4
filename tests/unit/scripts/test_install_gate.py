"""scripts/install-gate prints what it would do, line by line, and a dry run changes nothing."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT

SCRIPT = ROOT / "scripts" / "install-gate"
PLANS = Path(__file__).with_name("install_gate_plans")
BARE = {
    # A machine that has no gate yet, and of the groups only those of Debian.
    "getent": 'case "$2" in video | audio | dialout | lp | tty) ;; *) exit 2 ;; esac',
    "systemctl": "exit 0",
    "mountpoint": "exit 1",
}
OPTIONS = {
    "plain": (),
    "everything": ("--gpio", "--print", "--ribbon", "--kiosk", "--data", "/dev/mmcblk0p3", "--read-only"),
    "remove": ("--remove", "--export", "/media/usb/journal.csv"),
}


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Programs that answer as on a bare machine."""
    for name, script in BARE.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    return tmp_path


def install_gate(*arguments: str, programs: Path | None = None) -> subprocess.CompletedProcess[str]:
    path = f"{programs}:{os.environ['PATH']}" if programs else os.environ["PATH"]
    environment = os.environ | {"PATH": path, "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        [str(SCRIPT), *arguments], env=environment, capture_output=True, text=True, check=False, timeout=60
    )


def plan(text: str) -> str:
    """What does not depend on this machine and this version: packages that it has, the checkout's folder and sum."""
    lines = [line for line in text.splitlines() if not line.startswith("would install packages: ")]
    return re.sub(r"/opt/gatehouse/[0-9a-f]{12}", "/opt/gatehouse/VERSION", "\n".join(lines)).replace(
        str(ROOT), "CHECKOUT"
    )


@pytest.mark.parametrize("name", OPTIONS)
def test_a_dry_run_prints_all_it_would_do(bare: Path, name: str) -> None:
    """After a change that is wanted, run it with UPDATE_PLANS=1, and read the diff."""
    done = install_gate("--dry-run", *OPTIONS[name], programs=bare)
    kept = PLANS / f"{name}.txt"
    if os.environ.get("UPDATE_PLANS"):
        kept.write_text(plan(done.stdout) + "\n", encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert plan(done.stdout).splitlines() == kept.read_text(encoding="utf-8").splitlines()


def test_a_dry_run_takes_no_step() -> None:
    assert install_gate("--dry-run", "--gpio", "--kiosk").returncode == 0
    assert not Path("/etc/systemd/system/gatehouse-gate.service").exists()
    assert not Path("/opt/gatehouse").exists()


def test_packages_are_named_before_they_are_installed(tmp_path: Path) -> None:
    said = install_gate("--dry-run", "--ribbon").stdout
    assert "python3-picamera2" in next(
        line for line in said.splitlines() if line.startswith("would install packages: ")
    )


def test_the_service_waits_for_no_network() -> None:
    unit = install_gate("--dry-run").stdout.partition("gatehouse-gate.service (644)")[2].partition("would write")[0]
    assert "[Service]" in unit and "network-online" not in unit


def test_removing_keeps_the_journal(bare: Path) -> None:
    done = install_gate("--remove", "--dry-run", programs=bare)
    removed = [line for line in done.stdout.splitlines() if line.startswith("would run: rm")]
    assert done.returncode == 0
    assert not any("/var/lib/gatehouse-gate" in line for line in removed)


def test_removing_takes_away_all_that_installing_wrote(bare: Path) -> None:
    done = install_gate("--dry-run", *OPTIONS["everything"], programs=bare)
    wrote = set(re.findall(r"^would write (\S+) ", done.stdout, re.MULTILINE)) - {"/var/lib/gatehouse-gate/gate.toml"}
    removed = install_gate("--remove", "--dry-run", programs=bare).stdout
    gone = {word for line in removed.splitlines() if line.startswith("would run: rm") for word in line.split()[3:]}
    assert {
        file for file in wrote if file not in gone and not any(file.startswith(f"{each}/") for each in gone)
    } == set()
    assert len(wrote) > 12


MISTAKES = [
    ("--instal",),
    ("--data",),
    ("--export", "x.csv"),
    ("--read-only",),
    ("--remove", "--kiosk"),
    ("--remove", "--export"),
    ("--remove", "--export", "journal.pdf"),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=" ".join)
def test_a_wrong_option_is_one_line_and_nothing_happens(mistake: tuple[str, ...]) -> None:
    result = install_gate("--dry-run", *mistake)
    assert (result.returncode, result.stdout, len(result.stderr.splitlines())) == (2, "", 1)


def test_systemd_understands_the_units(tmp_path: Path) -> None:
    """The programs that they start are those of this machine here, because the gate's are not installed."""
    folder = ROOT / "deploy" / "gate"
    names = [path.name for path in folder.iterdir() if path.suffix in {".service", ".timer"}]
    for name in names:
        text = (folder / name).read_text("utf-8").replace("@HOME@", "/var/lib/gatehouse-gate")
        (tmp_path / name).write_text(re.sub(r"^(Exec\w+)=\S+", r"\1=/bin/true", text, flags=re.MULTILINE))
    units = [str(tmp_path / name) for name in names]
    done = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False)
    ours = [line for line in done.stderr.splitlines() if "gatehouse" in line and "@" not in line]
    assert (len(names), ours) == (5, [])
