"""A private PostgreSQL: a cluster in a temporary folder, reached only through a socket in that folder."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import psycopg
from psycopg import sql

from scripts.private_services.installed import find_program
from scripts.processes.child import Child

OWNER = "gatehouse"
BINARIES = "usr/lib/postgresql/*/bin"
#: The cluster need not survive the machine, so nothing is forced to disk; commits still survive a kill.
#: Benchmarks ask for `durable`.
NOT_DURABLE = {"fsync": "off", "full_page_writes": "off"}
COMMON = {
    "listen_addresses": "",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "timezone": "UTC",
    "log_min_messages": "warning",
}


class PostgresServer:
    """A private cluster that tests may stop, start and kill."""

    def __init__(self, *, durable: bool = False) -> None:
        self._settings = COMMON | ({} if durable else NOT_DURABLE)
        # PostgreSQL refuses to run as root: the cluster then belongs to the account of Debian's package.
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
        """Create the cluster's files, once, before the first start."""
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
            raise RuntimeError(f"initdb failed: {done.stderr.strip()}")

    def start(self) -> None:
        """Start the server and wait until it accepts connections."""
        self._child.start()
        self._child.wait_until(self._responds)

    @property
    def pid(self) -> int:
        """The process id of the postmaster."""
        return self._child.pid

    def stop(self) -> None:
        """Stop cleanly, ending open sessions."""
        self._child.stop()

    def kill(self) -> None:
        """Kill the server, as a power cut would.

        Its backends are groups of their own, and would answer once more before they see that it is gone.
        """
        backends = self._backends() if self._child.running else []
        self._child.kill()
        for pid in backends:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _backends(self) -> list[int]:
        return [int(pid) for pid in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()]

    def remove(self) -> None:
        """Kill the server and delete its files."""
        self._child.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str = "postgres") -> str:
        """URL of one of its databases, for libpq and SQLAlchemy."""
        return f"postgresql://{OWNER}@/{database}?host={self.folder}"

    def _responds(self) -> bool:
        try:
            psycopg.connect(self.url(), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def new_database(self, template: str = "template0") -> str:
        """Create a database from `template`; return its URL."""
        name = f"gatehouse_{os.getpid()}_{next(self._numbers)}"
        create_database(self.url(), name, template)
        return self.url(name)


def create_database(server: str, name: str, template: str = "template0") -> None:
    """Create a database on the server at that URL."""
    with psycopg.connect(server, autocommit=True) as connection:
        # Copying files costs a quarter of writing every page to the log first.
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY")
        connection.execute(statement.format(sql.Identifier(name), sql.Identifier(template)))


def drop_database(server: str, name: str) -> None:
    """Drop a database, ending its sessions."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
