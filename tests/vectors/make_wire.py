"""Generates snapshot.json, chains.json and requests.json: exact bytes of the protocol for every implementation.

`python -m` writes them anew. Their keys come from published seeds and are worth nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec import structs

from shared.journal.scans import GENESIS, Entry, check_chain, correct, encode, entry_hash, head_message, sign_head
from shared.wire import enrolment, protocol
from shared.wire.http_signatures import answer_base, request_base, sign_answer, sign_request, verify_request
from shared.wire.rows import AnyRow, Row, RowKind
from shared.wire.snapshot import EMPTY_DIGEST, digest_add, movements_to_bytes, pack, row_hash, to_frame
from tests.unit.shared.wire_builders import (
    EIGHT,
    HOUR,
    a_journal,
    a_key,
    a_movement,
    a_ticket_row,
    an_anchor,
    an_entry,
    one_row_of_each_kind,
)

FOLDER = Path(__file__).parent
GATE, SERVER = a_key(1), a_key(2)


def public(key: Any) -> str:
    """The public half, as hex."""
    return str(key.public_key().public_bytes_raw().hex())


# --- snapshot.json ---


def as_row(row: Row) -> dict[str, Any]:
    """A row as JSON."""
    body = None if row.body is None else row.body.hex()
    return {"kind": int(row.kind), "key": str(row.key), "body": body, "hash": f"{row_hash(row):032x}"}


def some_tickets(count: int) -> list[AnyRow]:
    """Tickets sold one after the other, with ids that only look random."""
    return [
        a_ticket_row(
            ticket_id=(place + 1) * 0x9E3779B97F4A7C15 % 2**64,
            seat=place + 1,
            seat_row=str(place // 10 + 1),
            seat_number=str(place % 10 + 1),
            number=f"ABBA-{place + 1}",
            confirmation_code=f"{place:03}QX2M9",
        )
        for place in range(count)
    ]


def frames() -> dict[str, list[Row]]:
    """Rows for frames, by what they show."""
    gone = [Row(RowKind.TICKET, key, None) for key in (5, 2**64 - 1)]
    foreign = [Row(RowKind.GATE, 3, b"\x93\xcc\x01\xa1A\xa1B"), Row(RowKind.GATE, 4, b"\xc1")]
    return {
        "nothing": [],
        "one row of each kind": [pack(row) for row in one_row_of_each_kind()],
        "forty tickets, by columns": [pack(row) for row in some_tickets(40)],
        "rows that are gone": gone,
        "bodies that are not in shortest form": foreign,
        "all of it": [*gone, *(pack(row) for row in some_tickets(20)), *foreign],
    }


def snapshot() -> dict[str, Any]:
    """The rows, their digest, and frames of them."""
    rows = [pack(row) for row in one_row_of_each_kind()]
    return {
        "rows": [as_row(row) for row in rows],
        "digests": {"none": EMPTY_DIGEST.hex(), "all of them": digest_add(EMPTY_DIGEST, *rows).hex()},
        "frames": [
            {"name": name, "frame": to_frame(held).hex(), "rows": [as_row(row) for row in held]}
            for name, held in frames().items()
        ],
        "movements": {
            "bytes": movements_to_bytes(movements()).hex(),
            "are": [
                structs.asdict(one) | {"ticket_id": str(one.ticket_id), "code_hash": one.code_hash.hex()}
                for one in movements()
            ],
        },
    }


def movements() -> list[Any]:
    """An entry, an exit and an annulment."""
    return [a_movement(), a_movement(seq=18, kind=2, at=EIGHT + HOUR), a_movement(seq=19, kind=3, annuls=(4, 1, 17))]


# --- chains.json ---


def as_entry(entry: Entry) -> dict[str, Any]:
    """An entry as JSON: bytes as hex, the ticket's id as text."""
    said = {name: value.hex() if isinstance(value, bytes) else value for name, value in structs.asdict(entry).items()}
    return said | {"ticket_id": str(entry.ticket_id), "notices": list(entry.notices)}


def journal() -> list[Entry]:
    """The entries of a short event."""
    return [
        an_entry(kind="boot", ticket_id=0, code_hash=b"", admitted=False, reason="", notices=(), details={}),
        an_anchor(1_000, EIGHT, rtt=80),
        an_entry(monotonic=61_000),
        an_entry(monotonic=62_000, admitted=False, reason="already_used", notices=()),
        an_entry(kind="annulment", admitted=False, reason="", monotonic=70_000, details={"annuls": [4, 1, 3]}),
        an_entry(seq=9, kind="gap", ticket_id=0, admitted=False, reason="", details={"first": 6, "last": 8}),
        an_entry(seq=10, kind="hologram", details={"deep": {"b": [1, None], "a": 2.5}}),
    ]


