"""Generates tickets.json: valid and invalid ticket codes for every implementation; `python -m` regenerates it.

Its keys come from published seeds and are worth nothing: never put them on a real ring.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec.structs import asdict, replace

from shared import parties
from shared.claims import CRITICAL, HEAD, LIVE_PROOF_KEY, LONG_DAYS, PARTY, to_bytes
from shared.keys import KeyRing, KeyState, TicketKey
from shared.layout_tables import KEYS, LAYOUTS, Layout
from shared.parties import Member
from shared.tickets import (
    SIGNED_AS,
    Entitlement,
    ReadParty,
    ReadTicket,
    Ticket,
    TicketFlags,
    as_text,
    party_claims,
    read,
    read_party_or_ticket,
    sign,
    signed_bytes,
)

FILE = Path(__file__).with_name("tickets.json")
ORDER_OF_THE_CURVE = 2**252 + 27742317777372353535851937790883648493

Case = tuple[str, str]
"""A description of a code, and its text. The expected result is in the name of its group."""


def private_key(key_id: int) -> Ed25519PrivateKey:
    """The published test key with that id."""
    return Ed25519PrivateKey.from_private_bytes(seed(key_id))


def seed(key_id: int) -> bytes:
    """Thirty-two reproducible bytes."""
    return hashlib.sha256(f"gatehouse test key {key_id}".encode()).digest()


def public_key(key_id: int) -> bytes:
    """The key as a gate would have it."""
    return private_key(key_id).public_key().public_bytes_raw()


STATES = {
    1: ("opera", KeyState.ACTIVE),
    2: ("opera", KeyState.RETIRED),
    3: ("opera", KeyState.DISTRUSTED),
    4: ("opera", KeyState.REVOKED),
    5: ("arena", KeyState.ACTIVE),
}
UNKNOWN_KEY = 99
EVENTS = (70_001,)
"""The numbers of the events that the reader holds."""
RING = KeyRing.of((TicketKey.of(id, owner, public_key(id), state) for id, (owner, state) in STATES.items()), EVENTS)
TICKET = Ticket(
    key_id=1,
    event_number=70_001,
    ticket_id=0x0123456789ABCDEF,
    issue=1,
    issued_at=1_782_000_000,
    ticket_type=3,
    zone=2,
    seat=417,
    valid_days=0b101,
    entitlement=Entitlement.SINGLE_ENTRY,
    limit=0,
    flags=TicketFlags.NONE,
    not_before=1_783_180_800,
    not_after=1_783_216_800,
)
CODE = sign(TICKET, private_key(1))


def signed(unsigned: bytes, key_id: int = 1, domain: bytes = SIGNED_AS) -> bytes:
    """Any bytes with a valid signature, as a faulty or newer issuer might make."""
    return unsigned + private_key(key_id).sign(domain + unsigned)


def head(**other: int) -> bytes:
    """The bytes of TICKET with some bytes overwritten."""
    names = ("version", *list(asdict(TICKET))[:-1], "length")
    values = dict(zip(names, HEAD.unpack(to_bytes(TICKET)), strict=True)) | other
    return HEAD.pack(*values.values())


def with_block(block: bytes) -> str:
    """TICKET with this block of extensions, validly signed."""
    return as_text(signed(head(length=len(block)) + block))


def flipped(code_bytes: bytes, bit: int) -> bytes:
    """The same bytes with one bit flipped."""
    return (int.from_bytes(code_bytes, "big") ^ 1 << (8 * len(code_bytes) - 1 - bit)).to_bytes(len(code_bytes), "big")


def typed(text: str, layout: Layout, shift: bool = True) -> str:
    """The text that a computer with this layout reads from a scanner set to a US keyboard."""
    plain, shifted = dict(zip(KEYS, layout.plain, strict=True)), dict(zip(KEYS, layout.shifted, strict=True))
    return "".join((shifted if shift and key.isalpha() else plain)[key] for key in text)


def claims() -> Iterator[tuple[str, Ticket]]:
    """Tickets that each differ in one field."""
    yield "an ordinary ticket", TICKET
    yield "a ticket that claims nothing but itself", Ticket(1, 0, 0, 0, 0)
    for kind in Entitlement:
        yield f"entitlement {kind.name.lower()}", replace(TICKET, entitlement=kind)
    yield "three entries a day", replace(TICKET, entitlement=Entitlement.LIMITED_REENTRY_PER_DAY, limit=3)
    for flag in list(TicketFlags):
        if flag is not TicketFlags.LIVE_PROOF:
            yield f"flag {str(flag.name).lower()}", replace(TICKET, flags=flag)
    yield "all flags of today together", replace(TICKET, flags=TicketFlags(63))
    yield "a flag of tomorrow is carried, not minded", replace(TICKET, flags=TicketFlags(128))
    yield "every day", replace(TICKET, valid_days=0)
    yield "all of the first sixteen days", replace(TICKET, valid_days=0xFFFF)
    yield "the seventeenth day only, so that the head lists none", replace(TICKET, valid_days=1 << 16)
    yield "the first and the fortieth day", replace(TICKET, valid_days=1 | 1 << 39)
    yield "the largest number in every place", _largest()
    yield "an extension of tomorrow is carried, not minded", replace(TICKET, extensions=((7, b"tomorrow"),))
    yield "an extension without a value", replace(TICKET, extensions=((2, b""),))
    yield (
        "extensions on both sides of the long days",
        replace(TICKET, valid_days=1 << 20, extensions=((0, b"\0"), (0x7F, b"z"))),
    )
    yield "extensions as long as they may be", replace(TICKET, extensions=((2, bytes(range(253))),))
    for key_id in (2, 3, 5):
        yield f"signed by key {key_id}", replace(TICKET, key_id=key_id)


def _largest() -> Ticket:
    four, two = 2**32 - 1, 2**16 - 1
    return Ticket(
        1, four, 2**64 - 1, 255, four, two, two, four, 0xFFFF, Entitlement.GA_STANDING, 255, TicketFlags(63), four, four
    )


def party_cases() -> Iterator[tuple[str, Ticket]]:
    """Codes of parties."""
    three = (Member(0x0123456789ABCDEF, 1), Member(0x1111111111111111, 2), Member(0xFEDCBA9876543210, 1))
    yield "a party of three, one of them at its second issue", party_claims(1, EVENTS[0], TICKET.issued_at, three)
    yield "the smallest party, signed by a distrusted key", party_claims(3, EVENTS[0], 0, three[:2])
    largest = (Member(2**64 - 1 - number, 255) for number in range(parties.LARGEST))
    yield "the largest party", party_claims(1, EVENTS[0], 2**32 - 1, largest)
    beside = replace(
        party_claims(1, EVENTS[0], 0, three), extensions=((7, b"tomorrow"), (PARTY, parties.to_value(three)))
    )
    yield "a party beside an extension of tomorrow", beside


def read_anyway() -> Iterator[Case]:
    """Valid codes with additions and changes by scanners, keyboards and programs."""
    around = {"newline": "\n", "carriage return and newline": "\r\n", "tab": "\t", "blanks": "  "}
    for name, tail in around.items():
        yield f"then {name}", CODE + tail
    yield "framed by STX and ETX", f"\x02{CODE}\x03"
    yield "after a byte-order mark", f"\ufeff{CODE}"
    yield "in lower case, as Caps Lock inverts it", CODE.lower()
    yield "in mixed case", CODE[:40].lower() + CODE[40:]
    for prefix in ("]Q0", "]Q1", "]Q3", "]Q6", "]d2", "]z3", "\\000026", "]Q2\\000026"):
        yield f"after the symbology prefix {prefix}", prefix + CODE
    yield "in lower case after a symbology prefix", f"]q1{CODE.lower()}"
    for layout in LAYOUTS:
        yield f"typed on a keyboard set to {layout.name}", typed(CODE, layout)
    yield "typed on a French keyboard with its symbology prefix", f"$A&{typed(CODE, LAYOUTS[4])}\r"
    yield "typed on a German keyboard with its symbology prefix", f"+Q1{typed(CODE, LAYOUTS[2])}\n"
    yield "typed on a German keyboard with its ECI designator", f"#000026{typed(CODE, LAYOUTS[2])}"


def unreadable() -> Iterator[Case]:
    """Texts that are not tickets of this format."""
    yield from {
        "nothing": "",
        "a blank": " ",
        "the mark alone": "MAY",
        "the mark and the version alone": "MAY1",
        "a web address": "https://example.org/t/12345",
        "a month": "MAYBE",
        "a greeting with emoji": "\U0001f3ab\U0001f3b6",
        "control characters": "\0\x01\x02\x1b[2J",
        "half a surrogate pair": "MAY1\ud83d",
        "a mark in Cyrillic letters that look the same": "\u041c\u0410\u0423" + CODE[3:],
        "full-width digits": "MAY\uff11" + CODE[4:],
        "four thousand letters": "A" * 4096,
        "a mark and four thousand letters": "MAY1" + "A" * 4096,
        "the code twice in a row": CODE * 2,
        "the last character missing": CODE[:-1],
        "a character too many": CODE + "A",
        "half the code": CODE[: len(CODE) // 2],
        "a blank inside": f"{CODE[:50]} {CODE[50:]}",
        "a newline inside": f"{CODE[:50]}\n{CODE[50:]}",
        "an underscore inside": f"{CODE[:50]}_{CODE[51:]}",
        "a digit that base32 has not": f"{CODE[:50]}1{CODE[51:]}",
        "padding": f"{CODE}======",
        "a sign in front of the digits": f"MAY1+{CODE[5:]}",
        "a letter before the mark": f"X{CODE}",
        "spare bits that are not zero": _spare_bits(),
    }.items()
    good = signed_bytes(TICKET, private_key(1))
    yield "a head and no signature", as_text(to_bytes(TICKET))
    yield "a byte after the signature", as_text(good + b"\0")
    yield "a byte of the signature missing", as_text(good[:-1])
    yield "a length of extensions beyond the end", as_text(signed(head(length=200)))
    yield "a length of extensions that takes a byte of the signature", as_text(signed(head(length=1)))
    yield "a length of extensions below what is there", as_text(signed(head(length=2) + b"\x02\x01x"))
    yield "an extension that reaches beyond its block", with_block(b"\x02\x05abc")
    yield "an extension without a length", with_block(b"\x02")
    yield "extensions in falling order", with_block(b"\x03\x00\x02\x00")
    yield "an extension that stands twice", with_block(b"\x02\x00\x02\x00")
    yield "long days without a value", with_block(bytes((LONG_DAYS, 0)))
    yield "long days with a leading zero", with_block(bytes((LONG_DAYS, 2, 0, 1)))
    one = (0x0123456789ABCDEF).to_bytes(8, "big") + b"\x01"
    for name, value in {
        "a party without tickets": b"",
        "a party of one": one,
        "a party that names a ticket twice": one + one[:-1] + b"\x02",
        "a party in falling order": b"\xff" * 9 + one,
        "a party that ends within a ticket": one + b"\xff" * 8,
    }.items():
        yield name, with_block(bytes((PARTY, len(value))) + value)
    yield "a length that lies, beside an unknown entitlement", as_text(signed(head(entitlement=9)) + b"\0")


def _spare_bits() -> str:
    """170 characters hold 850 bits, two more than 106 bytes have."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    return CODE[:-1] + alphabet[alphabet.index(CODE[-1]) + 1]


