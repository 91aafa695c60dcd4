"""Judges each migration in its own transaction, and notes which programs can serve the schema after it."""

from __future__ import annotations

from typing import Any

from alembic.script import ScriptDirectory
from sqlalchemy import Connection, delete, insert, inspect, select

from shared.errors import Conflict
from sync_server.migrations.expanding import contractions, reflected
from sync_server.migrations.models import ServedRevision


class Steps:
    """The migrations that are applied to a database, one after another."""

    def __init__(
        self, connection: Connection, scripts: ScriptDirectory, here: str | None, *, contracting: bool
    ) -> None:
        """From the revision `here`; without `contracting`, no migration may shut out the programs before it."""
        self._scripts, self._contracting = scripts, contracting
        self._before = None if here is None else reflected(connection)

    def applied(self, *, ctx: Any, step: Any, **_: object) -> None:
        """Alembic calls this in the transaction of each migration. Conflict, which rolls it back, for a contraction."""
        connection, revision = ctx.connection, step.up_revision_id
        missed = []
        if self._before is not None:
            after = reflected(connection)
            # Values can change their meaning where no column does: that the migration says itself.
            said = str(getattr(self._scripts.get_revision(revision).module, "contracts", ""))
            missed, self._before = [*([said] if said else []), *contractions(self._before, after)], after
        if missed and not self._contracting:
            raise Conflict(
                f"Migration {revision} removes what servers of earlier releases still use ({missed[0]}"
                f"{f', and {len(missed) - 1} more' if len(missed) > 1 else ''}). It was not applied. Stop all servers "
                "and workers of earlier releases, then run `gatehouse-server migrate --contracting`.",
                code="schema_contracts",
            )
        if missed:
            connection.execute(delete(ServedRevision))
        connection.execute(insert(ServedRevision).values(revision=revision))


def serves(connection: Connection, newest: str) -> bool:
    """Whether the program whose newest revision this is can serve the schema, which a newer one has made."""
    noted = select(ServedRevision.revision).where(ServedRevision.revision == newest)
    return inspect(connection).has_table(ServedRevision.__tablename__) and connection.execute(noted).first() is not None
