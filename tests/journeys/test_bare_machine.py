"""scripts/install-gate on a bare Debian, to its end: install, again, use, export, remove. Takes three minutes.

Only with `-m slow`, as root, where debootstrap and a mirror are: everything in it is what a new machine would fetch.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.architecture.tree import ROOT, files

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
PARTS = (
    "deploy",
    "docs",
    "gate_app",
    "gatehouse_programs",
    "hardware",
    "requirements",
    "scripts",
    "shared",
    "sync_server",
)


class BareMachine:
    """A Debian in a folder, with the checkout in /checkout."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def make(self, debootstrap: str, suite: str) -> None:
        subprocess.run([debootstrap, "--variant=minbase", suite, str(self.root)], check=True, stdout=subprocess.DEVNULL)
        for path in files():
            if path.parts[0] in PARTS or len(path.parts) == 1:
                (self.root / "checkout" / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / path, self.root / "checkout" / path)
        # How this machine reaches its mirrors is how the bare one does.
        for path in (
            Path("/etc/pip.conf"),
            Path("/etc/resolv.conf"),
            *asked(),
        ):
            if path.is_file():
                (self.root / path.relative_to("/")).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, self.root / path.relative_to("/"))
        # Not in its usual place, which the package ca-certificates fills anew.
        shutil.copy(CERTIFICATES, self.root / "certificates.crt")

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """In its own mounts, which end with it."""
        mounts = [f"mount -t proc proc {self.root}/proc", f"mount -t sysfs sys {self.root}/sys"]
        mounts.append(f"mount --rbind /dev {self.root}/dev")
        for folder in local_packages():
            (self.root / folder.relative_to("/")).mkdir(parents=True, exist_ok=True)
            mounts.append(f"mount --bind {folder} {self.root}{folder}")
        inside = " && ".join([*mounts, f'exec chroot {self.root} env PIP_CERT=/certificates.crt "$@"'])
        return subprocess.run(
            ["unshare", "--mount", "sh", "-c", inside, "sh", *command], capture_output=True, text=True, check=False
        )

    def state(self) -> dict[str, int]:
        """When each file was written that the installer answers for."""
        folders = ("etc", "usr/local", "opt/gatehouse", "var/lib/gatehouse-gate")
        found = (path for folder in folders for path in (self.root / folder).rglob("*"))
        return {str(path): path.lstat().st_mtime_ns for path in found if not path.is_dir() and path.suffix != ".pyc"}


def asked() -> list[Path]:
    """The settings of apt that concern the way to its mirror."""
    settings = sorted(Path("/etc/apt/apt.conf.d").glob("*"))
    return [path for path in settings if "Acquire" in path.read_text("utf-8", errors="replace")]


def local_packages() -> set[Path]:
    """The folders of packages that this machine's pip is told of."""
    told = subprocess.run(["pip", "config", "list"], capture_output=True, text=True, check=False).stdout
    named = re.findall(r"(?<=')(?:file://)?(/[^\s']+)|file://(/[^\s']+)", told)
    found = {Path(one or other) for one, other in named}
    return {path.parent if path.name == "simple" else path for path in found if path.is_dir()}


@pytest.fixture(scope="module")
def machine() -> Iterator[BareMachine]:
    debootstrap = os.environ.get("DEBOOTSTRAP") or shutil.which("debootstrap")
    if os.geteuid() != 0 or debootstrap is None or shutil.which("unshare") is None:
        pytest.skip("a bare Debian needs root, debootstrap and unshare")
    # On the disk: folders of other tests are in memory.
    with TemporaryDirectory(prefix="gatehouse-bare-", dir="/var/tmp") as folder:
        found = BareMachine(Path(folder))
        found.make(debootstrap, os.environ.get("DEBIAN_SUITE", "bookworm"))
        yield found


def test_a_bare_machine_becomes_a_gate_and_a_bare_machine_again(machine: BareMachine) -> None:
    first = machine.run("/checkout/scripts/install-gate")
    assert first.returncode == 0, first.stderr[-3000:]
    assert re.findall(r"^\[(\d)/7\]", first.stderr, re.MULTILINE) == list("1234567")

    member = set(machine.run("id", "-Gn", "gatehouse").stdout.split())
    assert {"video", "audio", "input", "dialout", "gpio", "lp"} <= member
    doctor = machine.run("gatehouse-gate", "doctor")
    assert '"part":"disk","ok":true' in doctor.stdout and "Traceback" not in doctor.stderr
    assert machine.run("gatehouse-gate", "updates-allowed").returncode == 0
    assert machine.run("systemctl", "is-enabled", "gatehouse-gate").stdout == "enabled\n"
    assert "Root is required" in machine.run("setpriv", "--reuid=65534", "--clear-groups", "gatehouse-gate").stderr

    before = machine.state()
    again = machine.run("/checkout/scripts/install-gate")
    assert (again.returncode, "already installed" in again.stderr) == (0, True)
    after = machine.state()
    changed = {path for path in before | after if before.get(path) != after.get(path)}
    assert {path for path in changed if not path.endswith(("/current", ".cache"))} == set(), (
        "a second run changes nothing"
    )

    removed = machine.run("/checkout/scripts/install-gate", "--remove")
    assert removed.returncode == 0, removed.stderr
    assert {path for path in machine.state() if "gatehouse" in path and ".new" not in path} == {
        str(machine.root / "var/lib/gatehouse-gate/gate.toml")
    }
