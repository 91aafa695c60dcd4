"""A private PgBouncer in front of a private PostgreSQL, on its own port, with nothing but its own folder."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Mapping
from configparser import ConfigParser
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from scripts.private_services.installed import find_program
from scripts.processes.child import Child
from scripts.processes.ports import LOOPBACK, free_port

PROGRAMS = "usr/sbin"
PREPARED_SINCE = (1, 21)


class PgBouncerServer:
    """A pooler in front of one database."""

    def __init__(self, database_url: str, settings: Mapping[str, str]) -> None:
        """`settings` are those of its section `pgbouncer`; where it listens, logs and asks for passwords is private."""
        self._database = urlsplit(database_url)
        self._program = find_program("pgbouncer", "pgbouncer", PROGRAMS)
        # It refuses to run as root: it then runs under the account of Debian's package for PostgreSQL.
        account = "postgres" if os.geteuid() == 0 else "-"
        self.folder, self.port = Path(tempfile.mkdtemp(prefix="gatehouse-pgbouncer-")), free_port()
        file = self.folder / "pgbouncer.ini"
        with file.open("w") as opened:
            self._configuration(settings).write(opened)
        if account != "-":
            shutil.chown(self.folder, account, account)
            shutil.chown(file, account, account)
        self._child = Child("PgBouncer", [self._program, str(file)], self.folder / "log", user=account)

    def _configuration(self, settings: Mapping[str, str]) -> ConfigParser:
        made = ConfigParser(interpolation=None)
        name, port = self._database.path.removeprefix("/"), self._database.port or 5432
        host = self._database.hostname or parse_qs(self._database.query)["host"][0]
        private = {"listen_addr": LOOPBACK, "listen_port": str(self.port), "unix_socket_dir": "", "auth_type": "any"}
        left_out = {"auth_file", "logfile", "pidfile"} | (set() if self.prepares else {"max_prepared_statements"})
        made["databases"] = {name: f"host={host} port={port} dbname={name} user={self._database.username}"}
        made["pgbouncer"] = {key: value for key, value in settings.items() if key not in left_out} | private
        return made

    @property
    def prepares(self) -> bool:
        """Whether this version keeps prepared statements apart from connections."""
        done = subprocess.run([self._program, "--version"], capture_output=True, text=True, check=True)
        found = re.search(r"(\d+)\.(\d+)", done.stdout)
        return found is not None and (int(found[1]), int(found[2])) >= PREPARED_SINCE

    @property
    def url(self) -> str:
        """URL of the database through the pooler."""
        return f"postgresql://{self._database.username}@{LOOPBACK}:{self.port}{self._database.path}?gssencmode=disable"

    def start(self) -> None:
        """Start it, and wait until it accepts connections."""
        self._child.start()
        self._child.wait_until(self._responds)

    def _responds(self) -> bool:
        with suppress(OSError), socket.create_connection((LOOPBACK, self.port), timeout=2):
            return True
        return False

    def remove(self) -> None:
        """Kill it and delete its files."""
        self._child.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
