#!/usr/bin/env python3
"""Recomputes a published draw from the file alone.

scripts/verify_draw.py FILE… [--entry RECEIPT]

A file has one line of JSON (seed, commitment, root, beacon, entries), then one entry a line in the order of service.
It needs nothing but Python, and nothing of Gatehouse: whoever doubts a draw may read all of it.
"""

import argparse
import json
import sys
from hashlib import sha256
from pathlib import Path
from typing import NoReturn


class Wrong(Exception):
    """What is wrong with a file, for people."""


def read(path: str) -> tuple[dict[str, bytes], bytes, int, list[bytes]]:
    """The first line, and the entries in the order of service."""
    try:
        lines = Path(path).read_text(encoding="ascii").splitlines()
        head, entries = json.loads(lines[0]), [bytes.fromhex(line) for line in lines[1:]]
        parts = {name: bytes.fromhex(head[name]) for name in ("seed", "commitment", "root")}
        beacon = head["beacon"]["value"] if head["beacon"] else ""
        return parts, beacon.encode(), int(head["entries"]), entries
    except OSError as problem:
        raise Wrong(f"cannot be read: {problem.strerror}") from None
    except (ValueError, LookupError, TypeError, AttributeError):
        raise Wrong("is no published draw, or was damaged on its way") from None


def merkle_root(entries: list[bytes]) -> bytes:
    """The root of RFC 9162 over the entries, sorted."""
    level = [sha256(b"\0" + entry).digest() for entry in sorted(entries)]
    while len(level) > 1:
        above = [sha256(b"\1" + left + right).digest() for left, right in zip(level[::2], level[1::2], strict=False)]
        level = above + level[-1:] if len(level) % 2 else above
    return level[0] if level else sha256().digest()


def verify(path: str, receipt: bytes | None) -> str:
    """How many entries the draw has, and at which place the receipt is; Wrong where something does not fit."""
    parts, beacon, count, entries = read(path)
    if any(len(entry) != 16 for entry in entries) or len(set(entries)) != len(entries):
        raise Wrong("has an entry twice, or one that is not 16 bytes")
    if len(entries) != count:
        raise Wrong(f"says that it has {count} entries, but has {len(entries)}")
    if sha256(b"gatehouse draw seed\0" + parts["seed"]).digest() != parts["commitment"]:
        raise Wrong("was drawn with another seed than the one promised beforehand")
    if merkle_root(entries) != parts["root"]:
        raise Wrong("does not have the entries of the root published at the opening")
    prefix, before = sha256(parts["seed"] + parts["root"] + sha256(beacon).digest()), b""
    for place, entry in enumerate(entries, 1):
        hashed = prefix.copy()
        hashed.update(entry)
        key = hashed.digest()
        if key <= before:
            raise Wrong(f"has another order than the one drawn, at place {place}")
        before = key
    if receipt is None:
        return f"{count} entries, in the order drawn"
    if receipt not in entries:
        raise Wrong("does not have the entry of this receipt")
    return f"{count} entries, in the order drawn; the receipt is at place {entries.index(receipt) + 1}"


class Arguments(argparse.ArgumentParser):
    """A mistake is one line: this file is used without the rest of the project."""

    def error(self, message: str) -> NoReturn:
        """One line, and where to read more."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def main() -> int:
    """Verify each file; 1 where one is wrong, 2 for wrong arguments."""
    parser = Arguments(description="Recomputes published draws.")
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--entry", metavar="RECEIPT", help="say at which place this entry is")
    given = parser.parse_args()
    try:
        receipt = bytes.fromhex(given.entry.replace("-", "")) if given.entry else None
    except ValueError:
        parser.error("--entry: a receipt has 32 hexadecimal digits")
    failed = False
    for path in given.files:
        try:
            print(f"{path}: {verify(path, receipt)}")
        except Wrong as problem:
            failed = True
            print(f"{path} {problem}.", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
