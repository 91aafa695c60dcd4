"""Backups of a PostgreSQL database with pg_dump and pg_restore; a restore is one transaction."""

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

from sqlalchemy import Connection, make_url, text

from shared.errors import Conflict, StorageError
from sync_server.config import Config
from sync_server.migrations import schema
from sync_server.plumbing.database import open_engine

#: Drops newer tables than those in the backup too, because they may refer to tables that are replaced.
_DROP_ALL: Final = r"""
BEGIN;
SET LOCAL client_min_messages = warning;
DO $$
DECLARE doomed record;
BEGIN
  FOR doomed IN SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' LOOP
    EXECUTE format('DROP TABLE public.%I CASCADE', doomed.name);
  END LOOP;
  FOR doomed IN
    SELECT oid::regprocedure AS name FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace AND proname LIKE '%\_guard'
  LOOP
    EXECUTE format('DROP FUNCTION %s', doomed.name);
  END LOOP;
END $$;
"""
_OTHER_CONNECTIONS: Final = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()
"""
_TABLE_COUNT: Final = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
_REVISION: Final = re.compile(r"^COPY \S*alembic_version .*\n(\S+)$", re.MULTILINE)


def backup(config: Config, file: Path) -> None:
    """Write a consistent copy of the database to the file, while it is in use."""
    result = _run(
        config, "pg_dump", "--format=custom", "--no-owner", f"--file={file}", "--dbname", _url_without_password(config)
    )
    if result.returncode:
        raise StorageError(f"pg_dump failed: {_first_line(result.stderr)}. No backup was made.")


def restore(file: Path, config: Config) -> None:
    """Replace all tables by those of the backup; changes nothing unless all of it can be restored."""
    _require_backup(file, config)
    _require_stopped(config)
    error = _replace(file, config)
    if error:
        raise StorageError(f"The restore failed: {error}. Nothing was changed.")


def _require_backup(file: Path, config: Config) -> None:
    """Conflict unless the file is a backup of this server, with a schema that this version knows."""
    result = _run(config, "pg_restore", "--data-only", "--table=alembic_version", "--file=-", str(file))
    found = _REVISION.search(result.stdout) if not result.returncode else None
    if found is None:
        reason = f" ({_first_line(result.stderr)})" if result.stderr.strip() else ""
        raise Conflict(f"{file} is not a backup of this server, or it is damaged{reason}. Nothing was changed.")
    schema.require_known(found[1])


def _require_stopped(config: Config) -> None:
    """Conflict if the database is in use, because servers would keep answering from their caches, or not ours."""
    engine = open_engine(_direct_url(config), connections=2)
    try:
        with engine.connect() as connection:
            others = _others(connection)
            tables = connection.execute(text(_TABLE_COUNT)).scalar_one()
        foreign = tables and schema.current(engine) is None
    finally:
        engine.dispose()
    if foreign:
        raise Conflict(
            "The database contains tables that are not this server's. Restore into another one. Nothing was changed."
        )
    if others:
        raise Conflict(
            f"{others} other connections of this user to the database are open. Stop every server and worker, "
            "then restore. Nothing was changed."
        )


def _others(connection: Connection) -> int:
    """How many other connections stay open; those of a server that has just stopped close within a moment."""
    for _ in range(20):
        others = int(connection.execute(text(_OTHER_CONNECTIONS)).scalar_one())
        if not others:
            break
        connection.execute(text("SELECT pg_sleep(0.1)"))
        connection.commit()  # the next look is a new one
    return others


def _replace(file: Path, config: Config) -> str | None:
    """Restore in one transaction, committed once the whole file has been read; the error, or None."""
    with (
        _psql(config) as (psql, errors),
        subprocess.Popen(
            [_installed("pg_restore"), "--no-owner", "--file=-", str(file)], stdout=subprocess.PIPE, stderr=errors
        ) as pg_restore,
    ):
        assert psql.stdin is not None and pg_restore.stdout is not None  # noqa: S101 -- narrows the types
        try:
            psql.stdin.write(_DROP_ALL.encode())
            shutil.copyfileobj(pg_restore.stdout, psql.stdin)
            if pg_restore.wait() == 0:
                psql.stdin.write(b"\nCOMMIT;\n")
            psql.stdin.close()
        except BrokenPipeError:
            pg_restore.stdout.close()  # psql stopped at an error; the reason is in `errors`
        if psql.wait() == 0 and pg_restore.wait() == 0:
            return None
        errors.seek(0)
        return _first_line(errors.read().decode(errors="replace"))


@contextmanager
def _psql(config: Config) -> Iterator[tuple[subprocess.Popen[bytes], IO[Any]]]:
    """A psql session that stops at its first error, and the file of its error messages."""
    command = [
        _installed("psql"),
        "--no-psqlrc",
        "--quiet",
        "--set=ON_ERROR_STOP=1",
        "--dbname",
        _url_without_password(config),
    ]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors, env=_environment(config)
        ) as psql,
    ):
        yield psql, errors


def _run(config: Config, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [_installed(program), *arguments],
        env=_environment(config),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


def _installed(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise StorageError(f"{program} is not installed. Install the PostgreSQL client programs and try again.")
    return found


def _direct_url(config: Config) -> str:
    """PostgreSQL itself: a pooler would spread one dump over several connections."""
    if config.database_pooler != "none" and config.listen_database_url is None:
        raise Conflict(
            "Backups do not pass a pooler. Set GATEHOUSE_LISTEN_DATABASE_URL to PostgreSQL itself. Nothing was changed."
        )
    return config.listen_url or config.database_url


def _url_without_password(config: Config) -> str:
    """The database URL without its password, because process lists show arguments."""
    return make_url(_direct_url(config)).set(drivername="postgresql", password=None).render_as_string()


def _environment(config: Config) -> dict[str, str]:
    password = make_url(_direct_url(config)).password
    return {**os.environ, "PGPASSWORD": str(password)} if password else dict(os.environ)


def _first_line(output: str) -> str:
    """The first line of a program's errors; the rest repeats it for other tables, or contains values."""
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else "it was killed"
