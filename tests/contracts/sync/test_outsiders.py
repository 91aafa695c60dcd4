"""What a hostile client may send: a clear error for each, and nothing is stored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest
import zstandard

from shared.wire import protocol
from tests.contracts.sync.gates import Gate
from tests.contracts.sync.world import World

YEARS = 20 * 365 * 24 * 3_600_000


def hello(**more: Any) -> bytes:
    """A hello as a map."""
    return msgspec.msgpack.encode({"branch": 1, "last_seq": 0, "head": bytes(32)} | more)


def said(gate: Gate, body: bytes, path: str = protocol.HELLO, channel: Any = "other") -> tuple[int, str]:
    """Status and error code of the signed answer."""
    response = gate.send("POST", path, channel, body=body)
    if response.status_code == 200:
        return 200, ""
    error = protocol.decode(protocol.ErrorAnswer, response.data).error
    assert error.message and error.request_id
    return response.status_code, error.code


def test_a_truncated_message_is_refused(world: World) -> None:
    gate = world.a_gate()
    whole = hello()
    assert {said(gate, whole[:length]) for length in range(0, len(whole), 7)} == {(400, "unreadable_message")}


@pytest.mark.parametrize(
    "body",
    [
        b"\xc1",
        b"\xde\xff\xff",
        b"\xdd\xff\xff\xff\xff",
        b"\x81" * 5_000,
        b'{"branch": 1}',
        hello() + b"\x00",
        hello(branch="1"),
        hello(branch=True),
        hello(last_seq=-1),
        hello(last_seq=2**64 - 1),
        hello(head=b"short"),
        zstandard.compress(hello()),
        zstandard.compress(bytes(200_000_000)),
    ],
    ids=lambda body: body[:6].hex(),
)
def test_bytes_that_are_not_a_message_are_refused_with_an_error(world: World, body: bytes) -> None:
    assert said(world.a_gate(), body) == (400, "unreadable_message")


def test_unknown_fields_are_ignored_unless_critical(world: World) -> None:
    gate = world.a_gate()
    assert said(gate, hello(favourite_colour="red")) == (200, "")
    assert said(gate, hello(must=1, critical=["must"])) == (426, "upgrade_needed")


def test_one_entry_more_than_a_batch_holds(world: World) -> None:
    gate = world.a_gate()
    world.tickets(1)
    for _ in range(501):
        gate.refuse(1, "already_used")
    message = gate.journal_request(gate.bodies[:500])
    many = msgspec.msgpack.encode(msgspec.to_builtins(message, builtin_types=(bytes,)) | {"entries": gate.bodies})
    assert said(gate, many, protocol.JOURNAL, "push") == (400, "unreadable_message")
    assert gate.upload(gate.bodies[:500]).mark.seq == 500


def test_a_body_that_is_larger_than_any_message(world: World) -> None:
    status, code = said(world.a_gate(), bytes(13 * 1024 * 1024))
    assert (status, code) == (413, "too_large")


@pytest.mark.parametrize(
    "query", ["event=7&limit=0", "event=7&limit=5001", "event=x", "event=" + "9" * 5_000, "", "event=7&after=nowhere"]
)
def test_a_frame_that_cannot_be(world: World, query: str) -> None:
    refusal = world.a_gate().refusal("GET", protocol.SNAPSHOT, "pull", query=query)
    assert refusal.code in {"invalid_request", "unreadable"}


@pytest.mark.parametrize("off", [-YEARS, YEARS])
def test_a_clock_that_is_off_by_years_is_reported_and_refuses_nothing(world: World, off: int) -> None:
    world.tickets(1)
    gate = world.a_gate()
    assert said(gate, hello(clock_offset=-off, clock_uncertainty=50)) == (200, "")
    gate.anchor()
    gate.admit(1, wall=world.now + off)
    gate.upload()
    (move,) = gate.movements()
    assert abs(move.at - world.now) < 1_000


def test_no_two_devices_may_share_a_key(world: World) -> None:
    first = world.a_gate("One")
    device_id = world.a_device("Two")
    second = Gate(world, "Two")
    second.key, second.device_id = first.key, device_id
    refusal = second.try_enrol(world.a_code(device_id))
    assert isinstance(refusal, protocol.ErrorBody)


def test_a_signature_is_valid_for_its_own_address_and_host_only(world: World) -> None:
    gate = world.a_gate()
    response = gate.send("POST", protocol.HELLO, "other", body=hello())
    assert response.status_code == 200
    stranger = replace(gate, bodies=[])
    stranger.key, stranger.server = world.a_gate("Other").key, gate.server
    assert said(stranger, hello()) == (401, "untrusted")
