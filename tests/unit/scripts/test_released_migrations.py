"""A migration that was released never changes again."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from scripts.checks import released
from scripts.checks.released import MANIFEST, VERSIONS, freeze, mistakes
from scripts.migrations.__main__ import main

ROOT = Path(__file__).parents[3]


def git(tree: Path, *arguments: str) -> None:
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@marquee.example"]
    subprocess.run(["git", *who, *arguments], cwd=tree, check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with two migrations, of which nothing is released."""
    (tmp_path / VERSIONS).mkdir(parents=True)
    for name in ("0001_first_release.py", "0002_dress_codes.py"):
        (tmp_path / VERSIONS / name).write_text(f"revision = {name[:4]!r}\n")
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path)
    return tmp_path


def commit(tree: Path) -> None:
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "--allow-empty", "-m", "as it is")


def test_before_the_first_release_everything_may_change(tree: Path) -> None:
    (tree / VERSIONS / "0001_first_release.py").write_text("anew = True\n")
    (tree / VERSIONS / "0002_dress_codes.py").unlink()
    assert mistakes(tree) == []


def test_the_migrations_of_this_project_are_as_they_were_released() -> None:
    assert released.released(ROOT)
    assert mistakes(ROOT) == []


def test_a_released_migration_is_not_changed(tree: Path) -> None:
    assert freeze(tree) == ["0001_first_release.py", "0002_dress_codes.py"]
    assert mistakes(tree) == []
    with (tree / VERSIONS / "0001_first_release.py").open("a") as file:
        file.write("# only a remark\n")
    (found,) = mistakes(tree)
    assert "0001_first_release.py: was released and has changed" in found
    with pytest.raises(ValueError, match="has changed"):
        freeze(tree)


def test_a_released_migration_is_not_removed_nor_another_put_before_it(tree: Path) -> None:
    freeze(tree)
    (tree / VERSIONS / "0002_dress_codes.py").rename(tree / VERSIONS / "0001_second_thoughts.py")
    missing, between = mistakes(tree)
    assert "0002_dress_codes.py: was released, and is missing" in missing
    assert "0001_second_thoughts.py: comes before 0002_dress_codes.py" in between


def test_the_next_migration_is_free_until_it_is_released_too(tree: Path) -> None:
    freeze(tree)
    commit(tree)
    following = tree / VERSIONS / "0003_cloakrooms.py"
    following.write_text("draft = 1\n")
    assert mistakes(tree) == []
    following.write_text("draft = 2\n")
    assert freeze(tree) == ["0003_cloakrooms.py"] and mistakes(tree) == []


def test_changing_file_and_checksum_together_is_noticed(tree: Path) -> None:
    freeze(tree)
    commit(tree)
    git(tree, "checkout", "-q", "-b", "shortcut")
    (tree / VERSIONS / "0001_first_release.py").write_text("anew = True\n")
    (tree / MANIFEST).unlink()
    first, second = mistakes(tree)
    assert first.startswith(f"{MANIFEST}: 0001_first_release.py was released with another checksum")
    assert second.startswith(f"{MANIFEST}: 0002_dress_codes.py was released with another checksum, or is no longer")
    with pytest.raises(ValueError, match="another checksum"):
        freeze(tree)
    commit(tree)
    assert mistakes(tree) != [], "a commit on another branch does not change what was released"
    git(tree, "checkout", "-q", "main")
    git(tree, "merge", "-q", "--ff-only", "shortcut")
    assert mistakes(tree) != [], "nor does a commit on main itself"
    assert freeze_anew(tree) != []


def freeze_anew(tree: Path) -> list[str]:
    """File and checksum agree again, in a commit of their own; what is still wrong."""
    checksum = hashlib.sha256((tree / VERSIONS / "0001_first_release.py").read_bytes()).hexdigest()
    (tree / MANIFEST).write_text(f'"0001_first_release.py" = "{checksum}"\n')
    commit(tree)
    return mistakes(tree)


def test_what_was_released_is_found_in_branches_that_were_merged(tree: Path) -> None:
    git(tree, "checkout", "-q", "-b", "release")
    freeze(tree)
    commit(tree)
    git(tree, "checkout", "-q", "main")
    commit(tree)
    git(tree, "merge", "-q", "--no-ff", "-m", "release", "release")
    assert mistakes(tree) == []
    (tree / VERSIONS / "0002_dress_codes.py").write_text("anew = True\n")
    (tree / MANIFEST).unlink()
    commit(tree)
    assert len(mistakes(tree)) == 2


def test_the_command_freezes_and_then_refuses_to_begin_anew(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("scripts.migrations.__main__.ROOT", tree)
    assert main(["--freeze"]) == 0
    assert "0001_first_release.py" in capsys.readouterr().out
    assert main(["--freeze"]) == 0
    assert "Nothing is new" in capsys.readouterr().out
    assert main(["--first"]) == 2
    assert "Databases have run" in capsys.readouterr().err
    shutil.copy(tree / VERSIONS / "0002_dress_codes.py", tree / VERSIONS / "0001_first_release.py")
    assert main(["--freeze"]) == 2
    assert "has changed" in capsys.readouterr().err


def test_a_mistyped_option_drafts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--frist"]) == 2
    assert main([]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("Say what the migration changes")
    assert main(["--help"]) == 0
    assert "--freeze" in capsys.readouterr().out
