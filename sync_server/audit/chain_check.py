"""Checks a chain of seals and says where it breaks, for a database and an exported file alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from shared.errors import Untrusted
from sync_server.audit import rules

PARTS: Final = ("actor", "subject")


@dataclass(frozen=True, slots=True)
class PersonalValues:
    """The stored personal values of one part of a line; erased ones have neither salt nor content."""

    salt: bytes | None
    content: str | None
    erased: bool


@dataclass(frozen=True, slots=True)
class SealedLine:
    """A sealed line as stored; `line` is what the seal should cover."""

    seq: int
    seal: bytes
    line: Mapping[str, Any]
    personal: Mapping[str, PersonalValues] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChainPosition:
    """A position in a chain: noted elsewhere, it proves later that nothing before it has changed."""

    seq: int = 0
    seal: bytes = rules.INITIAL_SEAL


CHAIN_START: Final = ChainPosition()


@dataclass(frozen=True, slots=True)
class ChainBreak:
    """The first line that is not as it was sealed."""

    seq: int
    line_id: str | None
    problem: str


@dataclass(frozen=True, slots=True)
class ChainCheck:
    """How far the seals are intact, how many lines have erased values, and the first break, if any."""

    place: ChainPosition
    erased: int
    broken: ChainBreak | None


def check_chain(
    lines: Iterable[SealedLine], start: ChainPosition = CHAIN_START, known: Iterable[ChainPosition] = ()
) -> ChainCheck:
    """Check every seal after `start`; positions `known` from elsewhere must be part of the chain."""
    position, erased = start, 0
    noted = {one.seq: one.seal for one in known if one.seq > start.seq}
    for line in lines:
        broken = _break(line, position, noted.pop(line.seq, None))
        if broken is not None:
            return ChainCheck(position, erased, broken)
        position = ChainPosition(line.seq, line.seal)
        erased += any(values.erased for values in line.personal.values())
    if noted:
        lost = "The chain ends before the position that was noted: lines were cut off, or an older backup was restored."
        return ChainCheck(position, erased, ChainBreak(position.seq + 1, None, lost))
    return ChainCheck(position, erased, None)


def _break(line: SealedLine, last: ChainPosition, noted: bytes | None) -> ChainBreak | None:
    line_id = str(line.line.get("id"))
    if line.seq != last.seq + 1:
        return ChainBreak(last.seq + 1, None, f"Line {last.seq + 1} is missing; the next one is line {line.seq}.")
    if line.seal != rules.seal(last.seal, line.seq, line.line):
        return ChainBreak(line.seq, line_id, "The line was altered or moved after it was sealed.")
    if noted is not None and noted != line.seal:
        return ChainBreak(line.seq, line_id, "The seal is not the one that was noted: lines up to here were resealed.")
    for part in PARTS:
        problem = _personal_problem(line.line.get(f"{part}_digest"), line.personal.get(part))
        if problem is not None:
            return ChainBreak(line.seq, line_id, problem)
    return None


def _personal_problem(digest: str | None, values: PersonalValues | None) -> str | None:
    if digest is None:
        return None if values is None else "Personal values were added to the line later."
    if values is None:
        return "Personal values of the line are missing, but were not erased."
    if values.erased and values.salt is None and values.content is None:
        return None
    if values.salt is None or values.content is None or rules.digest(values.salt, values.content).hex() != digest:
        return "Personal values of the line were altered."
    return None


def check_head(found: ChainPosition, head: ChainPosition | None) -> ChainBreak | None:
    """The break, if a chain that was checked up to `found` does not end where its head says."""
    if head is None:
        return ChainBreak(found.seq, None, "There are sealed lines, but the chain has no head.") if found.seq else None
    if found.seq < head.seq:
        problem = f"Lines {found.seq + 1} to {head.seq} are missing at the end of the chain."
        return ChainBreak(found.seq + 1, None, problem)
    if found.seq > head.seq:
        problem = f"Line {head.seq + 1} is beyond the head: it was added, or the head was set back."
        return ChainBreak(head.seq + 1, None, problem)
    if found.seal != head.seal:
        return ChainBreak(found.seq, None, "The head is not the seal of the last line.")
    return None


def check_signature(chain: str, position: ChainPosition, at: int, signature: bytes | None, public: bytes) -> None:
    """Raise Untrusted unless this key signed that the chain reached this position at that time."""
    try:
        message = rules.head_message(chain, position.seq, position.seal, at)
        Ed25519PublicKey.from_public_bytes(public).verify(signature or b"", message)
    except (InvalidSignature, ValueError):
        raise Untrusted("The head of the audit log's chain is not signed by this server's key.") from None
