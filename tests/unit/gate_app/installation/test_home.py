"""One process at a time uses a home."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gate_app.installation.home import Home
from gate_app.installation.identity import Identity, load, replace_whole
from shared.errors import Conflict, StorageError
from tests.gate_builders import a_gate


def test_the_second_process_is_reported_which_one_uses_the_home(tmp_path: Path) -> None:
    home = Home(tmp_path).ready()
    hold = "import sys; from pathlib import Path; from gate_app.installation.home import Home\n"
    hold += "with Home(Path(sys.argv[1])).held('run'):\n  print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        assert home.holder() == f"process {other.pid} (gatehouse-gate run)"
        with pytest.raises(Conflict, match=f"Process {other.pid} \\(gatehouse-gate run\\) is using"), home.held("scan"):
            pass
        other.kill()
        other.wait()
    assert home.holder() == "", "a killed process lets go"
    with home.held("scan"):
        assert '"doing": "scan"' in home.lock.read_text()


def test_after_it_let_go_another_process_may_use_it(tmp_path: Path) -> None:
    home = Home(tmp_path).ready()
    for doing in ("scan", "sync"):
        with home.held(doing):
            pass
    assert home.holder() == ""


def test_a_home_that_cannot_be_made_is_reported_clearly(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="--home"):
        Home(tmp_path / "file" / "home").ready()


def test_the_key_is_readable_by_its_owner_alone_and_never_printed(tmp_path: Path) -> None:
    gate = a_gate(tmp_path)
    identity = gate.context.identity
    assert isinstance(identity, Identity)
    assert Home(tmp_path).identity.stat().st_mode & 0o077 == 0
    assert identity.device_private.hex() not in repr(identity)
    assert str(identity.device_private) not in repr(identity)


def test_a_damaged_identity_says_that_the_journal_stays(tmp_path: Path) -> None:
    path = tmp_path / "identity.json"
    path.write_text("{")
    with pytest.raises(StorageError, match="its journal is kept"):
        load(path)


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "posts.json"
    replace_whole(path, b"one")
    replace_whole(path, b"two")
    assert (path.read_bytes(), [one.name for one in tmp_path.iterdir()]) == (b"two", ["posts.json"])


def test_nobody_else_reads_what_a_gate_keeps(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    for name in ("gate.db", "gate.db-wal", "identity.json"):
        (folder / name).touch(mode=0o644)
    (folder / "notes.txt").touch()
    (folder / "notes.txt").chmod(0o644)  # whatever the umask is
    Home(folder).ready()
    Home(tmp_path / "new").ready()
    modes = {path.name: path.stat().st_mode & 0o777 for path in (*folder.iterdir(), tmp_path / "new")}
    private = {"gate.db": 0o600, "gate.db-wal": 0o600, "identity.json": 0o600, "snapshots": 0o700, "new": 0o700}
    assert modes == {**private, "notes.txt": 0o644}  # what is not the gate's stays as it is
