"""Backups of a PostgreSQL database by its own programs; a restore is one transaction."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from sqlalchemy import make_url, text

from shared.errors import Conflict, StorageError
from sync_server.config import Config
from sync_server.migrations import schema
from sync_server.plumbing.database import open_engine

#: Tables that are younger than the backup must go too: they point at those that are replaced.
_CLEARED: Final = """
BEGIN;
DO $$
DECLARE doomed record;
BEGIN
  FOR doomed IN SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' LOOP
    EXECUTE format('DROP TABLE public.%I CASCADE', doomed.name);
  END LOOP;
  FOR doomed IN SELECT oid::regprocedure AS name FROM pg_proc WHERE proname = 'audit_lines_guard' LOOP
    EXECUTE format('DROP FUNCTION %s', doomed.name);
  END LOOP;
END $$;
"""
_OTHERS: Final = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()
"""
_TABLES: Final = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
_REVISION: Final = re.compile(r"^COPY \S*alembic_version .*\n(\S+)$", re.MULTILINE)


def backup(config: Config, file: Path) -> None:
    """One state of the database in this file, while others read and write."""
    done = _run(config, "pg_dump", "--format=custom", "--no-owner", f"--file={file}", "--dbname", _public(config))
    if done.returncode:
        raise StorageError(f"pg_dump failed: {_words(done.stderr)}. There is no backup.")


def restore(file: Path, config: Config) -> None:
    """The backup in the place of all tables; nothing is changed unless all of it arrives."""
    _require_backup(file, config)
    _require_stopped(config)
    failed = _replace(file, config)
    if failed:
        raise StorageError(f"The restore failed: {failed}. Nothing was changed.")


def _require_backup(file: Path, config: Config) -> None:
    """Ours, and of a schema that this program knows."""
    asked = _run(config, "pg_restore", "--data-only", "--table=alembic_version", "--file=-", str(file))
    found = _REVISION.search(asked.stdout) if not asked.returncode else None
    if found is None:
        why = f" ({_words(asked.stderr)})" if asked.stderr.strip() else ""
        raise Conflict(f"{file} is no backup of this server, or it is damaged{why}. Nothing was changed.")
    schema.require_known(found[1])


def _require_stopped(config: Config) -> None:
    """A server that runs would go on answering from what it remembers; and these tables must be ours."""
    engine = open_engine(config.database_url, connections=2)
    try:
        with engine.connect() as connection:
            others = connection.execute(text(_OTHERS)).scalar_one()
            tables = connection.execute(text(_TABLES)).scalar_one()
        strange = tables and schema.current(engine) is None
    finally:
        engine.dispose()
    if strange:
        raise Conflict(
            "The database holds tables that are not this server's. Restore into another. Nothing was changed."
        )
    if others:
        raise Conflict(
            f"{others} other connections of this user are open in the database. Stop every server and worker, "
            "then restore. Nothing was changed."
        )


def _replace(file: Path, config: Config) -> str | None:
    """Everything through one session, committed only once the file was read to its end; what went wrong."""
    with (
        _psql(config) as (asked, words),
        subprocess.Popen(
            [_installed("pg_restore"), "--no-owner", "--file=-", str(file)], stdout=subprocess.PIPE, stderr=words
        ) as reading,
    ):
        assert asked.stdin is not None and reading.stdout is not None  # noqa: S101 -- narrows the types
        try:
            asked.stdin.write(_CLEARED.encode())
            shutil.copyfileobj(reading.stdout, asked.stdin)
            if reading.wait() == 0:
                asked.stdin.write(b"\nCOMMIT;\n")
            asked.stdin.close()
        except BrokenPipeError:
            reading.stdout.close()  # psql stopped at an error of its own; both have said why
        if asked.wait() == 0 and reading.wait() == 0:
            return None
        words.seek(0)
        return _words(words.read().decode(errors="replace"))


@contextmanager
def _psql(config: Config) -> Iterator[tuple[subprocess.Popen[bytes], IO[Any]]]:
    """A session that ends at its first error, and what is said there."""
    command = [_installed("psql"), "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--dbname", _public(config)]
    with (
        tempfile.TemporaryFile() as words,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=words, env=_environment(config)
        ) as asked,
    ):
        yield asked, words


def _run(config: Config, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [_installed(program), *words],
        env=_environment(config),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


def _installed(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise StorageError(f"{program} is not installed. Install PostgreSQL's client programs and try again.")
    return found


def _public(config: Config) -> str:
    """The address without its password: every process list shows it."""
    return make_url(config.database_url).set(drivername="postgresql", password=None).render_as_string()


def _environment(config: Config) -> dict[str, str]:
    password = make_url(config.database_url).password
    return {**os.environ, "PGPASSWORD": str(password)} if password else dict(os.environ)


def _words(said: str) -> str:
    """What a program said, its first line: the rest tells the same of later tables, or shows values."""
    lines = [line for line in said.splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else "it was ended from outside"
