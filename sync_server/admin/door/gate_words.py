"""The age of each gate's word: when its devices were last heard, and how many scans they still hold back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from shared.clock import Millis
from sync_server.devices.queries import DeviceWord
from sync_server.devices.rules import is_silent


@dataclass(frozen=True, slots=True)
class GateWord:
    """What is known of one gate's devices."""

    devices: int = 0
    silent: int = 0
    heard_at: Millis | None = None  # the latest word of any of them
    oldest_at: Millis | None = None  # of the device that has been silent longest
    unsent: int = 0  # entries that they said they had not uploaded yet

    @property
    def sure(self) -> bool:
        """Whether all that happened at this gate is counted."""
        return not self.silent and not self.unsent

    def and_device(self, heard_at: Millis | None, unsent: int, *, silent: bool) -> GateWord:
        """With one more device."""
        known = [at for at in (self.heard_at, heard_at) if at is not None]
        quiet = [at for at in (self.oldest_at, heard_at if silent else None) if at is not None]
        return GateWord(
            self.devices + 1,
            self.silent + silent,
            max(known, default=None),
            min(quiet, default=None),
            self.unsent + unsent,
        )


def gate_words(words: Iterable[DeviceWord], now: Millis) -> dict[int, GateWord]:
    """The word of each gate of an event, by number; 0 is for devices that stand at no gate yet."""
    found: dict[int, GateWord] = {}
    for word in words:
        silent, gate = is_silent(now, word.heard_at), word.gate or 0
        found[gate] = found.get(gate, GateWord()).and_device(word.heard_at, word.unsent, silent=silent)
    return found
