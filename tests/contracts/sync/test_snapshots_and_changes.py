"""Snapshots that resume, changes in commit order, and notifications when the head moves."""

from __future__ import annotations

import msgspec

from shared.wire.protocol import EventAt
from shared.wire.snapshot import (
    EMPTY_DIGEST,
    DeviceRow,
    Row,
    RowKind,
    TicketRow,
    TicketState,
    digest_add,
    digest_remove,
    from_frame,
    pack,
    unpack,
)
from sync_server.revisions import service as revisions
from tests.contracts.sync.world import World, a_ticket_row

HIGHEST = 2**64 - 1


def test_frames_give_a_snapshot_and_changes_bring_it_up_to_date(world: World) -> None:
    world.tickets(*range(1, 8), HIGHEST)
    gate = world.a_gate()
    first = gate.frame(limit=4)
    world.tickets(3, state=TicketState.BLOCKED)  # while the gate is still fetching
    world.put([Row(RowKind.TICKET, 5, None)])
    held = {(row.kind, row.key): row for row in from_frame(first.frame)}
    frame = first
    while frame.next:
        frame = gate.frame(frame.next, limit=4)
        held |= {(row.kind, row.key): row for row in from_frame(frame.frame)}
    (batch,) = gate.changes(EventAt(event=7, lineage=first.lineage, revision=first.base_revision)).events
    for row in from_frame(batch.rows):
        held.pop((row.kind, row.key), None)
        if row.body is not None:
            held[row.kind, row.key] = row
    assert digest_add(EMPTY_DIGEST, *held.values()) == batch.digest
    assert (RowKind.TICKET, 5) not in held
    assert (RowKind.TICKET, HIGHEST) in held
    blocked = unpack(held[RowKind.TICKET, 3])
    assert isinstance(blocked, TicketRow)
    assert blocked.state is TicketState.BLOCKED


def test_a_gate_receives_the_keys_of_other_devices(world: World) -> None:
    gate = world.a_gate("Door")
    rows, _ = gate.snapshot()
    assert [row.number for row in rows if isinstance(row, DeviceRow)] == [gate.number]


def test_changes_are_a_step_from_the_digest_before(world: World) -> None:
    world.tickets(1)
    gate = world.a_gate()
    rows, at = gate.snapshot()
    before = digest_add(EMPTY_DIGEST, *(pack(row) for row in rows))
    world.tickets(2)
    (batch,) = gate.changes(at).events
    assert batch.from_revision == at.revision
    assert digest_add(before, *from_frame(batch.rows)) == batch.digest
    assert digest_remove(batch.digest, *from_frame(batch.rows)) == before


def test_an_empty_batch_has_a_fresh_time_and_a_signature(world: World) -> None:
    gate = world.a_gate()
    _, at = gate.snapshot()
    world.advance(minutes=3)
    (batch,) = gate.changes(at).events
    assert (batch.from_revision, batch.to_revision, batch.rows) == (at.revision, at.revision, b"")
    assert batch.as_of == world.now


def test_a_position_of_another_lineage_needs_a_new_snapshot(world: World) -> None:
    gate = world.a_gate()
    _, at = gate.snapshot()
    with world.parts.database.writing() as session:
        revisions.renew_lineage(session, world.dice, world.now)
    (batch,) = gate.changes(at).events
    assert batch.resync
    assert gate.frame().lineage != at.lineage


def test_a_gate_ahead_of_a_restored_server_needs_a_new_snapshot(world: World) -> None:
    gate = world.a_gate()
    _, at = gate.snapshot()
    (batch,) = gate.changes(EventAt(event=7, lineage=at.lineage, revision=at.revision + 10)).events
    assert batch.resync


def test_more_changes_than_one_frame_holds_come_in_parts(world: World) -> None:
    gate = world.a_gate()
    rows, at = gate.snapshot()
    digest, parts = digest_add(EMPTY_DIGEST, *(pack(row) for row in rows)), []
    world.put([a_ticket_row(n) for n in range(1, 20_002)])
    while sum(parts) < 20_001:
        (batch,) = gate.changes(at).events
        assert not batch.resync and batch.from_revision == at.revision
        news = from_frame(batch.rows)
        digest = digest_add(digest, *news)
        assert news and digest == batch.digest, "each part is a state of its own"
        parts.append(len(news))
        at = msgspec.structs.replace(at, revision=batch.to_revision)
    assert sum(parts) == 20_001 and len(parts) > 1
    (batch,) = gate.changes(at).events
    assert batch.rows == b"" and batch.to_revision == at.revision, "that was all"


def test_movements_are_numbered_as_they_arrive(world: World) -> None:
    world.tickets(1, 2, 3)
    gate = world.a_gate()
    _, at = gate.snapshot()
    gate.admit(1)
    gate.upload()
    first = gate.changes(at).events[0]
    gate.admit(2)
    gate.admit(3)
    gate.upload()
    second = gate.changes(EventAt(event=7, lineage=at.lineage, revision=at.revision, heard=first.heard)).events[0]
    assert (first.heard, second.heard) == (1, 3)