def chain(entries: Iterable[Entry]) -> list[Entry]:
    """The entries, each with the hash of the one before."""
    chained: list[Entry] = []
    previous = GENESIS
    for place, entry in enumerate(entries):
        chained.append(structs.replace(entry, seq=place + 1 if entry.seq == 1 else entry.seq, previous=previous))
        previous = entry_hash(encode(chained[-1]))
    return chained


def broken() -> dict[str, list[bytes]]:
    """Broken chains, by what was done to them."""
    good = a_journal(*journal())
    altered = encode(structs.replace(chain(journal())[2], admitted=False))
    return {
        "an entry altered": [*good[:2], altered, *good[3:]],
        "an entry left out": [*good[:2], *good[3:]],
        "two entries swapped": [good[1], good[0], *good[2:]],
        "an entry cut": [*good[:3], good[3][:-1], *good[4:]],
        "a gap not declared": a_journal(an_entry(), an_entry(seq=4)),
        "a gap declared short": a_journal(an_entry(), an_entry(seq=4, kind="gap", details={"first": 2, "last": 2})),
    }


def clocks() -> dict[str, list[Entry]]:
    """Journals whose times must be corrected."""
    two, three = {"boot": b"boot-two"}, {"boot": b"boot-3rd"}
    return {
        "after an anchor": [an_anchor(0, EIGHT, 80), an_entry(monotonic=10_000_000)],
        "before an anchor": [an_entry(monotonic=10_000), an_anchor(1_010_000, EIGHT)],
        "between two": [an_anchor(0, EIGHT), an_entry(monotonic=500_000), an_anchor(1_000_000, EIGHT + 1_000_050)],
        "between two that contradict": [
            an_anchor(0, EIGHT),
            an_entry(monotonic=500_000),
            an_anchor(1_000_000, EIGHT + 1_060_000),
        ],
        "a boot between two others": [
            an_anchor(0, EIGHT),
            an_entry(monotonic=7_000, **two),
            an_anchor(5_000, EIGHT + HOUR, **three),
        ],
        "a boot that never heard the server": [an_anchor(0, EIGHT), an_entry(monotonic=7_000, **two)],
        "a journal that never heard the server": [an_entry()],
    }


def chains() -> dict[str, Any]:
    """Entries, their bytes and hashes, heads, broken chains and corrected times."""
    entries = chain(journal())
    head = entry_hash(encode(entries[-1]))
    return {
        "genesis": GENESIS.hex(),
        "entries": [
            {"entry": as_entry(entry), "body": encode(entry).hex(), "hash": entry_hash(encode(entry)).hex()}
            for entry in entries
        ],
        "head": {
            "public": public(GATE),
            "message": head_message(4, 1, 10, head).hex(),
            "signature": sign_head(GATE, 4, 1, 10, head).hex(),
        },
        "broken": [
            {
                "name": name,
                "bodies": [body.hex() for body in bodies],
                "broken_at": check_chain(bodies, GENESIS).broken_at,
            }
            for name, bodies in broken().items()
        ],
        "times": [
            {
                "name": name,
                "bodies": [encode(entry).hex() for entry in entries],
                "corrected": [[at, uncertainty] for _, at, uncertainty in correct(entries)],
            }
            for name, entries in clocks().items()
        ],
    }


# --- requests.json ---

REQUESTS: dict[str, tuple[Any, ...]] = {
    "a long poll": (
        "POST",
        "tickets.example.org",
        "/sync/v1/changes",
        "",
        b"\x82\xa6events\x90\xa4wait\x19",
        "pull",
        17,
    ),
    "a page of a snapshot": (
        "GET",
        "tickets.example.org",
        "/sync/v1/snapshot",
        "event=7&after=5%3A17",
        b"",
        "pull",
        18,
    ),
    "an upload to a port of its own": ("POST", "10.0.0.5:8000", "/sync/v1/journal", "", bytes(range(32)), "push", 3),
    "a hello in capitals with a default port": (
        "POST",
        "TICKETS.example.org:443",
        "/sync/v1/hello",
        "",
        b"\x80",
        "other",
        1,
    ),
}


