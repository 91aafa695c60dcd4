"""The database, SQLite or PostgreSQL: every difference between the two lives here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, ExceptionContext, create_engine, event, make_url
from sqlalchemy.orm import Session

from shared.clock import Clock, Millis
from shared.ids import Entropy
from sync_server.plumbing.straight import Straight
from sync_server.plumbing.together import Together

LastAct = Callable[[Session, Millis], None]
Handler = Callable[[Session, Any, Millis], None]


class Database:
    """Hands out sessions: one way to read, one way to write."""

    def __init__(self, engine: Engine, *, clock: Clock, entropy: Entropy) -> None:
        """`clock` gives the time of last acts; `entropy` the ids that a transaction needs by the way."""
        self.engine = engine
        self.clock = clock
        self.entropy = entropy
        self.embedded = engine.dialect.name == "sqlite"
        self.last_acts: list[LastAct] = []
        self.handlers: dict[str, list[Handler]] = {}
        self.wake_ups: list[Callable[[], None]] = []
        self.stirred = threading.Event()  # set after commits that leave work behind: facts to deliver
        self._writers = engine.execution_options(writes=True)
        self._readers = (
            engine
            if self.embedded
            else engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        )
        self._glancers = engine if self.embedded else engine.execution_options(isolation_level="AUTOCOMMIT")
        self._turn = threading.RLock()
        self.straight = None if self.embedded else Straight(engine.url.render_as_string(hide_password=False))
        self.together = Together(engine, self._turn) if self.embedded else None

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session over one unchanging state of the database."""
        with Session(self._readers, expire_on_commit=False) as session:
            session.info["database"] = self
            yield session

    @contextmanager
    def glancing(self) -> Iterator[Session]:
        """A session of which each statement sees its own moment: for crowds whose reads need no common one.

        On PostgreSQL it saves the round trips that begin and end a transaction.
        """
        with Session(self._glancers, expire_on_commit=False) as session:
            session.info["database"] = self
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """One transaction: committed at the end with its last acts, or rolled back whole."""
        wake_ups: list[Callable[[], None]] = []
        with self._one_writer(), Session(self._writers, expire_on_commit=False) as session, session.begin():
            session.info.update(database=self, after_commit=wake_ups)
            yield session
            session.flush()
            for act in self.last_acts:
                act(session, self.clock())
        for wake_up in wake_ups:
            wake_up()

    def stir(self) -> None:
        """Wake whoever does the work that commits leave behind, in this process and wherever else was wired."""
        self.stirred.set()
        for wake_up in self.wake_ups:
            wake_up()

    def when(self, happening: str, handler: Handler) -> None:
        """Let a higher floor act inside the transaction in which something happens on a lower one."""
        self.handlers.setdefault(happening, []).append(handler)

    def _one_writer(self) -> AbstractContextManager[Any]:
        # SQLite's own waiting for a busy database is unfair and slow; a queue in this process is neither.
        return self._turn if self.embedded else nullcontext()

    def close(self) -> None:
        """Give all connections back."""
        if self.straight is not None:
            self.straight.close()
        if self.together is not None:
            self.together.close()
        self.engine.dispose()


def of(session: Session) -> Database:
    """The database that a session belongs to."""
    database: Database = session.info["database"]
    return database


def after_commit(session: Session, wake_up: Callable[[], None]) -> None:
    """Call `wake_up` once this transaction is committed, and never if it is not."""
    session.info["after_commit"].append(wake_up)


def announce(session: Session, happening: str, subject: Any, now: Millis) -> None:
    """Tell higher floors, inside this transaction, that something happens; they were wired by the app."""
    for handler in of(session).handlers.get(happening, ()):
        handler(session, subject, now)


def open_engine(url: str, *, connections: int = 40) -> Engine:
    """An engine for this address, set up the way this house uses it; opens no connection yet."""
    if make_url(url).get_backend_name() == "sqlite":
        return _embedded(url)
    engine = create_engine(
        url, pool_size=connections, max_overflow=0, pool_timeout=15, pool_pre_ping=True, hide_parameters=True
    )
    event.listen(engine, "handle_error", _leave_values_out)
    return engine


def _leave_values_out(failure: ExceptionContext) -> None:
    """PostgreSQL quotes the values that broke a rule: somebody's name, and an error's words end in the log."""
    detail = getattr(getattr(failure.original_exception, "diag", None), "message_detail", None)
    if not detail:
        return
    for error in (failure.original_exception, failure.sqlalchemy_exception):
        if error is not None:
            words = (each.replace(detail, "left out") if isinstance(each, str) else each for each in error.args)
            error.args = tuple(words)


def _embedded(url: str) -> Engine:
    file = make_url(url).database
    if file:
        Path(file).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(
        url,
        connect_args={"timeout": 30, "check_same_thread": False},
        pool_size=64,
        max_overflow=256,
        hide_parameters=True,
    )
    event.listen(engine, "connect", _prepare_embedded)
    event.listen(engine, "begin", _begin_embedded)
    return engine


def _prepare_embedded(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves: the driver's own idea of it is too late for readers
    cursor = connection.cursor()
    # FULL, as at the gates: the server must not forget a scan that it told a gate to forget.
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "temp_store=MEMORY", "cache_size=-32000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_embedded(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
