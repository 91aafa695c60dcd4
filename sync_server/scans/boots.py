"""What a journal's runs tell about time, kept beside the journal so that a batch need not read it whole."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

import msgspec

from shared.scans import Anchor, Boot, Entry, Timeline, anchor_of

Kept = tuple[int, int, int]
"""Of an anchor: monotonic, server, round trip."""


class KeptBoot(msgspec.Struct, array_like=True):
    """One run of a device: where it began in the journal, its span, and the server times it recorded."""

    id: bytes
    first_seq: int
    first: int
    last: int
    anchors: list[Kept]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[KeptBoot]).decode


def read(kept: bytes) -> dict[bytes, KeptBoot]:
    """By the boot's id."""
    return {boot.id: boot for boot in _decode(kept)} if kept else {}


def write(boots: dict[bytes, KeptBoot]) -> bytes:
    """As it is kept."""
    return _encode(list(boots.values()))


def note(boots: dict[bytes, KeptBoot], entries: Iterable[Entry]) -> None:
    """Add what these entries tell; the same for every order in which they come."""
    for entry in entries:
        boot = boots.get(entry.boot)
        if boot is None:
            boot = boots[entry.boot] = KeptBoot(entry.boot, entry.seq, entry.monotonic, entry.monotonic, [])
        boot.first_seq = min(boot.first_seq, entry.seq)
        boot.first, boot.last = min(boot.first, entry.monotonic), max(boot.last, entry.monotonic)
        anchor = anchor_of(entry)
        if anchor is not None:
            boot.anchors.append((anchor.monotonic, anchor.server, anchor.rtt))


def timeline(boots: dict[bytes, KeptBoot], entries: Sequence[Entry]) -> Timeline:
    """Corrected times for these entries of the journal."""
    in_order = sorted(boots.values(), key=lambda boot: boot.first_seq)
    spans: dict[bytes, tuple[int, int]] = {}
    for entry in entries:
        low, high = spans.get(entry.boot, (entry.monotonic, entry.monotonic))
        spans[entry.boot] = min(low, entry.monotonic), max(high, entry.monotonic)
    return Timeline([_boot(kept, spans.get(kept.id)) for kept in in_order])


def _boot(kept: KeptBoot, span: tuple[int, int] | None) -> Boot:
    return Boot(kept.id, kept.first, kept.last, tuple(Anchor(*anchor) for anchor in _near(sorted(kept.anchors), span)))


def _near(anchors: list[Kept], span: tuple[int, int] | None) -> list[Kept]:
    """The anchors that bear on a span, and the outermost ones, which bear on other boots: a long night has hundreds."""
    if len(anchors) <= 2:
        return anchors
    inner: list[Kept] = []
    if span is not None:
        low = bisect_left(anchors, (span[0],)) - 1
        high = bisect_left(anchors, (span[1] + 1,)) + 1
        inner = anchors[max(low, 0) : high]
    return sorted({anchors[0], *inner, anchors[-1]})
