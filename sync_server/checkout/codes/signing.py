"""Makes and checks the text of codes without a look-up: batch and serial number under a MAC, in twelve characters.

A code is 60 bits: 35 of a MAC over organisation, event, batch and serial, then 8 of the batch and 17 of the serial,
hidden under a pad that follows from the MAC, so that codes of one batch look nothing alike. Each guess is right with a
chance of one in 34 billion, and wrong ones are slowed down per network (`rules.GUESSES`): a thousand networks need some
seventy years for one code. Shorter codes would make that weeks, longer ones more mistakes. The alphabet is Crockford's
base 32, in which no two characters look alike.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from typing import Final, NamedTuple

from sync_server.plumbing.event_key import EventKey
from sync_server.plumbing.sealing import Sealer

ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH: Final = 12
MAC_BITS: Final = 35
SERIAL_BITS: Final = 17
BATCH_BITS: Final = 8
MAX_BATCHES: Final = (1 << BATCH_BITS) - 1
MAX_CODES: Final = 1 << SERIAL_BITS
_NUMBER_BITS: Final = SERIAL_BITS + BATCH_BITS
_MEANT: Final = str.maketrans({"O": "0", "I": "1", "L": "1", "-": "", " ": ""})
_VALUES: Final = {letter: value for value, letter in enumerate(ALPHABET)}


class Signed(NamedTuple):
    """What a code stands for."""

    batch: int
    serial: int  # counted from 0


def code(sealer: Sealer, event: EventKey, signed: Signed) -> str:
    """The code as it is printed: three groups of four."""
    mac = _mac(sealer, event, signed)
    number = (signed.batch << SERIAL_BITS | signed.serial) ^ _pad(sealer, event, mac)
    bits = mac << _NUMBER_BITS | number
    letters = "".join(ALPHABET[bits >> 5 * place & 31] for place in reversed(range(LENGTH)))
    return "-".join(letters[start : start + 4] for start in range(0, LENGTH, 4))


def codes(sealer: Sealer, event: EventKey, batch: int, count: int) -> Iterable[str]:
    """All codes of a batch."""
    return (code(sealer, event, Signed(batch, serial)) for serial in range(count))


def read(sealer: Sealer, event: EventKey, text: str) -> Signed | None:
    """What a text stands for that somebody typed; None for one that is no code of this event."""
    letters = text.upper().translate(_MEANT)
    if len(letters) != LENGTH or not _VALUES.keys() >= set(letters):
        return None
    bits = 0
    for letter in letters:
        bits = bits << 5 | _VALUES[letter]
    mac = bits >> _NUMBER_BITS
    number = bits & (1 << _NUMBER_BITS) - 1 ^ _pad(sealer, event, mac)
    signed = Signed(number >> SERIAL_BITS, number & (1 << SERIAL_BITS) - 1)
    expected = _mac(sealer, event, signed)
    return signed if hmac.compare_digest(mac.to_bytes(5, "big"), expected.to_bytes(5, "big")) else None


def _mac(sealer: Sealer, event: EventKey, signed: Signed) -> int:
    text = f"{event.organisation_id} {event.event_id} {signed.batch} {signed.serial}"
    return int(sealer.keyed_hash(text, "code of a shop"), 16) >> 256 - MAC_BITS


def _pad(sealer: Sealer, event: EventKey, mac: int) -> int:
    return int(sealer.keyed_hash(f"{event.event_id} {mac}", "pad of a code"), 16) >> 256 - _NUMBER_BITS