def as_request(name: str) -> dict[str, Any]:
    """A signed request, with the text that is signed."""
    *parts, channel, counter = REQUESTS[name]
    method, authority, path, query, body = parts
    headers = sign_request(*parts, key=GATE, device=4, channel=channel, counter=counter)
    params = headers["Signature-Input"].removeprefix("gate=")
    base = request_base(method, authority, path, query, headers["Content-Digest"], params)
    said = {"method": method, "authority": authority, "path": path, "query": query, "body": body.hex()}
    return {
        "name": name,
        **said,
        "device": 4,
        "channel": channel,
        "counter": counter,
        "base": base.decode(),
        "headers": headers,
    }


def as_answer(name: str, status: int, body: bytes, position: str) -> dict[str, Any]:
    """A signed response to the request of that name."""
    *parts, _, _ = REQUESTS[name]
    headers = as_request(name)["headers"]
    signature = verify_request(*parts, headers=headers, public=GATE.public_key()).signature
    signed = sign_answer(status, body, key=SERVER, server_time=EIGHT, position=position, request_signature=signature)
    base = answer_base(status, signed["Content-Digest"], str(EIGHT), position, signature)
    return {
        "to": name,
        "status": status,
        "body": body.hex(),
        "server_time": EIGHT,
        "position": position,
        "request_signature": signature.hex(),
        "base": base.decode(),
        "headers": signed,
    }


ADDRESS = "https://tickets.example.org"


def enrolments() -> list[dict[str, Any]]:
    """Codes, and the proofs made with them."""
    return [as_enrolment(secret) for secret in (bytes(10), bytes(range(10)), b"\xff" * 10)]


def as_enrolment(secret: bytes) -> dict[str, Any]:
    """A code and everything derived from it."""
    server, device, nonce = bytes.fromhex(public(SERVER)), bytes.fromhex(public(GATE)), bytes(range(16))
    code = enrolment.new_code(lambda _: secret, server)
    return {
        "secret": secret.hex(),
        "server_public": server.hex(),
        "device_public": device.hex(),
        "nonce": nonce.hex(),
        "text": code.text,
        "address": ADDRESS,
        "shown": code.shown(ADDRESS),
        "fingerprint": code.fingerprint.hex(),
        "id": code.id.hex(),
        "proof": enrolment.proof(code, device, nonce).hex(),
        "server_proof": enrolment.server_proof(code, device, server, nonce).hex(),
        "check_number": enrolment.check_number(device, server, nonce),
    }


def a_batch() -> protocol.Batch:
    """A change ready to be signed; its rows are arbitrary bytes, so that compression cannot make them differ."""
    return protocol.Batch(
        event=7,
        lineage=b"lineage1",
        from_revision=30,
        to_revision=33,
        digest=bytes(range(16)),
        as_of=EIGHT,
        rows=b"\x92\x01\x90",
    )


def messages() -> Sequence[protocol.Message]:
    """Some encoded messages."""
    signed = protocol.sign_batch(a_batch(), SERVER)
    return (
        protocol.ChangesRequest(
            events=[protocol.EventAt(event=7, lineage=b"lineage1", revision=30, heard=12)], wait=25.0
        ),
        protocol.ChangesAnswer(events=[signed], server_time=EIGHT),
        protocol.JournalRequest(
            branch=1, entries=[b"\x90"], head_seq=17, head=bytes(range(32)), head_signature=bytes(64)
        ),
        protocol.ErrorAnswer(error=protocol.ErrorBody(code="conflict", message="No.", details={"field": "gate"})),
    )


def requests() -> dict[str, Any]:
    """Signed requests and responses, enrolment, batches and messages."""
    return {
        "gate_public": public(GATE),
        "server_public": public(SERVER),
        "requests": [as_request(name) for name in REQUESTS],
        "answers": [
            as_answer("a long poll", 200, b"\x80", "7:33"),
            as_answer("a page of a snapshot", 404, b"", ""),
        ],
        "enrolments": enrolments(),
        "batch": {
            "message": protocol.batch_message(a_batch()).hex(),
            "signature": protocol.sign_batch(a_batch(), SERVER).signature.hex(),
        },
        "messages": [{"type": type(one).__name__, "bytes": protocol.encode(one).hex()} for one in messages()],
    }


FILES = {"snapshot.json": snapshot, "chains.json": chains, "requests.json": requests}


def written(name: str) -> str:
    """The file exactly as it must be on disk."""
    return json.dumps(FILES[name](), indent=1) + "\n"


if __name__ == "__main__":
    for file in FILES:
        (FOLDER / file).write_text(written(file), encoding="ascii")
