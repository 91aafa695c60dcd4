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

from sync_server.audit import queries, sealer
from sync_server.audit.models import AuditRow
from sync_server.audit.proof import Proof, prove
from sync_server.audit.service import AuditLine, record
from sync_server.devices import identity
from sync_server.plumbing.principals import Actor
from sync_server.workers import Worker
from tests.office import Office

OLGA = Actor("user", "olga", "192.0.2.7", "a browser")


def note(session: Session, office: Office, organisation: str | None, subject: str, *, at: int | None = None) -> None:
    """One line about a ticket."""
    moment = office.now if at is None else at
    record(session, AuditLine(OLGA, "ticket_blocked", "ticket", subject, organisation, moment, after={"state": "x"}))


def write(office: Office, organisation: str | None, *subjects: str) -> None:
    """Some lines, in one transaction, a millisecond apart, so that later transactions have later lines."""
    with office.database.writing() as session:
        for subject in subjects:
            office.advance(1)
            note(session, office, organisation, subject)


def seal(office: Office) -> int:
    """One round of a sealer."""
    with office.database.writing() as session:
        return sealer.seal_waiting(
            session, office.deed(), key=partial(identity.private_key, sealer=office.parts.sealer)
        )


def proof(office: Office, chain: str) -> Proof:
    with office.database.reading() as session:
        return prove(session, chain, public=identity.public_key(session, office.parts.sealer))


def order(office: Office, chain: str) -> list[str]:
    """What the lines of a chain are about, in the order of their seals."""
    with office.database.reading() as session:
        return [row.subject_id for row in queries.in_order(session, chain, after_seq=0, limit=100_000)]


@contextmanager
def another(office: Office) -> Iterator[Office]:
    """A second server process on the same database."""
    made = Office(office.url, office.folder, fresh=False)
    made.dice = office.dice
    yield made
    made.close()


def test_the_worker_seals_each_organisations_lines_into_a_chain_of_their_own(office: Office) -> None:
    write(office, "marquee", "1", "2")
    write(office, "rivals", "3")
    write(office, None, "4")
    office.work()
    assert [order(office, chain) for chain in ("marquee", "rivals", queries.INSTALLATION)] == [["1", "2"], ["3"], ["4"]]
    found = proof(office, "marquee")
    assert (found.broken, found.signed, found.waiting, found.reached.seq) == (None, True, 0, 2)


def test_sealing_again_changes_nothing(office: Office) -> None:
    write(office, "marquee", "1")
    assert seal(office) == 1
    before = proof(office, "marquee")
    office.advance(60_000)
    assert seal(office) == 0
    assert proof(office, "marquee") == before


def test_what_waits_is_told(office: Office) -> None:
    write(office, "marquee", "1")
    seal(office)
    write(office, "marquee", "2", "3")
    found = proof(office, "marquee")
    assert (found.reached.seq, found.waiting, found.waiting_since, found.broken) == (1, 2, office.now - 1, None)


def test_a_line_whose_time_lies_before_sealed_ones_is_sealed_after_them(office: Office) -> None:
    write(office, "marquee", "1")
    seal(office)
    with office.database.writing() as session:
        note(session, office, "marquee", "late", at=office.now - 60_000)
    seal(office)
    assert order(office, "marquee") == ["1", "late"]
    assert proof(office, "marquee").broken is None


def test_lines_of_one_transaction_keep_their_order_though_their_time_is_the_same(office: Office) -> None:
    with office.database.writing() as session:
        for number in range(20):
            note(session, office, "marquee", str(number))
    seal(office)
    assert order(office, "marquee") == [str(number) for number in range(20)]


def test_a_line_that_was_rolled_back_leaves_no_gap(office: Office) -> None:
    write(office, "marquee", "1")
    with pytest.raises(ZeroDivisionError), office.database.writing() as session:
        note(session, office, "marquee", "never")
        raise ZeroDivisionError
    write(office, "marquee", "2")
    seal(office)
    assert order(office, "marquee") == ["1", "2"] and proof(office, "marquee").broken is None


