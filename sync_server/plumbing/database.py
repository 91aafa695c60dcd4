"""The database, SQLite or PostgreSQL: its engines and sessions, and what runs before and after each commit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final

import orjson
from psycopg.pq import ExecStatus, TransactionStatus
from sqlalchemy import Connection, Dialect, Engine, ExceptionContext, create_engine, event, make_url
from sqlalchemy.orm import Session

from shared.clock import Clock, Millis
from shared.ids import Entropy
from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.few_at_once import FewAtOnce
from sync_server.plumbing.ports import Ports
from sync_server.plumbing.private_files import create_private
from sync_server.plumbing.signals import Signals
from sync_server.plumbing.sql import index_hints, late_writes, statement_spans
from sync_server.plumbing.sql.autocommit import AutocommitPool, Pooler
from sync_server.plumbing.sql.connecting import NO_LIMITS, Limits, arguments, connect_patiently
from sync_server.plumbing.sql.failures import leave_values_out
from sync_server.plumbing.sql.group_commit import GroupCommit
from sync_server.plumbing.sql.late_writes import LateWritingSession
from sync_server.plumbing.sql.living_connections import replace_dead_connections
from sync_server.plumbing.telemetry.spans import NO_SPANS, Spans

COMMITS: ContextVar[int] = ContextVar("commits", default=0)
"""How often this thread, or this request, has committed: nothing of it may be run again once it has."""
WRITERS_AT_AN_EVENT: Final = 2
"""One has the event's lock, another composes what it will write behind it. More would only take the interpreter, and
connections that have nothing prepared, from the one that all wait for."""
PATIENCE_S: Final = 5.0
"""So long a request waits for others of its process: should they be stuck, it asks the database itself."""
_STATEMENTS_KEPT: Final = 400
"""Prepared statements of a connection: more than the requests of an evening send, so that none is prepared in turns."""
BeforeCommit = Callable[[Session, Millis], None]


class Database:
    """Hands out sessions, for reading and for writing."""

    def __init__(
        self,
        engine: Engine,
        *,
        clock: Clock,
        entropy: Entropy,
        pooler: Pooler = Pooler.NONE,
        limits: Limits = NO_LIMITS,
    ) -> None:
        """`clock` and `entropy` serve what runs before each commit."""
        self.engine = engine
        self.clock = clock
        self.entropy = entropy
        self.embedded = engine.dialect.name == "sqlite"
        self.before_commit: list[BeforeCommit] = []
        self.signals = Signals()
        self.ports = Ports()
        self._info = {"database": self, "signals": self.signals, "ports": self.ports}
        self.spans = NO_SPANS
        self.wake_ups: list[Callable[[], None]] = []
        self.wake_job: Callable[[str], None] = lambda _job: None  # see `waking`
        self.work_pending = threading.Event()  # set after commits that leave work for the worker: facts to deliver
        self._writers = engine.execution_options(writes=True)
        self._readers = (
            engine
            if self.embedded
            else engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        )
        alone: dict[str, Any] = {"begins": False} if self.embedded else {"isolation_level": "AUTOCOMMIT"}
        self._autocommit = engine.execution_options(**alone)
        self._writer_lock = threading.RLock()
        self.writers_at = FewAtOnce(WRITERS_AT_AN_EVENT, patience_s=PATIENCE_S)
        url = engine.url.render_as_string(hide_password=False)
        self.autocommit = None if self.embedded else AutocommitPool(url, pooler, limits=limits)
        self.group_commit = GroupCommit(engine, self._writer_lock) if self.embedded else None

    def record(self, spans: Spans) -> None:
        """Make a span of each statement, and of each group of writes."""
        self.spans = spans
        if not spans.on:
            return
        statement_spans.record(self.engine, spans)
        for batches in (self.autocommit, self.group_commit):
            if batches is not None:
                batches.spans = spans

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session with one snapshot of the database."""
        with Session(self._readers, expire_on_commit=False) as session:
            session.info.update(self._info)
            yield session
            session.commit()  # a rollback would make the driver forget all statements that it has prepared

    @contextmanager
    def autocommit_reading(self) -> Iterator[Session]:
        """A session in which each statement has a snapshot of its own.

        On PostgreSQL it saves the round trips that begin and end a transaction, for reads with very many requests.
        """
        with Session(self._autocommit, expire_on_commit=False) as session:
            session.info.update(self._info)
            yield session

    @contextmanager
    def writing(self, event_in_demand: EventKey | None = None) -> Iterator[Session]:
        """One transaction: committed at the end, after `before_commit` has run, or rolled back as a whole.

        Where it will lock an event that many may want at the same moment, it is one of a few at a time that do.
        """
        wake_ups: list[Callable[[], None]] = []
        with (
            self._turn(event_in_demand),
            LateWritingSession(self._writers, expire_on_commit=False) as session,
            session.begin(),
        ):
            session.info.update(self._info, after_commit=wake_ups)
            yield session
            session.flush()
            late_writes.begin(session)
            for act in self.before_commit:
                act(session, self.clock())
            event.listen(session, "before_commit", late_writes.send, once=True)  # after all who write there
        COMMITS.set(COMMITS.get() + 1)
        for wake_up in wake_ups:
            wake_up()

    def note_work(self) -> None:
        """Note that a commit has left work; whoever does it clears the note before looking."""
        if not self.work_pending.is_set():
            self.work_pending.set()

    def wake_workers(self) -> None:
        """Wake those who do the work that commits leave, in this process and in others."""
        self.note_work()
        for wake_up in self.wake_ups:
            wake_up()

    def _turn(self, event_in_demand: EventKey | None) -> AbstractContextManager[Any]:
        if self.embedded:
            return self._writer_lock  # SQLite's own busy wait is unfair and slow; a lock in this process is neither
        return nullcontext() if event_in_demand is None else self.writers_at.turn(event_in_demand)

    def close(self) -> None:
        """Close all connections."""
        if self.autocommit is not None:
            self.autocommit.close()
        if self.group_commit is not None:
            self.group_commit.close()
        self.engine.dispose()


