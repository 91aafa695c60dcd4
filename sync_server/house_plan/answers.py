"""What is said of a house, as JSON, and packed once for each way in which browsers take it."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from base64 import b64encode
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, cast

import orjson
import zstandard

from sync_server.house_plan.picture import Picture, ZoneNow, mark_of
from sync_server.plumbing.shapes import iso, iso_or_none
from sync_server.seating.bitmap import PUBLICLY, pack

GZIP: Final = "gzip"
LEVEL: Final = 6
BEFORE: Final = b'{"plan":'
ENCODINGS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "zstd": lambda text: zstandard.ZstdCompressor(LEVEL).compress(text),
    GZIP: lambda text: gzip.compress(text, LEVEL, mtime=0),
}
"""In the order in which they are preferred."""


@dataclass(slots=True)
class Packed:
    """An answer's text, and its packed forms as far as anybody has asked for them."""

    name: str  # the same for the same, in every process
    text: bytes
    plan: Packed | None = None  # with which the text begins
    _packed: dict[str, bytes] = field(default_factory=dict)
    _begun: Any = None

    def by(self, encoding: str) -> bytes:
        """In this encoding; "" is none."""
        if not encoding:
            return self.text
        if encoding not in self._packed:
            whole = self.plan is None or encoding != GZIP
            self._packed[encoding] = ENCODINGS[encoding](self.text) if whole else self._gone_on()
        return self._packed[encoding]

    def _gone_on(self) -> bytes:
        """Packed from behind the plan on: nine tenths of the work are the plan, and the same for every state."""
        plan = cast(Packed, self.plan)
        if plan._begun is None:
            begun = zlib.compressobj(LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
            plan._begun = begun.compress(BEFORE + plan.text), begun
        before, begun = plan._begun
        going_on = begun.copy()
        rest = self.text[len(BEFORE) + len(plan.text) :]
        return b"".join([before, going_on.compress(rest), going_on.flush()])


@dataclass(frozen=True, slots=True)
class Mark:
    """What a reader knows of a house: of which house, what was told, until when holds were let go, what was kept."""

    basis: str
    version: int
    as_of: int
    kept: str

    def __str__(self) -> str:
        """As readers hand it back."""
        return f"{self.basis}.{self.version}.{self.as_of}.{self.kept}"

    @classmethod
    def read(cls, text: str) -> Mark | None:
        """What was handed back; None for what was never given out."""
        parts = text.split(".")
        if len(parts) != 4 or not all(part.isascii() and part.isdigit() and len(part) < 18 for part in parts[1:3]):
            return None
        return cls(parts[0], int(parts[1]), int(parts[2]), parts[3])


def mark(basis: str, version: int, picture: Picture, kept: Collection[int]) -> Mark:
    """What somebody knows who sees this picture."""
    return Mark(basis, version, picture.as_of, mark_of(kept))


def seats_shown(picture: Picture, kept: Collection[int], *, organiser: bool) -> bytes:
    """Seat by seat; what is held looks taken to everybody but organisers."""
    shown = picture.shown(kept)
    return shown if organiser else shown.translate(PUBLICLY)


def state(known: Mark, plan_id: str, picture: Picture, kept: Collection[int], *, organiser: bool) -> dict[str, Any]:
    """How it stands with every seat and zone."""
    shown = seats_shown(picture, kept, organiser=organiser)
    return {
        "version": str(known),
        "plan": plan_id,
        "as_of": iso(picture.as_of),
        "first": picture.ground.first,
        "count": len(shown),
        "seats": b64encode(pack(shown)).decode(),
        "zones": zones(picture.zones(), organiser=organiser),
        "next_end": iso_or_none(picture.next_end),
    }


def name_of(told: dict[str, Any]) -> str:
    """Every process looks at another moment, and says so; how it stands is the same, and so is its name."""
    same = {key: value for key, value in told.items() if key not in {"version", "as_of"}}
    return hashlib.blake2b(orjson.dumps(same), digest_size=10).hexdigest()


def zones(now: Iterable[ZoneNow], *, organiser: bool) -> list[dict[str, int]]:
    """How full the zones are; what is held is told to organisers only."""
    return [_zone(zone, organiser=organiser) for zone in now]


def _zone(zone: ZoneNow, *, organiser: bool) -> dict[str, int]:
    told = {"number": zone.number, "capacity": zone.capacity, "available": zone.available}
    return told | ({"held": zone.held, "sold": zone.sold} if organiser else {})


def whole(name: str, plan: Packed, told: bytes) -> Packed:
    """Plan and state as one answer."""
    return Packed(name, b"".join([BEFORE, plan.text, b',"state":', told, b"}"]), plan)
