"""The messages between gate and server; decoding raises only Unreadable or UpgradeNeeded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from struct import pack
from typing import Annotated, Any, TypeVar

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from shared.errors import InvalidRequest, Unreadable, Untrusted, UpgradeNeeded
from shared.strictly import strictly
from shared.wire.rows import RowKind

PROTOCOL_VERSION = 1
SPOKEN = (1,)
"""The protocol versions of this program: its own and the previous one, once there is one."""

PATH = "/sync/v1"
ENROL, HELLO, SNAPSHOT, CHANGES, JOURNAL = (
    f"{PATH}/{name}" for name in ("enrol", "hello", "snapshot", "changes", "journal")
)
MEDIA_TYPE = "application/msgpack"

MAX_MESSAGE_BYTES = 48 * 1024 * 1024
"""The largest message; for callers that are not signed in, a server accepts less."""
MAX_ENTRIES = 500
"""The most journal entries in one upload."""
MAX_WAIT_SECONDS = 60

_ROW_MARK = re.compile("([1-9][0-9]?):(0|[1-9][0-9]{0,19})", re.ASCII)
_BATCH_DOMAIN = b"gatehouse:batch:1\x00"

Number = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
Millis = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Text = Annotated[str, msgspec.Meta(max_length=1_000)]
ShortText = Annotated[str, msgspec.Meta(max_length=200)]
Bytes5 = Annotated[bytes, msgspec.Meta(min_length=5, max_length=5)]
Bytes8 = Annotated[bytes, msgspec.Meta(min_length=8, max_length=8)]
Bytes16 = Annotated[bytes, msgspec.Meta(min_length=16, max_length=16)]
Bytes32 = Annotated[bytes, msgspec.Meta(min_length=32, max_length=32)]
Bytes64 = Annotated[bytes, msgspec.Meta(min_length=64, max_length=64)]
Critical = Annotated[tuple[Text, ...], msgspec.Meta(max_length=32)]
Body = Annotated[bytes, msgspec.Meta(max_length=16_384)]


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Fields have names; unknown ones are ignored unless `critical` lists them."""

    critical: Critical = ()


class Assignment(Message, frozen=True, kw_only=True):
    """One event a device is assigned to, and how."""

    event: Number
    event_id: Text
    name: Text
    gate: Number | None = None
    gate_code: Text = ""
    gates_allowed: list[Number] = []
    zones: list[Number] = []
    direction: Text = "entry"
    mode: Text = "real"


class EnrolRequest(Message, frozen=True, kw_only=True):
    """A machine asks to be enrolled, for the first time or again."""

    code_id: Bytes8
    device_public: Bytes32
    nonce: Bytes16
    proof: Bytes32
    name: Text = ""
    software: Text = ""
    versions: tuple[Number, ...] = (PROTOCOL_VERSION,)


class EnrolAnswer(Message, frozen=True, kw_only=True):
    """The identity that an enrolled machine gets."""

    device_number: Number
    device_id: Text
    organisation: Text
    organisation_name: Text
    server_public: Bytes32
    server_proof: Bytes32
    server_time: Millis
    check: Text
    gate: Text | None = None
    events: list[Assignment] = []


class EventAt(Message, frozen=True, kw_only=True):
    """The position a gate has for one event; an empty lineage means nothing yet. `gate`: where it stands there."""

    event: Number
    lineage: Annotated[bytes, msgspec.Meta(max_length=8)] = b""
    revision: Count = 0
    heard: Count = 0
    gate: Number | None = None


class Mark(Message, frozen=True, kw_only=True):
    """How far the server has a journal, and the hash there; only this tells what need not be sent again."""

    branch: Number
    seq: Count
    head: Bytes32


class Health(Message, frozen=True, kw_only=True):
    """How a gate's machine is. What it cannot tell is left out, so that absent never means well."""

    celsius: Annotated[float, msgspec.Meta(ge=-100, le=200)] | None = None
    under_voltage: bool | None = None
    throttled: bool | None = None
    battery_percent: Annotated[int, msgspec.Meta(ge=0, le=100)] | None = None
    on_battery: bool | None = None
    disk_free_mb: Count | None = None
    disk_low: bool | None = None
    readers: Annotated[list[ShortText], msgspec.Meta(max_length=8)] = []
    faults: Annotated[list[ShortText], msgspec.Meta(max_length=8)] = []
    system: ShortText = ""
    printer: ShortText = ""


class HelloRequest(Message, frozen=True, kw_only=True):
    """A gate reports its state and the positions it has."""

    branch: Number
    last_seq: Count
    head: Bytes32
    software: Text = ""
    rows: list[EventAt] = []
    versions: tuple[Number, ...] = (PROTOCOL_VERSION,)
    unsent: Count = 0
    clock_offset: Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)] = 0
    clock_uncertainty: Millis = 0
    health: Health | None = None


class HelloAnswer(Message, frozen=True, kw_only=True):
    """The server's mark in the gate's journal, and the gate's assignments."""

    server_time: Millis
    mark: Mark | None = None
    assignments: list[Assignment] = []
    profile: Text = ""
    min_version: Number = PROTOCOL_VERSION
    revoked: bool = False
    words: Text = ""
    waits_at: Text = ""
    forked: bool = False


class SnapshotAnswer(Message, frozen=True, kw_only=True):
    """One frame of an event's rows, ordered by kind and key; `next` requests the following one.

    `then` requests the one after that, unless rows come or go before it: a gate that asks for both at once takes the
    second answer only where the first one leads to it.
    """

    event: Number
    lineage: Bytes8
    base_revision: Count
    frame: bytes
    as_of: Millis
    next: Text | None = None
    then: Text | None = None