def database_of(session: Session) -> Database:
    """The database of a session."""
    database: Database = session.info["database"]
    return database


def after_commit(session: Session, wake_up: Callable[[], None]) -> None:
    """Call `wake_up` after the commit of this transaction, and not after a rollback."""
    session.info["after_commit"].append(wake_up)


def open_engine(url: str, *, connections: int = 40, pooler: Pooler = Pooler.NONE, limits: Limits = NO_LIMITS) -> Engine:
    """An engine for this URL, with the pool and the pragmas that the server needs."""
    if make_url(url).get_backend_name() == "sqlite":
        return _embedded(url)
    engine = create_engine(
        url,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=15,
        json_deserializer=orjson.loads,
        pool_use_lifo=True,  # those used last have their statements prepared, and PostgreSQL its plans
        hide_parameters=True,
        connect_args={
            **arguments(limits, pooled=pooler is not Pooler.NONE),
            **({} if pooler.prepares else {"prepare_threshold": None}),
        },
    )
    event.listen(engine, "do_connect", _connect_patiently)
    event.listen(engine, "connect", _keep_statements)
    engine.dialect.do_rollback = _roll_back  # type: ignore[assignment]  # no event says that a transaction ends
    event.listen(engine, "handle_error", _leave_values_out)
    replace_dead_connections(engine)
    return engine


def _connect_patiently(dialect: Dialect, _record: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    return connect_patiently(lambda: dialect.connect(*given, **named))


def _keep_statements(connection: Any, _record: Any) -> None:
    connection.prepared_max = _STATEMENTS_KEPT


def _roll_back(connection: Any) -> None:
    """End a transaction that was refused, and keep its prepared statements, which the driver would forget.

    Where a statement has failed the driver ends it: it may take one for prepared that PostgreSQL never saw.
    """
    sent = connection.pgconn
    if sent.transaction_status != TransactionStatus.INTRANS or sent.exec_(b"ROLLBACK").status != ExecStatus.COMMAND_OK:
        connection.rollback()


def _leave_values_out(failure: ExceptionContext) -> None:
    """Remove the values that PostgreSQL quotes in errors: they may be personal, and errors are logged."""
    leave_values_out(failure.original_exception, failure.sqlalchemy_exception)


def _embedded(url: str) -> Engine:
    file = make_url(url).database
    if file:
        Path(file).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        create_private(Path(file))
    engine = create_engine(
        url,
        connect_args={"timeout": 30, "check_same_thread": False},
        pool_size=64,
        max_overflow=256,
        hide_parameters=True,
        json_deserializer=orjson.loads,
    )
    index_hints.understand(engine)
    event.listen(engine, "connect", _prepare_embedded)
    event.listen(engine, "begin", _begin_embedded)
    return engine


def _prepare_embedded(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # we send BEGIN ourselves: the driver sends it too late for readers
    cursor = connection.cursor()
    # FULL, as at the gates: the server must not lose a scan that a gate has deleted on its word.
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "temp_store=MEMORY", "cache_size=-32000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_embedded(connection: Connection) -> None:
    options = connection.get_execution_options()
    if options.get("begins", True):
        connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get("writes") else "BEGIN")
