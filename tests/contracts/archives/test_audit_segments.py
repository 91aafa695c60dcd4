"""Old lines of the audit log leave for sealed files; the chain stays provable, and an erasure reaches them."""

from __future__ import annotations

import json
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from sync_server.archives import sealed_files
from sync_server.archives.audit_log import putting_away, segment_check
from sync_server.audit import erasure, export, queries
from sync_server.audit.chain_check import ChainBreak, ChainPosition
from sync_server.audit.exported_file import prove_file
from sync_server.devices import identity
from tests.app_server import AppServer
from tests.builders import DAY
from tests.contracts.server.test_audit_sealing import MARQUEE, order, proof, seal, write

OLD = [f"old-{at}" for at in range(40)]
NEW = ["new-1", "new-2", "new-3"]


@pytest.fixture
def log(app_server: AppServer, monkeypatch: pytest.MonkeyPatch) -> AppServer:
    """Forty lines of last year and three of today, put away in files of fifteen and pieces of four."""
    monkeypatch.setattr(putting_away, "MOST", 15)
    for name in ("PIECE", "PIECE_EMBEDDED"):
        monkeypatch.setattr(putting_away, name, 4)
    write(app_server, MARQUEE, *OLD)
    seal(app_server)
    app_server.advance(400 * DAY)
    write(app_server, MARQUEE, *NEW)
    seal(app_server)
    return app_server


def pieces(app_server: AppServer) -> Any:
    key = partial(identity.private_key, sealer=app_server.parts.sealer)
    before = app_server.now - 365 * DAY
    return putting_away.put_away(app_server.database, app_server.parts.config, key, MARQUEE, before, least=1)


def public(app_server: AppServer) -> bytes:
    with app_server.database.reading() as session:
        return identity.public_key(session, app_server.parts.sealer)


def broken(app_server: AppServer, *known: ChainPosition) -> ChainBreak | None:
    """The first break, through the files and the table."""
    found = segment_check.check(app_server.database, app_server.parts.config, MARQUEE, public(app_server), known)
    return found or proof(app_server, MARQUEE).broken


def files(app_server: AppServer) -> list[Path]:
    folder = app_server.parts.config.archives
    assert folder is not None
    return sorted(folder.glob("*/audit-*.zip"), key=lambda file: int(file.name.split("-")[1]))


def position(app_server: AppServer, subject: str) -> ChainPosition:
    with app_server.database.reading() as session:
        (row,) = [
            row for row in queries.in_order(session, MARQUEE, after_seq=0, limit=100) if row.subject_id == subject
        ]
    return ChainPosition(row.seq or 0, row.seal or b"")


def test_old_lines_leave_and_the_chain_is_proved_through_their_files(log: AppServer) -> None:
    noted = position(log, "old-7")
    assert sum(pieces(log)) == len(OLD)
    assert order(log, MARQUEE) == NEW
    assert [file.name.rsplit("-", 1)[0] for file in files(log)] == ["audit-1-15", "audit-16-30", "audit-31-40"]
    assert broken(log) is None and broken(log, noted) is None
    assert proof(log, MARQUEE).reached.seq == 43
    forged = broken(log, ChainPosition(noted.seq, bytes(32)))
    assert forged is not None and forged.seq == noted.seq
    write(log, MARQUEE, "newer")
    seal(log)
    assert broken(log) is None and sum(pieces(log)) == 0


def test_whoever_is_killed_between_two_pieces_goes_on(log: AppServer) -> None:
    for stop in range(1, 6):
        walk = pieces(log)
        for _ in range(stop):
            next(walk, None)
        walk.close()  # nothing of it is left but what was committed
        assert broken(log) is None, "at every moment"
    assert sum(pieces(log)) >= 0 and order(log, MARQUEE) == NEW and broken(log) is None


def test_lines_without_a_file_cannot_be_deleted(log: AppServer) -> None:
    assert next(pieces(log)) == 4
    with pytest.raises(DBAPIError, match="only ever added"), log.database.writing() as session:
        session.execute(text("DELETE FROM audit_lines WHERE subject_id = 'new-1'"))
    with pytest.raises(DBAPIError, match="only ever added"), log.database.writing() as session:
        session.execute(text("DELETE FROM audit_personal"))


def test_a_missing_or_altered_file_breaks_the_chain(log: AppServer) -> None:
    list(pieces(log))
    first, second, _ = files(log)
    kept = second.read_bytes()
    second.unlink()
    missing = broken(log)
    assert missing is not None and missing.seq == 16
    with zipfile.ZipFile(first) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    second.write_bytes(kept)
    assert broken(log) is None
    parts["audit_lines.jsonl"] = parts["audit_lines.jsonl"].replace(b"old-3", b"old-x")
    with zipfile.ZipFile(first, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    altered = broken(log)
    assert altered is not None and altered.seq == 1


def test_lines_come_back_as_they_were(log: AppServer) -> None:
    list(pieces(log))
    counts = [segment_check.restore(log.database, log.parts.config, MARQUEE) for _ in range(3)]
    assert counts == [10, 15, 15]
    assert order(log, MARQUEE) == OLD + NEW and broken(log) is None and proof(log, MARQUEE).reached.seq == 43


def test_an_erased_person_is_in_no_file_and_the_seals_hold(log: AppServer) -> None:
    list(pieces(log))
    with log.database.writing() as session:
        assert erasure.erase_person(session, "user", "olga", log.context(), reason="asked for") == 43
    seal(log)
    assert broken(log) is None
    for file in files(log):
        sealed_files.verify(file, public(log))
        with zipfile.ZipFile(file) as archive:
            assert b"192.0.2.7" not in b"".join(archive.read(name) for name in archive.namelist())
    for _ in range(3):
        segment_check.restore(log.database, log.parts.config, MARQUEE)
    with log.database.reading() as session:
        stored = list(queries.every_sealed(session, MARQUEE))
        assert [one for one in stored if one.row.subject_id in OLD and one.values("actor") is not None] == []
    assert broken(log) is None


def test_an_export_goes_on_where_the_files_end(log: AppServer) -> None:
    list(pieces(log))
    lines = list(export.export_lines(log.database, MARQUEE))
    assert json.loads(lines[0])["seq"] == 40 and len(lines) == 1 + len(NEW) + 1
    assert prove_file(lines, public=public(log)).broken is None
    moved = json.dumps(json.loads(lines[0]) | {"seal": "11" * 32})
    assert prove_file([moved, *lines[1:]], public=public(log)).broken is not None