class ChangesRequest(Message, frozen=True, kw_only=True):
    """Asks for changes of these events, and whether the journal's branch has forked; the server may wait.

    Says in passing how many entries are not uploaded yet, and now and then how the machine is.
    """

    events: Annotated[list[EventAt], msgspec.Meta(max_length=1_000)]
    wait: Annotated[float, msgspec.Meta(ge=0, le=MAX_WAIT_SECONDS)] = 0
    branch: Number = 0
    unsent: Count | None = None
    health: Health | None = None


class Batch(Message, frozen=True, kw_only=True):
    """All changes of an event from one revision to another, signed so that peers can pass them on."""

    event: Number
    lineage: Bytes8
    from_revision: Count
    to_revision: Count
    digest: Bytes16
    as_of: Millis
    rows: bytes = b""
    movements: bytes = b""
    heard: Count = 0
    resync: bool = False
    signature: Annotated[bytes, msgspec.Meta(max_length=64)] = b""


class ChangesAnswer(Message, frozen=True, kw_only=True):
    """The batches of events with changes."""

    events: list[Batch]
    server_time: Millis
    assignments_changed: bool = False
    forked: bool = False


class JournalRequest(Message, frozen=True, kw_only=True):
    """Part of one branch of a journal, and the device's signature over its head."""

    branch: Number
    entries: Annotated[list[Body], msgspec.Meta(max_length=MAX_ENTRIES)]
    head_seq: Count
    head: Bytes32
    head_signature: Bytes64


class JournalAnswer(Message, frozen=True, kw_only=True):
    """The result for each entry (seq, "accepted" | "known" | "quarantined", why), and the mark."""

    answers: list[tuple[Count, Text, Text]]
    mark: Mark
    server_time: Millis
    forked: bool = False


class ErrorBody(Message, frozen=True, kw_only=True):
    """An error with its code and message."""

    code: Text
    message: Annotated[str, msgspec.Meta(max_length=10_000)]
    details: dict[str, Any] | None = None
    request_id: Text = ""


class ErrorAnswer(Message, frozen=True, kw_only=True):
    """An error response."""

    error: ErrorBody


M = TypeVar("M", bound=Message)
_encode = msgspec.msgpack.Encoder(order="deterministic").encode
_KINDS: list[type[Message]] = [Message, *Message.__subclasses__()]
_DECODERS: dict[type[Message], msgspec.msgpack.Decoder[Any]] = {kind: msgspec.msgpack.Decoder(kind) for kind in _KINDS}
_CRITICAL = _DECODERS[Message]


def encode(message: Message) -> bytes:
    """Encodes a message; fields with default values are left out."""
    return _encode(message)


def decode(kind: type[M], data: bytes, limit: int = MAX_MESSAGE_BYTES) -> M:
    """Decodes a message. Raises Unreadable, or UpgradeNeeded if it relies on an unknown feature."""
    what = f"The message {kind.__name__}"
    try:
        message: M = strictly(_DECODERS[kind], data, what, limit)
    except Unreadable:
        _require_known(kind, _critical_of(data, limit))
        raise
    for part in _parts(message):
        _require_known(type(part), part.critical)
    return message


def _parts(message: Message) -> Iterator[Message]:
    """The message and all messages inside it."""
    yield message
    for name in message.__struct_fields__:
        value = getattr(message, name)
        for inner in value if isinstance(value, list) else (value,):
            if not isinstance(inner, Message):
                break
            yield from _parts(inner)


def _critical_of(data: bytes, limit: int) -> tuple[str, ...]:
    """The critical features of an unreadable message: a later version may have changed everything else."""
    try:
        return strictly(_CRITICAL, data, "The message", limit).critical  # type: ignore[no-any-return]
    except Unreadable:
        return ()


def _require_known(kind: type[Message], critical: tuple[str, ...]) -> None:
    unknown = [name for name in critical if name not in kind.__struct_fields__]
    if unknown:
        raise UpgradeNeeded(features=unknown)


def version_spoken_by(versions: Iterable[int]) -> int:
    """The highest common version. Raises UpgradeNeeded if there is none."""
    common = set(versions) & set(SPOKEN)
    if not common:
        raise UpgradeNeeded(spoken=list(SPOKEN))
    return max(common)


def batch_message(batch: Batch) -> bytes:
    """The bytes of a batch that the server signs: all but the movements, which the devices' journals vouch for."""
    numbers = pack(">IQQQ", batch.event, batch.from_revision, batch.to_revision, batch.as_of)
    flag = b"\x01" if batch.resync else b"\x00"
    return _BATCH_DOMAIN + numbers + flag + batch.lineage + batch.digest + sha256(batch.rows).digest()


def sign_batch(batch: Batch, key: Ed25519PrivateKey) -> Batch:
    """The batch with the server's signature."""
    return msgspec.structs.replace(batch, signature=key.sign(batch_message(batch)))


def require_signed(batch: Batch, server_public: Ed25519PublicKey) -> None:
    """Raises Untrusted unless the server signed this batch, whoever delivered it."""
    try:
        server_public.verify(batch.signature, batch_message(batch))
    except InvalidSignature as problem:
        raise Untrusted("These changes are not signed by the server. They were discarded.") from problem


def row_mark(kind: RowKind, key: int) -> str:
    """The text that tells where a snapshot continues: after this row."""
    return f"{int(kind)}:{key}"


def read_row_mark(text: str) -> tuple[RowKind, int]:
    """Parses such a text; "" is before the first row. Raises InvalidRequest."""
    if not text:
        return RowKind.EVENT, -1
    named = _ROW_MARK.fullmatch(text)
    if named is None or int(named[1]) not in set(RowKind) or int(named[2]) >= 2**64:
        raise InvalidRequest("`after` must be `<kind>:<key>`, as in `next` of the last answer.")
    return RowKind(int(named[1])), int(named[2])
