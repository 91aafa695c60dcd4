"""What many tests begin with: made once in each process for each kind of database, and copied for every test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from tests.app_server import AppServer

T = TypeVar("T")


@dataclass
class StartingPoint(Generic[T]):
    """A scenario in a database that is only ever copied."""

    make: Callable[[AppServer], T]
    moved: Callable[[T, AppServer], T]  # the same at another server, whose database is a copy
    folder: Path
    _made: dict[str, T] = field(default_factory=dict)

    def prepare(self, url: str) -> None:
        """Let the scenario happen in this database, which nobody uses afterwards."""
        # Ids of its own: what a test makes must not get the same again.
        server = AppServer(url, self.folder, seed="what was before")
        try:
            self._made[server.database.engine.dialect.name] = self.make(server)
        finally:
            server.close()

    def at(self, app_server: AppServer) -> T:
        """The scenario, as it stands in the database of this server."""
        return self.moved(self._made[app_server.database.engine.dialect.name], app_server)
