"""Follows a chain of seals, and says where it breaks: the same for a database and for an exported file."""

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
class Apart:
    """Personal values of one part of a line as they are found; erased ones have neither salt nor content."""

    salt: bytes | None
    content: str | None
    erased: bool


@dataclass(frozen=True, slots=True)
class Link:
    """A sealed line as it is found; `line` is what the seal should cover."""

    seq: int
    seal: bytes
    line: Mapping[str, Any]
    apart: Mapping[str, Apart] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a chain: noted somewhere else, it proves that nothing before it was changed since."""

    seq: int = 0
    seal: bytes = rules.START


BEGINNING: Final = Place()


@dataclass(frozen=True, slots=True)
class Break:
    """The first line that is not as it was sealed."""

    seq: int
    line_id: str | None
    problem: str


@dataclass(frozen=True, slots=True)
class Followed:
    """How far the seals hold, how many lines have erased values, and where the chain breaks, if it does."""

    place: Place
    erased: int
    broken: Break | None


def follow(links: Iterable[Link], start: Place = BEGINNING, known: Iterable[Place] = ()) -> Followed:
    """Check every seal from `start` on; places `known` from elsewhere must lie on the way."""
    place, erased, noted = start, 0, {place.seq: place.seal for place in known if place.seq > start.seq}
    for link in links:
        broken = _break(link, place, noted.pop(link.seq, None))
        if broken is not None:
            return Followed(place, erased, broken)
        place = Place(link.seq, link.seal)
        erased += any(apart.erased for apart in link.apart.values())
    if noted:
        lost = "The chain ends before the place that was noted: lines are cut off, or an older backup was restored."
        return Followed(place, erased, Break(place.seq + 1, None, lost))
    return Followed(place, erased, None)


def _break(link: Link, last: Place, noted: bytes | None) -> Break | None:
    here = str(link.line.get("id"))
    if link.seq != last.seq + 1:
        return Break(last.seq + 1, None, f"Line {last.seq + 1} is missing; the next that is there is line {link.seq}.")
    if link.seal != rules.seal(last.seal, link.seq, link.line):
        return Break(link.seq, here, "The line was altered or moved after it was sealed.")
    if noted is not None and noted != link.seal:
        return Break(link.seq, here, "The seal is not the one that was noted: lines up to here were sealed anew.")
    for part in PARTS:
        problem = _apart_problem(link.line.get(f"{part}_digest"), link.apart.get(part))
        if problem is not None:
            return Break(link.seq, here, problem)
    return None


def _apart_problem(digest: str | None, apart: Apart | None) -> str | None:
    if digest is None:
        return None if apart is None else "Personal values were added to the line later."
    if apart is None:
        return "Personal values of the line are gone, and not by an erasure."
    if apart.erased and apart.salt is None and apart.content is None:
        return None
    if apart.salt is None or apart.content is None or rules.digest(apart.salt, apart.content).hex() != digest:
        return "Personal values of the line were altered."
    return None


def head_break(found: Place, head: Place | None) -> Break | None:
    """Whether a chain that was followed up to `found` ends where its head says."""
    if head is None:
        return (
            None if found.seq == 0 else Break(found.seq, None, "There are sealed lines, but the chain's head is gone.")
        )
    if found.seq < head.seq:
        words = f"Lines {found.seq + 1} to {head.seq} are missing at the end of the chain."
        return Break(found.seq + 1, None, words)
    if found.seq > head.seq:
        return Break(
            head.seq + 1, None, f"Line {head.seq + 1} lies beyond the head: it was added, or the head set back."
        )
    return None if found.seal == head.seal else Break(found.seq, None, "The head is not the seal of the last line.")


def check_signature(chain: str, place: Place, at: int, signature: bytes | None, public: bytes) -> None:
    """Untrusted unless this key has signed that the chain reached this place at that time."""
    try:
        message = rules.head_message(chain, place.seq, place.seal, at)
        Ed25519PublicKey.from_public_bytes(public).verify(signature or b"", message)
    except (InvalidSignature, ValueError):
        raise Untrusted("The head of the audit log's chain is not signed by this server's key.") from None
