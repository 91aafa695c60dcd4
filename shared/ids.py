"""Typed ids and UUIDv7; entropy is passed in."""

from __future__ import annotations

from collections.abc import Callable
from re import compile as pattern
from typing import Final, NewType

OrganisationId = NewType("OrganisationId", str)
UserId = NewType("UserId", str)
VenueId = NewType("VenueId", str)
EventId = NewType("EventId", str)
DeviceId = NewType("DeviceId", str)

EventNumber = NewType("EventNumber", int)
"""Four bytes, unique in the installation; identifies the event in ticket codes."""
DeviceNumber = NewType("DeviceNumber", int)
"""Four bytes, unique in the installation; identifies the device in journals."""
TicketId = NewType("TicketId", int)
"""Eight random bytes as an unsigned number; never changes."""

NIL_ID: Final = "00000000-0000-0000-0000-000000000000"
"""The lowest id: in a key it stands for none, in a search it comes before all others."""
UNKNOWN_ID: Final = "ffffffff-ffff-ffff-ffff-ffffffffffff"
"""An id that nothing ever has."""

Entropy = Callable[[int], bytes]
"""Returns n random bytes."""


_UUID: Final = pattern("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def is_uuid(text: str) -> bool:
    """Whether this is a UUID as this program writes it."""
    return _UUID.fullmatch(text) is not None


def as_id(text: str) -> str:
    """What somebody gave as an id, as this program writes ids; UNKNOWN_ID where it is none."""
    lower = text.lower()
    return lower if is_uuid(lower) else UNKNOWN_ID


def id_text(id: bytes) -> str:
    """A UUID of sixteen bytes as text."""
    digits = id.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def first_id(at_ms: int) -> str:
    """The least id that `uuid7` may make at this time or later: what is made since then has no smaller one."""
    text = f"{at_ms & (1 << 48) - 1:012x}"
    return f"{text[:8]}-{text[8:]}-7000-8000-000000000000"


def uuid7(now_ms: int, entropy: Entropy) -> str:
    """A version 7 UUID as text; such ids sort by creation time."""
    chance = int.from_bytes(entropy(10), "big")
    high, variant = chance >> 62 & 0xFFF, chance >> 48 & 0x3FFF | 0x8000
    time = f"{now_ms >> 16 & 0xFFFFFFFF:08x}-{now_ms & 0xFFFF:04x}"
    return f"{time}-7{high:03x}-{variant:04x}-{chance & 0xFFFFFFFFFFFF:012x}"
