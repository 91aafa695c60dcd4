"""Audit lines are sealed a moment after they were written, each once, in whatever order they commit."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from sync_server.audit import queries, rules, sealer
from sync_server.audit.models import AuditRow
from sync_server.audit.proof import Proof, prove
from sync_server.audit.service import AuditLine, record
from sync_server.devices import identity
from sync_server.plumbing.requests.principals import ActionContext, Actor
from sync_server.workers import Worker
from tests.app_server import AppServer
from tests.builders import an_id

MARQUEE, RIVALS, THIRD = an_id("marquee"), an_id("rivals"), an_id("third")

OLGA = Actor("user", "olga", "192.0.2.7", "a browser")


def note(
    session: Session, app_server: AppServer, organisation: str | None, subject: str, *, at: int | None = None
) -> None:
    """One line about a ticket."""
    context = ActionContext(OLGA, app_server.now if at is None else at, app_server.entropy)
    record(session, AuditLine(context, "ticket_blocked", "ticket", subject, organisation, after={"state": "x"}))


def write(app_server: AppServer, organisation: str | None, *subjects: str) -> None:
    """Some lines, in one transaction, a millisecond apart, so that later transactions have later lines."""
    with app_server.database.writing() as session:
        for subject in subjects:
            app_server.advance(1)
            note(session, app_server, organisation, subject)


def seal(app_server: AppServer) -> int:
    """One run of a sealer."""
    with app_server.database.writing() as session:
        return sealer.seal_waiting(
            session, app_server.context(), key=partial(identity.private_key, sealer=app_server.parts.sealer)
        )


def proof(app_server: AppServer, chain: str) -> Proof:
    with app_server.database.reading() as session:
        return prove(session, chain, public=identity.public_key(session, app_server.parts.sealer))


def order(app_server: AppServer, chain: str) -> list[str]:
    """What the lines of a chain are about, in the order of their seals."""
    with app_server.database.reading() as session:
        return [row.subject_id for row in queries.in_order(session, chain, after_seq=0, limit=100_000)]


@contextmanager
def another(app_server: AppServer) -> Iterator[AppServer]:
    """A second server process on the same database."""
    made = AppServer(app_server.url, app_server.folder, fresh=False)
    made.entropy = app_server.entropy
    yield made
    made.close()


def test_the_worker_seals_each_organisations_lines_into_a_chain_of_their_own(app_server: AppServer) -> None:
    write(app_server, MARQUEE, "1", "2")
    write(app_server, RIVALS, "3")
    write(app_server, None, "4")
    app_server.run_worker()
    assert [order(app_server, chain) for chain in (MARQUEE, RIVALS, rules.INSTALLATION)] == [
        ["1", "2"],
        ["3"],
        ["4"],
    ]
    found = proof(app_server, MARQUEE)
    assert (found.broken, found.signed, found.waiting, found.reached.seq) == (None, True, 0, 2)


def test_sealing_again_changes_nothing(app_server: AppServer) -> None:
    write(app_server, MARQUEE, "1")
    assert seal(app_server) == 1
    before = proof(app_server, MARQUEE)
    app_server.advance(60_000)
    assert seal(app_server) == 0
    assert proof(app_server, MARQUEE) == before


def test_waiting_lines_are_counted(app_server: AppServer) -> None:
    write(app_server, MARQUEE, "1")
    seal(app_server)
    write(app_server, MARQUEE, "2", "3")
    found = proof(app_server, MARQUEE)
    assert (found.reached.seq, found.waiting, found.waiting_since, found.broken) == (1, 2, app_server.now - 1, None)


def test_a_line_whose_time_lies_before_sealed_ones_is_sealed_after_them(app_server: AppServer) -> None:
    write(app_server, MARQUEE, "1")
    seal(app_server)
    with app_server.database.writing() as session:
        note(session, app_server, MARQUEE, "late", at=app_server.now - 60_000)
    seal(app_server)
    assert order(app_server, MARQUEE) == ["1", "late"]
    assert proof(app_server, MARQUEE).broken is None


def test_lines_of_one_transaction_keep_their_order_though_their_time_is_the_same(app_server: AppServer) -> None:
    with app_server.database.writing() as session:
        for number in range(20):
            note(session, app_server, MARQUEE, str(number))
    seal(app_server)
    assert order(app_server, MARQUEE) == [str(number) for number in range(20)]


def test_a_line_that_was_rolled_back_leaves_no_gap(app_server: AppServer) -> None:
    write(app_server, MARQUEE, "1")
    with pytest.raises(ZeroDivisionError), app_server.database.writing() as session:
        note(session, app_server, MARQUEE, "never")
        raise ZeroDivisionError
    write(app_server, MARQUEE, "2")
    seal(app_server)
    assert order(app_server, MARQUEE) == ["1", "2"] and proof(app_server, MARQUEE).broken is None


def test_a_line_that_commits_after_later_ones_were_sealed_is_not_skipped(postgres_url: str, tmp_path: Path) -> None:
    app_server = AppServer(postgres_url, tmp_path)
    with app_server.database.writing() as slow:
        note(slow, app_server, MARQUEE, "slow", at=app_server.now - 1)
        slow.flush()
        write(app_server, MARQUEE, "quick")
        assert seal(app_server) == 1
    assert seal(app_server) == 1
    assert order(app_server, MARQUEE) == ["quick", "slow"]
    assert proof(app_server, MARQUEE).broken is None
    app_server.close()


def test_two_sealers_at_once_seal_every_line_once(app_server: AppServer) -> None:
    chains = [MARQUEE, RIVALS, THIRD]
    for batch in range(60):
        write(app_server, chains[batch % 3], *(f"{batch}/{number}" for number in range(5)))
    start = threading.Barrier(2)

    def work(server: AppServer) -> int:
        start.wait(30)
        done = 0
        for _ in range(10):
            done += seal(server)
        return done

    with another(app_server) as second, ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(work, (app_server, second))) == 300
    for chain in chains:
        assert len(set(order(app_server, chain))) == len(order(app_server, chain)) == 100
        assert proof(app_server, chain).broken is None


def test_sealers_and_writers_at_once(app_server: AppServer) -> None:
    """Four writers and two sealers at once; at the end no line is missing or sealed twice."""
    written = threading.Event()

    def some(side: int) -> None:
        for number in range(25):
            write(app_server, MARQUEE, f"{side}/{number}")

    def go_on(server: AppServer) -> None:
        while not written.is_set():
            seal(server)

    with another(app_server) as second, ThreadPoolExecutor(6) as pool:
        sealers = [pool.submit(go_on, server) for server in (app_server, second)]
        writers = [pool.submit(some, side) for side in range(4)]
        for writer in writers:
            writer.result()
        written.set()
        for busy in sealers:
            busy.result()
    seal(app_server)
    assert sorted(order(app_server, MARQUEE)) == sorted(f"{side}/{number}" for side in range(4) for number in range(25))
    assert proof(app_server, MARQUEE).broken is None


def test_a_rush_of_two_thousand_lines_is_sealed_in_a_few_rounds(app_server: AppServer) -> None:
    for batch in range(20):
        write(app_server, MARQUEE, *(f"{batch}/{number}" for number in range(100)))
    rounds = 0
    while seal(app_server):
        rounds += 1
    with app_server.database.reading() as session:
        assert rounds == 2_000 / sealer.batch_limit(session)
    assert len(order(app_server, MARQUEE)) == 2_000
    assert proof(app_server, MARQUEE).broken is None


def test_a_rush_does_not_queue_behind_a_sealer_that_holds_the_chain(postgres_url: str, tmp_path: Path) -> None:
    """Nothing that writers do may need the head: a sealer keeps it locked until all of them are done."""
    app_server = AppServer(postgres_url, tmp_path)
    write(app_server, MARQUEE, "first")
    seal(app_server)
    write(app_server, MARQUEE, "second")

    def some(side: int) -> None:
        for number in range(250):
            write(app_server, MARQUEE, f"{side}/{number}")

    with app_server.database.writing() as held:
        key = partial(identity.private_key, sealer=app_server.parts.sealer)
        assert sealer.seal_waiting(held, app_server.context(), key=key) == 1
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(some, range(8)))
        assert seal(app_server) == 0
    while seal(app_server):
        pass
    assert len(order(app_server, MARQUEE)) == 2_002
    assert proof(app_server, MARQUEE).broken is None
    app_server.close()


def test_longest_waiting_chains_come_first_when_there_is_too_much_for_one_round(
    app_server: AppServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealer, "batch_limit", lambda _session: 3)
    write(app_server, RIVALS, "1", "2", "3")
    write(app_server, MARQUEE, "4")
    assert seal(app_server) == 3
    assert (order(app_server, RIVALS), order(app_server, MARQUEE)) == (["1", "2", "3"], [])
    assert seal(app_server) == 1


def test_the_worker_continues_while_there_is_more_to_seal(
    app_server: AppServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealer, "batch_limit", lambda _session: 3)
    write(app_server, MARQUEE, *"12345678")
    worker = Worker(app_server.parts)
    for _ in range(3):
        worker.run_once()
    assert proof(app_server, MARQUEE).waiting == 0
    write(app_server, MARQUEE, "9")
    worker.run_once()
    assert proof(app_server, MARQUEE).waiting == 1


def test_sealed_lines_are_no_longer_waiting(app_server: AppServer) -> None:
    write(app_server, MARQUEE, "1")
    seal(app_server)
    with app_server.database.reading() as session:
        row = session.execute(select(AuditRow).where(AuditRow.organisation_id == MARQUEE)).scalar_one()
    assert row.seq == 1 and row.seal is not None and len(row.seal) == 32
