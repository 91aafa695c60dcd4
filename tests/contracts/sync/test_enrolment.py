"""Enrolment of machines, and the many ways in which it is refused."""

from __future__ import annotations

import pytest

from shared.wire import enrolment, protocol
from sync_server.devices import queries
from tests.contracts.sync.gates import Gate
from tests.contracts.sync.world import World


def a_stranger(world: World) -> Gate:
    """A machine that has not enrolled."""
    return Gate(world, "Stranger")


def test_a_machine_that_read_the_code_is_enrolled(world: World) -> None:
    device = world.a_device("Main door")
    gate = a_stranger(world)
    answer = gate.enrol(world.a_code(device))
    assert (answer.device_id, answer.organisation_name, answer.gate) == (device, "Marquee", "G1")
    assert [(work.event, work.gate_code, work.name) for work in answer.events] == [(7, "G1", "Night Music 7")]
    assert gate.hello().mark is not None


def test_both_screens_show_the_same_check_number(world: World) -> None:
    device = world.a_device()
    answer = a_stranger(world).enrol(world.a_code(device))
    with world.parts.database.reading() as session:
        code = queries.latest_code(session, world.organisation, device)
    assert code is not None
    assert code.check_number == answer.check


def test_an_unknown_code(world: World) -> None:
    refusal = a_stranger(world).try_enrol(enrolment.new_code(world.dice, world.key.public))
    assert isinstance(refusal, protocol.ErrorBody)
    assert refusal.code == "enrolment_code_unknown"


def test_a_code_can_be_used_once(world: World) -> None:
    code = world.a_code(world.a_device())
    a_stranger(world).enrol(code)
    refusal = a_stranger(world).try_enrol(code)
    assert isinstance(refusal, protocol.ErrorBody)
    assert refusal.code == "enrolment_code_used"


def test_a_code_expires_after_fifteen_minutes(world: World) -> None:
    code = world.a_code(world.a_device())
    world.advance(minutes=15)
    refusal = a_stranger(world).try_enrol(code)
    assert isinstance(refusal, protocol.ErrorBody)
    assert refusal.code == "enrolment_code_expired"


def test_five_wrong_attempts_invalidate_a_code(world: World) -> None:
    code = world.a_code(world.a_device())
    for left in (4, 3, 2, 1, 0):
        refusal = a_stranger(world).try_enrol(code, proof=bytes(32))
        assert isinstance(refusal, protocol.ErrorBody)
        assert (refusal.code, refusal.details) == ("enrolment_proof_wrong", {"tries_left": left})
    refusal = a_stranger(world).try_enrol(code)
    assert isinstance(refusal, protocol.ErrorBody)
    assert refusal.code == "enrolment_code_dead"


def test_a_new_code_withdraws_the_one_before(world: World) -> None:
    device = world.a_device()
    first, second = world.a_code(device), world.a_code(device)
    refusal = a_stranger(world).try_enrol(first)
    assert isinstance(refusal, protocol.ErrorBody)
    assert refusal.code == "enrolment_code_expired"
    a_stranger(world).enrol(second)


def test_no_dump_of_the_database_contains_a_code(world: World) -> None:
    device = world.a_device()
    code = world.a_code(device)
    with world.parts.database.reading() as session:
        row = queries.latest_code(session, world.organisation, device)
    assert row is not None
    assert code.secret not in row.sealed
    assert code.text.encode() not in row.sealed


def test_a_revoked_device_gets_no_new_code(world: World) -> None:
    device = world.a_device()
    code = world.a_code(device)
    world.revoke(device)
    refusal = a_stranger(world).try_enrol(code)
    assert isinstance(refusal, protocol.ErrorBody)
    assert refusal.code == "device_revoked"


def test_one_key_is_never_two_devices(world: World) -> None:
    first, second = world.a_device("One"), world.a_device("Two")
    gate = a_stranger(world)
    gate.enrol(world.a_code(first))
    refusal = gate.try_enrol(world.a_code(second))
    assert isinstance(refusal, protocol.ErrorBody)
    assert refusal.code == "key_taken"


def test_enrolling_again_in_place_keeps_the_number_and_the_journal(world: World) -> None:
    gate = world.a_gate()
    gate.anchor()
    gate.upload()
    number = gate.number
    answer = gate.enrol(world.a_code(gate.device_id))
    assert answer.device_number == number
    mark = gate.hello().mark
    assert mark is not None
    assert (mark.seq, mark.head) == (1, gate.head)


@pytest.mark.parametrize("body", [b"", b"\x00", b"<html>", b"\x81\xa8critical\x91\xa6future"])
def test_a_malformed_enrolment_is_refused_with_a_message(world: World, body: bytes) -> None:
    response = world.client().post(protocol.ENROL, data=body, content_type=protocol.MEDIA_TYPE)
    error = protocol.decode(protocol.ErrorAnswer, response.data).error
    assert response.status_code in {400, 426}
    assert error.code in {"unreadable_message", "upgrade_needed"}