def unsupported() -> Iterator[Case]:
    """Codes of our format that require more than this version supports."""
    for digit in "0239":
        yield f"version {digit} on the outside", f"MAY{digit}{CODE[4:]}"
    yield "version 2 and nothing that is understood", "MAY2$%*+-./:"
    yield "version 2 in lower case", f"may2{CODE[4:].lower()}"
    yield "version 2 typed on a French keyboard", typed(f"MAY2{CODE[4:]}", LAYOUTS[4])
    for version in (0, 2, 255):
        yield f"version {version} in the head", as_text(signed(head(version=version)))
    for tag in (CRITICAL, 0xFF):
        yield f"critical extension {tag:#x}", sign(replace(TICKET, extensions=((tag, b"?"),)), private_key(1))
    yield "critical beside harmless", sign(replace(TICKET, extensions=((9, b"?"), (0x90, b""))), private_key(1))
    live = replace(TICKET, flags=TicketFlags.LIVE_PROOF, extensions=((LIVE_PROOF_KEY, bytes(32)),))
    yield "a live proof's key", sign(live, private_key(1))
    yield "a live proof's key and a proof", as_text(signed_bytes(live, private_key(1)) + bytes(68))
    yield "a live proof asked for, and no key", sign(replace(TICKET, flags=TicketFlags.LIVE_PROOF), private_key(1))
    for kind in (0, 7, 255):
        yield f"entitlement {kind}", as_text(signed(head(entitlement=kind)))
    yield (
        "critical extension under a key that is unknown too",
        sign(replace(TICKET, key_id=UNKNOWN_KEY, extensions=((CRITICAL, b""),)), private_key(UNKNOWN_KEY)),
    )


