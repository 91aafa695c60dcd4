"""The journal entry, its canonical bytes and its hash."""

from __future__ import annotations

from enum import StrEnum
from hashlib import sha256
from operator import attrgetter
from typing import Annotated, Any, get_type_hints

import msgspec

from shared.errors import Unreadable
from shared.strictly import strictly


class EntryKind(StrEnum):
    """What an entry records. Unknown kinds are stored, chained and passed on, but ignored in decisions.

    The contents of `details`: presentation and by_hand {"zone"}; annulment {"annuls": [device,
    branch, seq]}; time_anchor {"server", "monotonic", "rtt"} in ms; gap {"first", "last"}: the numbers that are lost.
    """

    PRESENTATION = "presentation"
    BY_HAND = "by_hand"
    ANNULMENT = "annulment"
    DOORS = "doors"
    MODE = "mode"
    OPERATOR = "operator"
    TIME_ANCHOR = "time_anchor"
    BOOT = "boot"
    GAP = "gap"
    COUNT_CORRECTION = "count_correction"
    SEAT_ASSIGNED = "seat_assigned"
    PIN_FAILURE = "pin_failure"
    LAMP = "lamp"  # never chained: the mark is stored beside the entry
    BRANCH = "branch"
    EMERGENCY = "emergency"  # the barrier was opened for everybody, or closed again
    SUPPRESSED = "suppressed"  # how many unreadable texts were counted instead of recorded


GENESIS = bytes(32)
"""The predecessor hash in the first entry of a branch that continues no other."""
MAX_ENTRY_BYTES = 16_384
"""The longest body of an entry, in bytes."""
MAX_TEXT = 1_000
"""The longest text in a column."""

_HASH_DOMAIN = b"gatehouse:entry:1\x00"


_Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_Number = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]
_Millis = Annotated[
    int, msgspec.Meta(ge=-(2**51), le=2**51)
]  # sums of a few stay below 2**53, which every implementation can represent
_Text = Annotated[str, msgspec.Meta(max_length=MAX_TEXT)]
_Hash = Annotated[bytes, msgspec.Meta(min_length=32, max_length=32)]


class Entry(msgspec.Struct, array_like=True, frozen=True):
    """One entry of a device's journal. The order of fields is that of the canonical bytes; fields are only appended.

    The types say which values are valid in an entry that is read.
    """

    device: _Number
    branch: _Number
    seq: Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]
    kind: _Text
    event: _Number  # event number, 0: none
    gate: _Number
    reader: _Text
    operator: _Text
    ticket_id: Annotated[int, msgspec.Meta(ge=0)]  # 0: none
    issue: _Number
    code_hash: Annotated[bytes, msgspec.Meta(max_length=16)]  # 16 bytes, b"" if it was not one of our codes
    direction: _Text
    mode: _Text
    admitted: bool
    reason: _Text
    notices: tuple[_Text, ...]
    override_by: _Number  # supervisor's number, 0: none
    override_reason: _Text
    override_denial: _Text  # the reason that was overridden
    wall: _Millis  # device wall clock, ms
    monotonic: Annotated[int, msgspec.Meta(ge=0, le=2**51)]  # ms since boot
    boot: Annotated[bytes, msgspec.Meta(max_length=16)]  # 8 bytes
    offset: _Millis  # estimated true time minus wall, ms
    uncertainty: Annotated[int, msgspec.Meta(ge=0, le=2**51)]  # ms
    lineage: Annotated[bytes, msgspec.Meta(max_length=16)]
    revision: _Count
    digest: Annotated[bytes, msgspec.Meta(max_length=16)]
    previous: _Hash
    details: dict[str, Any]


_texts = attrgetter(*(name for name, kind in get_type_hints(Entry).items() if kind is str))
_encoder = msgspec.msgpack.Encoder(order="deterministic")
_decoder = msgspec.msgpack.Decoder(Entry)


def encode(entry: Entry) -> bytes:
    """The canonical bytes: a MessagePack array of the fields in order, in shortest form, keys of `details` sorted."""
    return _encoder.encode(entry)


def decode(body: bytes) -> Entry:
    """Decodes an entry; columns of later versions are dropped. Raises Unreadable."""
    entry = strictly(_decoder, body, "A journal entry", MAX_ENTRY_BYTES)
    # No valid text contains a zero byte, and some databases refuse to store it.
    if "\0" in "".join((*_texts(entry), *entry.notices)):
        raise Unreadable("A journal entry contains an invalid text. It was discarded.")
    return entry


def entry_hash(body: bytes) -> bytes:
    """SHA-256 over the body, which includes the previous hash; the prefix separates it from other uses."""
    return sha256(_HASH_DOMAIN + body).digest()
