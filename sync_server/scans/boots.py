"""The boots of a journal and their time anchors, stored with the journal so that a batch need not read all of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

import msgspec

from shared.journal.scans import Anchor, Boot, Entry, Timeline, anchor_of

StoredAnchor = tuple[int, int, int]
"""An anchor as (monotonic, server, round trip)."""


class StoredBoot(msgspec.Struct, array_like=True):
    """One boot of a device: its first entry, the span of its monotonic clock, and its time anchors."""

    id: bytes
    first_seq: int
    first: int
    last: int
    anchors: list[StoredAnchor]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[StoredBoot]).decode


def read(stored: bytes) -> dict[bytes, StoredBoot]:
    """The stored boots by id."""
    return {boot.id: boot for boot in _decode(stored)} if stored else {}


def write(boots: dict[bytes, StoredBoot]) -> bytes:
    """The boots as they are stored."""
    return _encode(list(boots.values()))


def note(boots: dict[bytes, StoredBoot], entries: Iterable[Entry]) -> None:
    """Add these entries' times and anchors; the result does not depend on their order."""
    for entry in entries:
        boot = boots.get(entry.boot)
        if boot is None:
            boot = boots[entry.boot] = StoredBoot(entry.boot, entry.seq, entry.monotonic, entry.monotonic, [])
        boot.first_seq = min(boot.first_seq, entry.seq)
        boot.first, boot.last = min(boot.first, entry.monotonic), max(boot.last, entry.monotonic)
        anchor = anchor_of(entry)
        if anchor is not None:
            boot.anchors.append((anchor.monotonic, anchor.server, anchor.rtt))


def timeline(boots: dict[bytes, StoredBoot], entries: Sequence[Entry]) -> Timeline:
    """Corrected times for these entries of the journal."""
    in_order = sorted(boots.values(), key=lambda boot: boot.first_seq)
    spans: dict[bytes, tuple[int, int]] = {}
    for entry in entries:
        low, high = spans.get(entry.boot, (entry.monotonic, entry.monotonic))
        spans[entry.boot] = min(low, entry.monotonic), max(high, entry.monotonic)
    return Timeline([_boot(boot, spans.get(boot.id)) for boot in in_order])


def _boot(stored: StoredBoot, span: tuple[int, int] | None) -> Boot:
    return Boot(
        stored.id, stored.first, stored.last, tuple(Anchor(*one) for one in _near(sorted(stored.anchors), span))
    )


def _near(anchors: list[StoredAnchor], span: tuple[int, int] | None) -> list[StoredAnchor]:
    """The anchors that matter for a span, and the outermost ones, which matter for other boots."""
    if len(anchors) <= 2:
        return anchors
    inner: list[StoredAnchor] = []
    if span is not None:
        low = bisect_left(anchors, (span[0],)) - 1
        high = bisect_left(anchors, (span[1] + 1,)) + 1
        inner = anchors[max(low, 0) : high]
    return sorted({anchors[0], *inner, anchors[-1]})
