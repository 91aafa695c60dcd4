"""What a statement says of one credit, and its name: the bank's, or a hash where the bank gives none."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from shared.errors import InvalidRequest

MOST_ENTRIES: Final = 2_000
_AMOUNT: Final = re.compile(r"([+-]?)(\d{1,12})(?:\.(\d{1,2})0*)?")


@dataclass(frozen=True, slots=True)
class Entry:
    """Money that has arrived at the account."""

    reference: str  # unique among the entries of the account; empty until `named`
    cents: int
    currency: str  # empty where the file does not say
    booked_on: str
    text: str  # what the payer wrote


def named(entries: Iterable[Entry]) -> list[Entry]:
    """The entries, each with a reference: the same one whenever the same statement is sent again."""
    seen: Counter[str] = Counter()
    found: list[Entry] = []
    for entry in entries:
        base = entry.reference or _hash(entry)
        seen[base] += 1
        found.append(replace(entry, reference=base if seen[base] == 1 else f"{base}/{seen[base]}"))
        if len(found) > MOST_ENTRIES:
            raise unreadable(f"it has more than {MOST_ENTRIES} credits. Send a shorter period")
    return found


def _hash(entry: Entry) -> str:
    said = "\0".join((entry.booked_on, str(entry.cents), entry.currency, " ".join(entry.text.split())))
    return "entry " + hashlib.sha256(said.encode()).hexdigest()[:32]


def cents_of(text: str) -> int:
    """An amount with a point, in whole cents; ValueError where it is none."""
    found = _AMOUNT.fullmatch(text)
    if found is None:
        raise ValueError(text)
    sign, whole, part = found.groups()
    cents = int(whole) * 100 + int((part or "").ljust(2, "0"))
    return -cents if sign == "-" else cents


def unreadable(why: str) -> InvalidRequest:
    """The file cannot be read, and nothing of it was noted."""
    return InvalidRequest(f"content: this file cannot be read: {why}.", field="content", code="bad_bank_file")