def test_a_line_that_commits_after_later_ones_were_sealed_is_not_skipped(postgres_url: str, tmp_path: Path) -> None:
    office = Office(postgres_url, tmp_path)
    with office.database.writing() as slow:
        note(slow, office, "marquee", "slow", at=office.now - 1)
        slow.flush()
        write(office, "marquee", "quick")
        assert seal(office) == 1
    assert seal(office) == 1
    assert order(office, "marquee") == ["quick", "slow"]
    assert proof(office, "marquee").broken is None
    office.close()


def test_two_sealers_at_once_seal_every_line_once(office: Office) -> None:
    chains = ["marquee", "rivals", "third"]
    for turn in range(60):
        write(office, chains[turn % 3], *(f"{turn}/{number}" for number in range(5)))
    start = threading.Barrier(2)

    def work(server: Office) -> int:
        start.wait(30)
        done = 0
        for _ in range(10):
            done += seal(server)
        return done

    with another(office) as second, ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(work, (office, second))) == 300
    for chain in chains:
        assert len(set(order(office, chain))) == len(order(office, chain)) == 100
        assert proof(office, chain).broken is None


def test_sealers_and_writers_at_once(office: Office) -> None:
    """Lines come from four sides while two sealers work; at the end none is missing and none is doubled."""
    written = threading.Event()

    def some(side: int) -> None:
        for number in range(25):
            write(office, "marquee", f"{side}/{number}")

    def go_on(server: Office) -> None:
        while not written.is_set():
            seal(server)

    with another(office) as second, ThreadPoolExecutor(6) as pool:
        sealers = [pool.submit(go_on, server) for server in (office, second)]
        writers = [pool.submit(some, side) for side in range(4)]
        for writer in writers:
            writer.result()
        written.set()
        for busy in sealers:
            busy.result()
    seal(office)
    assert sorted(order(office, "marquee")) == sorted(f"{side}/{number}" for side in range(4) for number in range(25))
    assert proof(office, "marquee").broken is None


def test_a_rush_of_two_thousand_lines_is_sealed_in_a_few_rounds(office: Office) -> None:
    for turn in range(20):
        write(office, "marquee", *(f"{turn}/{number}" for number in range(100)))
    rounds = 0
    while seal(office):
        rounds += 1
    with office.database.reading() as session:
        assert rounds == 2_000 / sealer.at_once(session)
    assert len(order(office, "marquee")) == 2_000
    assert proof(office, "marquee").broken is None


def test_a_rush_does_not_queue_behind_a_sealer_that_holds_the_chain(postgres_url: str, tmp_path: Path) -> None:
    """Nothing that writers do may need the head: a sealer keeps it locked until all of them are done."""
    office = Office(postgres_url, tmp_path)
    write(office, "marquee", "first")
    seal(office)
    write(office, "marquee", "second")

    def some(side: int) -> None:
        for number in range(250):
            write(office, "marquee", f"{side}/{number}")

    with office.database.writing() as held:
        key = partial(identity.private_key, sealer=office.parts.sealer)
        assert sealer.seal_waiting(held, office.deed(), key=key) == 1
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(some, range(8)))
        assert seal(office) == 0
    while seal(office):
        pass
    assert len(order(office, "marquee")) == 2_002
    assert proof(office, "marquee").broken is None
    office.close()


def test_longest_waiting_chains_come_first_when_there_is_too_much_for_one_round(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealer, "at_once", lambda _session: 3)
    write(office, "rivals", "1", "2", "3")
    write(office, "marquee", "4")
    assert seal(office) == 3
    assert (order(office, "rivals"), order(office, "marquee")) == (["1", "2", "3"], [])
    assert seal(office) == 1


def test_the_worker_does_not_rest_while_there_is_more_to_seal(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealer, "at_once", lambda _session: 3)
    write(office, "marquee", *"12345678")
    worker = Worker(office.parts)
    for _ in range(3):
        worker.run_once()
    assert proof(office, "marquee").waiting == 0
    write(office, "marquee", "9")
    worker.run_once()
    assert proof(office, "marquee").waiting == 1


def test_lines_that_are_sealed_have_nothing_left_to_wait_for(office: Office) -> None:
    write(office, "marquee", "1")
    seal(office)
    with office.database.reading() as session:
        row = session.execute(select(AuditRow).where(AuditRow.organisation_id == "marquee")).scalar_one()
    assert row.seq == 1 and row.seal is not None and len(row.seal) == 32
