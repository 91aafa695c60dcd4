"""The commands of archives, each in a process of its own as operators run them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sync_server import __main__ as command_line
from tests.contracts.archives.evening import Evening


@pytest.fixture
def gatehouse(evening: Evening, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a command; its status, the object that it prints, and what it says to people."""
    server = evening.app_server
    monkeypatch.setenv("GATEHOUSE_DATABASE_URL", server.url)
    monkeypatch.setenv("GATEHOUSE_MASTER_KEY_FILE", str(server.folder / "master.key"))
    monkeypatch.setenv("GATEHOUSE_ARCHIVES_FOLDER", str(server.parts.config.archives))

    def run(*arguments: str) -> tuple[int, Any, str]:
        capsys.readouterr()
        monkeypatch.setattr("sys.argv", ["gatehouse-server", *arguments])
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        said = capsys.readouterr()
        printed = [json.loads(line) for line in said.out.splitlines() if line.startswith("{")]
        return int(ended.value.code or 0), printed[-1] if printed else None, said.err

    return run


def test_an_event_is_put_away_verified_and_brought_back(evening: Evening, gatehouse: Any, tmp_path: Path) -> None:
    slug = evening.concert.event["slug"]
    status, archive, said_first = gatehouse("archive", slug, "--org", "marquee")
    assert status == 0, said_first
    assert (archive["state"], archive["figures"]["admitted"]) == ("put_away", 3)
    copy = tmp_path / "copy.zip"
    copy.write_bytes(evening.file().read_bytes())

    status, found, _ = gatehouse("archive", "verify", str(copy))
    assert (status, found["ok"], found["about"]["event"]["slug"]) == (0, True, slug)
    status, _, _ = gatehouse("archive", "verify", str(copy), "--public-key", found["public_key"])
    assert status == 0
    status, found, said = gatehouse("archive", "verify", str(copy), "--public-key", "ab" * 32)
    assert (status, found["ok"]) == (1, False) and "not signed with this key" in said

    evening.file().unlink()
    status, archive, _ = gatehouse("archive", "restore", str(copy), "--reason", "a dispute")
    assert (status, archive["state"]) == (0, "restored")
    assert evening.counts()["tickets"] == 6


def test_what_is_no_sealed_file_or_no_event_is_said(evening: Evening, gatehouse: Any, tmp_path: Path) -> None:
    picture = tmp_path / "holiday.jpg"
    picture.write_bytes(b"\xff\xd8\xff")
    status, found, said = gatehouse("archive", "verify", str(picture))
    assert (status, found["ok"]) == (1, False) and "not a sealed file" in said
    assert gatehouse("archive", "verify", str(tmp_path / "nothing"))[0] == 1
    status, _, said = gatehouse("archive", "nothing-of-ours", "--org", "marquee")
    assert status == 1 and "has no event 'nothing-of-ours'" in said
    assert evening.counts()["tickets"] == 6


def test_the_policy_is_shown_and_changed(evening: Evening, gatehouse: Any) -> None:
    status, policy, said = gatehouse("retention", "show", "--org", "marquee")
    assert (status, policy["days"]["names"]) == (0, 30) and "names and notes on tickets" in said
    status, policy, _ = gatehouse("retention", "set", "archives", "forever", "--org", "marquee")
    assert (status, policy["days"]["archives"]) == (0, None)
    status, policy, said = gatehouse("retention", "set", "facts", "90", "--org", "marquee")
    assert (status, policy) == (1, None) and "7 days at most" in said


def test_a_person_is_exported_and_erased(evening: Evening, gatehouse: Any) -> None:
    ticket = evening.tickets[0]["id"]
    status, found, _ = gatehouse("person", "export", "--org", "marquee", "--ticket", ticket)
    assert (status, found["records"]["tickets"][0]["holder_name"]) == (0, "Gail Guest")
    status, found, _ = gatehouse("person", "erase", "--org", "marquee", "--ticket", ticket, "--reason", "asked for")
    assert (status, found["erased"]["tickets"]) == (0, 1)
    evening.app_server.user("stan@marquee.example", evening.key.organisation_id)
    named = "--email", "stan@marquee.example", "--login", "--reason", "has left"
    status, found, _ = gatehouse("person", "erase", "--org", "marquee", *named)
    assert (status, found["erased"]["users"] >= 1) == (0, True)
    assert (
        evening.app_server.app.test_client().post("/api/session", json={"email": named[1], "password": "x"}).status_code
        == 401
    )
