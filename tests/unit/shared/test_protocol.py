"""Messages between gate and server: read strictly, tolerant of what is new, clear about what is too new."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import InvalidRequest, Unreadable, Untrusted, UpgradeNeeded
from shared.wire import protocol
from shared.wire.protocol import (
    Assignment,
    Batch,
    ChangesAnswer,
    ChangesRequest,
    EnrolAnswer,
    EnrolRequest,
    ErrorAnswer,
    ErrorBody,
    EventAt,
    Health,
    HelloAnswer,
    HelloRequest,
    JournalAnswer,
    JournalRequest,
    Mark,
    Message,
    SnapshotAnswer,
    decode,
    encode,
    read_row_mark,
    require_signed,
    row_mark,
    sign_batch,
    version_spoken_by,
)
from shared.wire.rows import RowKind
from shared.wire.snapshot import pack, to_frame
from tests.unit.shared.wire_builders import EIGHT, a_key, a_ticket_row

SERVER = a_key(2)
HASH = bytes(range(32))


def a_batch(**different: Any) -> Batch:
    batch = Batch(
        event=7,
        lineage=b"lineage1",
        from_revision=30,
        to_revision=33,
        digest=bytes(16),
        as_of=EIGHT,
        rows=to_frame([pack(a_ticket_row())]),
    )
    return msgspec.structs.replace(batch, **different)


def one_of_each() -> list[Message]:
    assignment = Assignment(event=7, event_id="e", name="Night", gate=2, gate_code="A", gates_allowed=[2, 3])
    mark = Mark(branch=1, seq=17, head=HASH)
    return [
        assignment,
        mark,
        EnrolRequest(code_id=bytes(8), device_public=HASH, nonce=bytes(16), proof=HASH, name="Gate A"),
        EnrolAnswer(
            device_number=4,
            device_id="d",
            organisation="org-1",
            organisation_name="Hall",
            server_public=HASH,
            server_proof=HASH,
            server_time=EIGHT,
            check="042042",
            gate="A",
            events=[assignment],
        ),
        EventAt(event=7, lineage=b"lineage1", revision=3, heard=9),
        Health(celsius=48.3, under_voltage=False, battery_percent=63, readers=["camera: front"], system="Linux"),
        HelloRequest(branch=1, last_seq=17, head=HASH, rows=[EventAt(event=7)], clock_offset=-40),
        HelloAnswer(server_time=EIGHT, mark=mark, assignments=[assignment], revoked=True, words="Sent home."),
        SnapshotAnswer(event=7, lineage=b"lineage1", base_revision=3, frame=b"f", as_of=EIGHT, next="5:17"),
        ChangesRequest(events=[EventAt(event=7)], wait=25),
        a_batch(),
        ChangesAnswer(events=[sign_batch(a_batch(), SERVER)], server_time=EIGHT, assignments_changed=True),
        JournalRequest(branch=1, entries=[b"a", b"b"], head_seq=17, head=HASH, head_signature=bytes(64)),
        JournalAnswer(answers=[(16, "accepted", ""), (17, "quarantined", "cut")], mark=mark, server_time=EIGHT),
        ErrorBody(code="untrusted", message="The signature does not fit."),
        ErrorAnswer(error=ErrorBody(code="conflict", message="No.", details={"field": "gate"}, request_id="r")),
    ]


@pytest.mark.parametrize("message", one_of_each(), ids=lambda message: type(message).__name__)
def test_every_message_comes_out_as_it_went_in(message: Message) -> None:
    assert decode(type(message), encode(message)) == message


def test_there_is_one_of_each() -> None:
    assert {type(message) for message in one_of_each()} == set(Message.__subclasses__())


def as_map(message: Message) -> dict[str, Any]:
    named: dict[str, Any] = msgspec.msgpack.decode(encode(message))
    return named


def test_a_field_from_the_future_is_ignored() -> None:
    fields = as_map(Mark(branch=1, seq=17, head=HASH)) | {"colour": "green"}
    assert decode(Mark, msgspec.msgpack.encode(fields)) == Mark(branch=1, seq=17, head=HASH)


def test_a_field_from_the_future_that_is_critical_asks_for_an_update() -> None:
    fields = as_map(Mark(branch=1, seq=17, head=HASH)) | {"colour": "green", "critical": ["seq", "colour"]}
    with pytest.raises(UpgradeNeeded, match="Update the gate program") as refusal:
        decode(Mark, msgspec.msgpack.encode(fields))
    assert refusal.value.details["features"] == ["colour"]


def test_a_critical_field_inside_a_part_counts_too() -> None:
    assignment = as_map(Assignment(event=7, event_id="e", name="Night")) | {"critical": ["teleport"]}
    fields = as_map(HelloAnswer(server_time=EIGHT)) | {"assignments": [assignment]}
    with pytest.raises(UpgradeNeeded):
        decode(HelloAnswer, msgspec.msgpack.encode(fields))


def test_a_later_version_that_changed_everything_still_asks_for_an_update() -> None:
    with pytest.raises(UpgradeNeeded):
        decode(Mark, msgspec.msgpack.encode({"critical": ["marks2"], "marks": []}))


def test_fields_that_are_known_may_be_critical() -> None:
    fields = as_map(Mark(branch=1, seq=17, head=HASH)) | {"critical": ["seq"]}
    assert decode(Mark, msgspec.msgpack.encode(fields)).seq == 17


@pytest.mark.parametrize(
    "different",
    [
        {"branch": True},
        {"branch": "1"},
        {"branch": -1},
        {"seq": 2**63},
        {"seq": 1.0},
        {"head": bytes(31)},
        {"head": "x" * 32},
        {"critical": "colour"},
    ],
)
def test_types_and_bounds_are_strict(different: dict[str, Any]) -> None:
    with pytest.raises(Unreadable):
        decode(Mark, msgspec.msgpack.encode(as_map(Mark(branch=1, seq=17, head=HASH)) | different))


def test_more_entries_than_one_upload_may_carry_are_refused() -> None:
    fields = as_map(JournalRequest(branch=1, entries=[], head_seq=0, head=HASH, head_signature=bytes(64)))
    assert decode(JournalRequest, msgspec.msgpack.encode(fields | {"entries": [b"e"] * 500}))
    with pytest.raises(Unreadable):
        decode(JournalRequest, msgspec.msgpack.encode(fields | {"entries": [b"e"] * 501}))


def test_a_message_larger_than_the_limit_is_not_even_looked_at() -> None:
    with pytest.raises(Unreadable, match="larger"):
        decode(Mark, encode(Mark(branch=1, seq=17, head=HASH)) + bytes(100), limit=100)


@given(st.sampled_from(Message.__subclasses__()), st.binary(max_size=300))
def test_any_bytes_are_a_message_or_unreadable(kind: type[Message], data: bytes) -> None:
    try:
        assert isinstance(decode(kind, data), kind)
    except (Unreadable, UpgradeNeeded) as refusal:
        assert refusal.status in {400, 426}


@given(st.sampled_from(one_of_each()), st.integers(min_value=0), st.integers(1, 255))
def test_a_message_hurt_in_one_byte_is_another_message_or_unreadable(message: Message, place: int, flip: int) -> None:
    data = bytearray(encode(message))
    data[place % len(data)] ^= flip
    try:
        assert isinstance(decode(type(message), bytes(data)), type(message))
    except (Unreadable, UpgradeNeeded) as refusal:
        assert refusal.status in {400, 426}


def test_a_well_of_arrays_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        decode(Mark, b"\x91" * 100_000)


# --- Batches ---


def test_a_peer_may_pass_on_what_the_server_signed() -> None:
    passed_on = decode(ChangesAnswer, encode(ChangesAnswer(events=[sign_batch(a_batch(), SERVER)], server_time=1)))
    require_signed(passed_on.events[0], SERVER.public_key())


@pytest.mark.parametrize(
    "different",
    [
        {"event": 8},
        {"lineage": b"lineage2"},
        {"from_revision": 29},
        {"to_revision": 34},
        {"digest": bytes(15) + b"\x01"},
        {"as_of": EIGHT + 1},
        {"rows": b""},
        {"resync": True},
        {"signature": bytes(64)},
        {"signature": b""},
    ],
)
def test_no_peer_can_alter_what_the_server_signed(different: dict[str, Any]) -> None:
    altered = msgspec.structs.replace(sign_batch(a_batch(), SERVER), **different)
    with pytest.raises(Untrusted):
        require_signed(altered, SERVER.public_key())


def test_a_peer_may_leave_movements_out() -> None:
    batch = msgspec.structs.replace(sign_batch(a_batch(movements=b"m", heard=4), SERVER), movements=b"", heard=0)
    require_signed(batch, SERVER.public_key())


# --- Marks and versions ---


@pytest.mark.parametrize("key", [0, 17, 2**64 - 1])
def test_a_snapshot_goes_on_after_the_row_it_names(key: int) -> None:
    assert read_row_mark(row_mark(RowKind.TICKET, key)) == (RowKind.TICKET, key)


def test_without_a_mark_a_snapshot_begins_before_the_first_row() -> None:
    kind, key = read_row_mark("")
    assert kind == min(RowKind)
    assert key < 0


@pytest.mark.parametrize(
    "text", ["5", "5:", ":5", "x:5", "99:1", "5:1:2", "5:-1", "5:18446744073709551616", "\u0665:1"]
)
def test_a_mark_that_names_no_row_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest):
        read_row_mark(text)


def test_the_highest_version_that_both_speak_is_spoken() -> None:
    assert version_spoken_by((1, 2, 99)) == 1
    with pytest.raises(UpgradeNeeded):
        version_spoken_by((99,))
    assert protocol.PROTOCOL_VERSION in protocol.SPOKEN