def unknown_key() -> Iterator[Case]:
    """Codes whose key is unknown or revoked."""
    yield "a key that is not held", sign(replace(TICKET, key_id=UNKNOWN_KEY), private_key(UNKNOWN_KEY))
    yield "an unknown key and an altered ticket", as_text(flipped(signed(head(key_id=UNKNOWN_KEY), UNKNOWN_KEY), 80))
    yield "a revoked key", sign(replace(TICKET, key_id=4), private_key(4))
    yield "a revoked key and an altered ticket", as_text(flipped(signed(head(key_id=4), 4), 80))
    elsewhere = replace(TICKET, event_number=70_002)
    yield "another organisation's ticket under a key id that is held", sign(elsewhere, private_key(UNKNOWN_KEY))
    yield "the same under a distrusted key's id", sign(replace(elsewhere, key_id=3), private_key(UNKNOWN_KEY))
    yield "one bit of the event altered", as_text(flipped(signed_bytes(TICKET, private_key(1)), 24))
    yield "a ticket of an event that is not held altered", as_text(flipped(signed_bytes(elsewhere, private_key(1)), 80))


def bad_signature() -> Iterator[Case]:
    """Codes that are not what the key signed."""
    good = signed_bytes(TICKET, private_key(1))
    places = {"ticket id": 56, "issue": 127, "seat": 207, "days": 239, "limit": 255, "flags": 263}
    for place, bit in places.items():
        yield f"one bit of the {place} altered", as_text(flipped(good, bit))
    yield "first bit of the signature altered", as_text(flipped(good, 42 * 8))
    yield "last bit of the signature altered", as_text(flipped(good, len(good) * 8 - 1))
    longer = signed_bytes(replace(TICKET, extensions=((7, b"tomorrow"),)), private_key(1))
    yield "one bit of an extension altered", as_text(flipped(longer, 46 * 8))
    yield "one extension cut out", as_text(head() + longer[-64:])
    yield "another key of the same organisation", as_text(signed(head(), 2))
    yield "a key of another organisation", as_text(signed(head(), UNKNOWN_KEY))
    yield "a distrusted key's ticket altered", as_text(flipped(signed(head(key_id=3), 3), 80))
    yield "signed without the words that stand before it", as_text(signed(head(), domain=b""))
    yield "signed for another purpose", as_text(signed(head(), domain=b"gatehouse:ticket:2\x00"))
    yield "a signature of zeros", as_text(head() + bytes(64))
    yield "a second signature made from the first without the key", as_text(_malleated(good))


