"""kill -9 while old audit lines leave or come back: none is lost or twice, the chain holds, the next run goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from sync_server.archives import sealed_files
from sync_server.archives.audit_log import putting_away
from sync_server.audit import queries, segments
from tests.app_server import AppServer
from tests.builders import DAY
from tests.contracts.archives.dying import SIZES, Moment, Work, killed, put_away, restore
from tests.contracts.archives.test_audit_segments import broken
from tests.contracts.server.test_audit_sealing import MARQUEE, seal, write

OLD = 8
"""Lines of last year: a file of five, and one of three."""
SEGMENTS = "sync_server.audit.segments"
WRITER = "sync_server.archives.sealed_files:SealedFileWriter"
LEAVING = (  # the moment; then how many files are noted, and how many lines are still in the table
    (Moment(WRITER, "seal"), 0, OLD),
    (Moment("sync_server.archives.sealed_files", "verify"), 0, OLD),
    (Moment(SEGMENTS, "add"), 0, OLD),
    (Moment(SEGMENTS, "add", after=True), 0, OLD),
    (Moment(SEGMENTS, "remove_piece"), 1, OLD),
    (Moment(SEGMENTS, "remove_piece", 2, after=True), 1, OLD - 2),
    (Moment(SEGMENTS, "remove_piece", 3), 1, OLD - 4),
    (Moment(WRITER, "seal", 2), 1, OLD - 5),
    (Moment(SEGMENTS, "add", 2), 1, OLD - 5),
    (Moment(SEGMENTS, "remove_piece", 6), 2, 1),
)
COMING_BACK = (
    (Moment(SEGMENTS, "put_back"), 2, 0),
    (Moment(SEGMENTS, "put_back", after=True), 2, 0),
    (Moment(SEGMENTS, "put_back", 2), 2, 2),
    (Moment(SEGMENTS, "drop"), 2, 3),
    (Moment(SEGMENTS, "drop", after=True), 2, 3),
)


@pytest.fixture
def log(app_server: AppServer, monkeypatch: pytest.MonkeyPatch) -> AppServer:
    for module, name, size in SIZES:
        monkeypatch.setattr(module, name, size)
    write(app_server, MARQUEE, *(f"old-{number}" for number in range(OLD)))
    seal(app_server)
    app_server.advance(400 * DAY)
    write(app_server, MARQUEE, "new")
    seal(app_server)
    return app_server


def dies(log: AppServer, work: Work, moment: Moment) -> bool:
    settings = log.parts.config.model_dump(exclude_defaults=True)
    return killed(settings, work, moment, MARQUEE, log.now - 365 * DAY)


def finish(log: AppServer, work: Work) -> None:
    work(log.runtime, MARQUEE, log.now - 365 * DAY)


def in_table(log: AppServer) -> list[int]:
    with log.database.reading() as session:
        return [row.seq or 0 for row in queries.in_order(session, MARQUEE, after_seq=0, limit=100)]


def in_files(log: AppServer) -> list[int]:
    """The lines of every noted file, in order."""
    return [seq for lines in _files(log) for seq in lines]


def _files(log: AppServer) -> Iterator[list[int]]:
    folder = log.parts.config.archives
    assert folder is not None
    with log.database.reading() as session:
        names = [segment.file for segment in segments.segments(session, MARQUEE)]
    for name in names:
        part = sealed_files.verify(folder / name).manifest.part(putting_away.PART)
        assert part is not None
        with sealed_files.opened(folder / name) as archive:
            yield [json.loads(line)[0] for line in sealed_files.lines(archive, part)]


def whole(log: AppServer) -> None:
    """Every line is in the table or in a noted file, and no two files have the same."""
    assert broken(log) is None
    files = in_files(log)
    assert files == list(range(1, len(files) + 1))
    assert {*files, *in_table(log)} == set(range(1, OLD + 2))


def put_away_once(log: AppServer) -> None:
    """Each old line is in one file and no longer in the table."""
    assert broken(log) is None
    assert (in_files(log), in_table(log)) == (list(range(1, OLD + 1)), [OLD + 1])


def as_it_was(log: AppServer) -> None:
    """Every line is in the table, as if none had ever been put away."""
    while in_files(log):
        finish(log, restore)
    assert broken(log) is None and in_table(log) == list(range(1, OLD + 2))


def test_lines_leave_once_however_the_process_ends(log: AppServer) -> None:
    for moment, noted, left in LEAVING:
        assert dies(log, put_away, moment), f"{moment} was never reached"
        whole(log)
        assert (len(list(_files(log))), len(in_table(log)) - 1) == (noted, left), moment
        finish(log, put_away)
        put_away_once(log)
        as_it_was(log)


def test_lines_come_back_once_however_the_process_ends(log: AppServer) -> None:
    for moment, noted, back in COMING_BACK:
        finish(log, put_away)
        assert dies(log, restore, moment), f"{moment} was never reached"
        whole(log)
        assert (len(list(_files(log))), len(in_table(log)) - 1) == (noted, back), moment
        as_it_was(log)


def test_a_process_killed_at_every_moment_in_turn_comes_to_its_end(log: AppServer) -> None:
    """Nothing is finished or brought back in between: each goes on from what the one before has left."""
    reached = [dies(log, put_away, moment) for moment, _, _ in LEAVING]
    assert any(reached)
    whole(log)
    finish(log, put_away)
    put_away_once(log)
