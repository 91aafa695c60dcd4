"""A private PostgreSQL: its own cluster in the system's temporary folder, reached by a socket in that folder alone."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import psycopg
from psycopg import sql

from scripts.processes.child import Child
from scripts.throwaway.installed import find_program

OWNER = "gatehouse"
BINARIES = "usr/lib/postgresql/*/bin"
#: Nothing here outlives the machine, so nothing needs to reach the disk; what is committed still outlives a kill.
#: Measurements ask for `durable`.
CARELESS = {"fsync": "off", "full_page_writes": "off"}
COMMON = {
    "listen_addresses": "",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "timezone": "UTC",
    "log_min_messages": "warning",
}


class PostgresServer:
    """A cluster of its own, with `stop`, `start` and `kill` for tests that want to see it go."""

    def __init__(self, *, durable: bool = False) -> None:
        self._settings = COMMON | ({} if durable else CARELESS)
        # PostgreSQL refuses to run as root: the cluster then belongs to the account that Debian's package made.
        self._account = "postgres" if os.geteuid() == 0 else "-"
        self._numbers = itertools.count(1)
        self.folder = Path(tempfile.mkdtemp(prefix="gatehouse-pg-"))
        self._child = Child(
            "PostgreSQL", self._command(), self.folder / "log", user=self._account, stop_signal=signal.SIGINT
        )

    def _command(self) -> list[str]:
        program = find_program("postgres", "postgresql", BINARIES)
        settings = [
            f"--{name}={value}"
            for name, value in {**self._settings, "unix_socket_directories": str(self.folder)}.items()
        ]
        return [program, "-D", str(self.folder / "cluster"), *settings]

    def create(self) -> None:
        """Make the cluster's files; done once, before the first start."""
        program = find_program("initdb", "postgresql", BINARIES)
        command = [
            program,
            "-D",
            str(self.folder / "cluster"),
            "-U",
            OWNER,
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
            "--no-sync",
        ]
        account = None if self._account == "-" else self._account
        if account:
            shutil.chown(self.folder, account, account)
        done = subprocess.run(
            command,
            user=account,
            group=account,
            extra_groups=[] if account else None,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"PostgreSQL could not make its files: {done.stderr.strip()}")

    def start(self) -> None:
        """Start serving and wait until it answers."""
        self._child.start()
        self._child.wait_until(self._answers)

    @property
    def pid(self) -> int:
        """The process id of the one that all others of the cluster belong to."""
        return self._child.pid

    def stop(self) -> None:
        """Stop in order, ending the sessions that are open."""
        self._child.stop()

    def kill(self) -> None:
        """The power cut."""
        self._child.kill()

    def remove(self) -> None:
        """Stop, and leave nothing behind."""
        self._child.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str = "postgres") -> str:
        """How libpq and SQLAlchemy reach one of its databases."""
        return f"postgresql://{OWNER}@/{database}?host={self.folder}"

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url(), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def new_database(self, template: str = "template0") -> str:
        """The address of a fresh database, a copy of `template`."""
        name = f"house_{os.getpid()}_{next(self._numbers)}"
        create_database(self.url(), name, template)
        return self.url(name)


def create_database(server: str, name: str, template: str = "template0") -> None:
    """Make a database on the server at that address."""
    with psycopg.connect(server, autocommit=True) as connection:
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        connection.execute(statement.format(sql.Identifier(name), sql.Identifier(template)))


def drop_database(server: str, name: str) -> None:
    """Remove a database and throw out whoever is in it."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
