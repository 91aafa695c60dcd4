"""Names of a put-away event stay out of its sealed file: an erasure reaches them, and who is not erased comes back."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from sync_server.archives.retention import remove_due
from tests.app_server import AppServer
from tests.builders import DAY
from tests.contracts.archives.evening import Evening, an_evening


@pytest.fixture
def evening(app_server: AppServer) -> Evening:
    """Six guests with names, whom a gate checks by name; it is over."""
    evening = an_evening(app_server, ended=False)
    evening.api.patch(evening.path, {"name_checks": True})
    evening.api.post(f"{evening.path}/end", status=200)
    app_server.advance(DAY)
    evening.gate.hello()
    return evening


def file_of(evening: Evening) -> Path:
    folder = evening.app_server.runtime.parts.config.archives
    assert folder is not None
    return Path(folder) / evening.api.get(f"{evening.path}/archive")["file"]


def said_in(file: Path) -> bytes:
    """Everything in the file, packed rows too."""
    with zipfile.ZipFile(file) as archive:
        lines = b"".join(archive.read(name) for name in archive.namelist())
    return lines + b"".join(bytes.fromhex(word) for word in _hex_words(lines.decode()))


def _hex_words(lines: str) -> list[str]:
    return [
        word
        for word in lines.split('"')
        if len(word) > 8 and len(word) % 2 == 0 and set(word) <= set("0123456789abcdef")
    ]


def kept(evening: Evening) -> list[Any]:
    with evening.app_server.database.reading() as session:
        return list(session.execute(text("SELECT part, content FROM put_away_people ORDER BY part")).all())


def names(evening: Evening) -> list[str]:
    return sorted(ticket["holder_name"] for ticket in evening.api.get(f"{evening.path}/tickets")["items"])


def gate_names(evening: Evening) -> list[str]:
    rows = evening.app_server.gate_rows(evening.concert.number)  # checks the digest
    return sorted(row.name for row in rows if hasattr(row, "confirmation_code"))


def bring_back(evening: Evening) -> None:
    evening.api.post(f"{evening.path}/archive/restore", {"reason": "a dispute"}, 202)
    evening.work()


def test_nobody_is_named_in_the_file_and_everybody_is_back_with_the_event(evening: Evening) -> None:
    before, at_gates, content = names(evening), gate_names(evening), evening.content()
    assert "Gail Guest" in before and before == at_gates
    evening.put_away()
    assert b"Gail" not in said_in(file_of(evening)) and b"Hugo" not in said_in(file_of(evening))
    assert {part for part, _ in kept(evening)} >= {"tickets", "snapshot_rows"}
    bring_back(evening)
    assert (names(evening), gate_names(evening)) == (before, at_gates)
    after = evening.content()  # the event is archived since, which its own rows say
    assert {
        name for name in ("tickets", "ticket_issues", "holds", "scan_entries") if after[name] != content[name]
    } == set()
    assert kept(evening) == []


def test_who_is_erased_meanwhile_is_not_brought_back(evening: Evening) -> None:
    gail = next(each for each in evening.tickets if each["holder_name"] == "Gail Guest")
    evening.put_away()
    sealed = file_of(evening).read_bytes()
    exported = evening.api.post("/api/people/export", {"ticket": gail["id"]}, 200)["records"]
    assert "Gail Guest" in str(exported["put_away_people"])
    erased = evening.api.post("/api/people/erase", {"ticket": gail["id"], "reason": "asked for"}, 200)
    assert erased["erased"]["put_away_people"] >= 2, "of the ticket, and of the rows of gates"
    assert file_of(evening).read_bytes() == sealed, "its seal holds"
    bring_back(evening)
    assert evening.api.get(f"/api/tickets/{gail['id']}")["holder_name"] == ""
    assert sorted({*names(evening)}) == ["", "Gail Guest", "Hugo Guest"], "nobody else"
    assert names(evening) == gate_names(evening)
    assert names(evening).count("") == 1


def test_retention_reaches_names_that_are_kept_beside_a_file(evening: Evening) -> None:
    evening.put_away()
    evening.app_server.advance(400 * DAY)
    parts = evening.app_server.parts
    remove_due(parts.config, parts.sealer, parts.database, evening.app_server.context(), evening.key.organisation_id)
    assert kept(evening) == []
