"""What gates hold changes in commit order, can be followed from any revision, and looked up as it was."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from shared.snapshot import Row, RowKind, pack
from sync_server.revisions import queries, service
from tests.contracts.server.following import EVENT, Follower, put, zone
from tests.office import Office


@pytest.fixture(autouse=True)
def _an_event(office: Office) -> None:
    with office.database.writing() as session:
        service.open_head(session, EVENT)


def gone(number: int) -> Row:
    return Row(RowKind.ZONE, number, None)


def test_a_transaction_raises_the_revision_once_however_much_it_changes(office: Office) -> None:
    put(office, zone(1, "Floor"), zone(2, "Balcony"))
    put(office, zone(1, "Floor"))  # nothing new
    with office.database.reading() as session:
        head = queries.head(session, EVENT)
    assert head is not None and head.revision == 1


def test_a_transaction_that_fails_leaves_nothing(office: Office) -> None:
    with pytest.raises(RuntimeError), office.database.writing() as session:
        service.put(session, EVENT, [zone(1, "Floor")])
        raise RuntimeError
    put(office, zone(2, "Balcony"))
    follower = Follower(office)
    follower.catch_up()
    assert follower.revision == 1 and len(follower.rows) == 1


def test_a_gate_that_follows_in_small_steps_sees_each_state_whole(office: Office) -> None:
    put(office, *(zone(n, "first") for n in range(1, 6)))
    put(office, zone(1, "second"), gone(2))
    put(office, zone(1, "third"), zone(6, "new"))
    put(office, zone(2, "back again"))
    follower = Follower(office)
    steps = []
    while follower.follow(limit=2):
        steps.append(follower.revision)
    assert steps == [1, 2, 3, 4]  # a revision is never split, and none is joined beyond the limit
    assert pack(zone(1, "third")) in follower.rows.values()


def test_a_change_of_more_rows_than_gates_take_at_once_comes_in_parts(office: Office) -> None:
    """A gate that has some of them must not believe that it knows every ticket of that time."""
    put(office, zone(1, "Floor"))
    before = office.now
    office.now += 60_000
    put(office, *(zone(n, "moved") for n in range(1, 20_002)))
    follower = Follower(office)
    follower.catch_up()
    assert (follower.revision, len(follower.rows)) == (6, 20_001)
    with office.database.reading() as session:
        parts = [queries.rows_after(session, EVENT, known, 5_000) for known in range(1, 6)]
    assert [(len(part.rows), part.at) for part in parts if part] == [*[(5_000, before)] * 4, (1, office.now)]


def test_a_row_can_be_looked_up_as_it_was_at_a_revision_and_at_a_time(office: Office) -> None:
    times = {}
    for name in ("first", "second"):
        put(office, zone(1, name))
        times[name] = office.now
        office.advance(1_000)
    put(office, gone(1))
    with office.database.reading() as session:
        at = [queries.row_at_revision(session, EVENT, RowKind.ZONE, 1, revision) for revision in range(4)]
        then = queries.row_at_time(session, EVENT, RowKind.ZONE, 1, times["second"] - 1)
        kind = queries.rows_at_revision(session, EVENT, RowKind.ZONE, 2)
    assert at == [None, pack(zone(1, "first")), pack(zone(1, "second")), None]
    assert then == pack(zone(1, "first")) and kind == [pack(zone(1, "second"))]


def test_ticket_ids_above_the_signed_range_are_found_again(office: Office) -> None:
    high = Row(RowKind.TICKET, 2**64 - 3, b"x")
    put(office, high, Row(RowKind.TICKET, 5, b"y"))
    put(office, Row(RowKind.TICKET, 2**64 - 3, b"z"))
    with office.database.reading() as session:
        rows = queries.frame_rows(session, EVENT, 0, 0, 1)
        rest = queries.frame_rows(session, EVENT, rows[0].kind, rows[0].key, 5)
        old = queries.row_at_revision(session, EVENT, RowKind.TICKET, 2**64 - 3, 1)
    assert {row.key for row in rows + rest} == {5, 2**64 - 3} and old == high


def test_a_position_beyond_the_head_cannot_be_continued_from(office: Office) -> None:
    put(office, zone(1, "Floor"))
    with office.database.reading() as session:
        assert queries.rows_after(session, EVENT, 5, 10) is None
        assert queries.rows_after(session, 999, 0, 10) is None


def test_a_renewed_lineage_is_another_one(office: Office) -> None:
    with office.database.writing() as session:
        before = service.ensure_lineage(session, office.dice, office.now)
        after = service.renew_lineage(session, office.dice, office.now)
    assert before != after and len(after) == 8


def test_arrival_numbers_never_repeat_and_never_skip(office: Office) -> None:
    def take(count: int) -> range:
        with office.database.writing() as session:
            return service.allot_arrivals(session, EVENT, count)

    with ThreadPoolExecutor(4) as pool:
        taken = [number for numbers in pool.map(take, [1, 5, 3, 2, 4, 1]) for number in numbers]
    assert sorted(taken) == list(range(1, 17))


def test_a_reader_following_many_writers_never_steps_over_a_revision(office: Office) -> None:
    def write(writer: int) -> None:
        for turn in range(12):
            put(office, zone(writer * 100 + turn % 5, f"{writer} {turn}"), zone(999, f"{writer} {turn}"))

    follower = Follower(office)
    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(write, writer) for writer in range(4)]
        while not all(task.done() for task in running):
            follower.follow()
        for task in running:
            task.result()
    follower.catch_up()
    with office.database.reading() as session:
        assert queries.head(session, EVENT).revision == 48  # type: ignore[union-attr]
        assert set(queries.frame_rows(session, EVENT, 0, 0, 1_000)) == set(follower.rows.values())
