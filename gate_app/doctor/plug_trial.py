"""Proves a memory card: what it said was stored must still be there after the power was cut."""

from __future__ import annotations

import os
from collections.abc import Generator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from gate_app.installation.identity import replace_whole
from shared.errors import StorageError

RECORD: Final = 4096
MOST: Final = 20_000
"""Eighty megabytes: some minutes of writing."""
RENAMED_EVERY: Final = 16


@dataclass(frozen=True, slots=True)
class Kept:
    """What a card still has: all records up to `last`, and whether that is all it had promised."""

    last: int
    damaged: int
    renamed: int

    def holds(self, seen: int) -> bool:
        """Whether nothing is lost that was on the screen before the power was cut."""
        return self.last >= seen and self.damaged == 0 and self.renamed <= self.last


class PlugTrial:
    """A trial in a gate's folder: `write` until the power is cut, then `kept`."""

    def __init__(self, folder: Path) -> None:
        self._records = folder / "plug-trial.records"
        self._renamed = folder / "plug-trial.renamed"

    @property
    def begun(self) -> bool:
        """Whether there are records of an earlier run to check."""
        return self._records.exists()

    def write(self) -> Generator[int]:
        """Stores one record after the other; yields the number of each once the card has said that it is stored.

        Raises StorageError.
        """
        try:
            handle = os.open(self._records, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            try:
                for number in range(1, MOST + 1):
                    os.write(handle, record(number))
                    os.fsync(handle)
                    if number % RENAMED_EVERY == 1:
                        replace_whole(self._renamed, str(number).encode())
                    yield number
            finally:
                os.close(handle)
        except OSError as why:
            raise StorageError(f"The trial cannot be written: {why.strerror}.") from why

    def kept(self) -> Kept:
        """What is there of an earlier run. The record that was being written may be missing or torn; no other."""
        try:
            content = self._records.read_bytes()
            renamed = int(self._renamed.read_bytes() or b"0") if self._renamed.exists() else 0
        except (OSError, ValueError) as why:
            raise StorageError(f"The trial cannot be read: {why}. The card is not fit for a gate.") from why
        found = [content[at : at + RECORD] for at in range(0, len(content), RECORD)]
        whole = [part == record(number) for number, part in enumerate(found, 1)]
        last = whole.index(False) if False in whole else len(whole)
        return Kept(last, sum(whole[last:]), renamed)

    def forget(self) -> None:
        """Removes the trial's files."""
        self._records.unlink(missing_ok=True)
        self._renamed.unlink(missing_ok=True)
        self._renamed.with_suffix(".fresh").unlink(missing_ok=True)  # of a rename that was cut short


def record(number: int) -> bytes:
    """The content of one record: its number, and bytes that follow from it."""
    head = b"%016d" % number
    return head + sha256(head).digest() * ((RECORD - len(head)) // 32) + bytes((RECORD - len(head)) % 32)