def _malleated(good: bytes) -> bytes:
    """The scalar plus the order of the curve: arithmetically equal, but must be refused."""
    scalar = int.from_bytes(good[-32:], "little") + ORDER_OF_THE_CURVE
    return good[:-32] + scalar.to_bytes(32, "little")


REFUSED = {
    "unreadable": unreadable,
    "unsupported_version": unsupported,
    "unknown_key": unknown_key,
    "bad_signature": bad_signature,
}


def document() -> dict[str, Any]:
    """The whole file."""
    return {
        "made_by": "tests/vectors/make_tickets.py",
        "about": "Ticket codes of version 1; docs/ticket-format.md says how they are read. The keys are worth nothing.",
        "signed_as": SIGNED_AS.hex(),
        "keys": [_key(key_id) for key_id in STATES],
        "events": list(EVENTS),
        "read": [_read(name, ticket) for name, ticket in claims()],
        "parties": [_party(name, ticket) for name, ticket in party_cases()],
        "read_anyway": {"as": CODE, "texts": [{"name": name, "text": text} for name, text in read_anyway()]},
        "refused": [_refused(reason, *case) for reason, cases in REFUSED.items() for case in cases()],
    }


def _key(key_id: int) -> dict[str, Any]:
    owner, state = STATES[key_id]
    return {
        "id": key_id,
        "organisation": owner,
        "state": state.value,
        "seed": seed(key_id).hex(),
        "public": public_key(key_id).hex(),
    }


def _read(name: str, ticket: Ticket) -> dict[str, Any]:
    text = sign(ticket, private_key(ticket.key_id))
    answer = read(text, RING)
    if not isinstance(answer, ReadTicket):
        raise SystemExit(f"{name}: {answer.reason}")
    return {
        "name": name,
        "text": text,
        "signed": signed_bytes(ticket, private_key(ticket.key_id)).hex(),
        "claims": as_claims(ticket),
        "organisation": answer.organisation,
        "key_distrusted": answer.key_distrusted,
        "code_hash": answer.code_hash.hex(),
    }


def _party(name: str, ticket: Ticket) -> dict[str, Any]:
    text = sign(ticket, private_key(ticket.key_id))
    answer = read_party_or_ticket(text, RING)
    if not isinstance(answer, ReadParty):
        raise SystemExit(f"{name} is not read as a party")
    return {
        "name": name,
        "text": text,
        "signed": signed_bytes(ticket, private_key(ticket.key_id)).hex(),
        "key_id": ticket.key_id,
        "event_number": answer.event_number,
        "issued_at": answer.issued_at,
        "members": [[str(member.ticket_id), member.issue] for member in answer.members],
        "organisation": answer.organisation,
        "key_distrusted": answer.key_distrusted,
        "code_hash": answer.code_hash.hex(),
    }


def as_claims(ticket: Ticket) -> dict[str, Any]:
    """The claims by name: extensions as tag and hexadecimal value, the ticket id as text, which no double can hold."""
    extensions = [[tag, value.hex()] for tag, value in ticket.extensions]
    return asdict(ticket) | {"ticket_id": str(ticket.ticket_id), "extensions": extensions}


def _refused(reason: str, name: str, text: str) -> dict[str, Any]:
    return {"name": name, "text": text, "reason": reason}


def written() -> str:
    """The file exactly as it must be on disk."""
    return json.dumps(document(), indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(written(), encoding="ascii")
