"""Seat maps as JSON, compressed once for each encoding that browsers accept."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from base64 import b64encode
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Final, cast

import orjson
import zstandard

from sync_server.events.days.chosen_days import ChosenDays
from sync_server.plumbing.api.schemas import iso, iso_or_none
from sync_server.seat_maps import occupancy
from sync_server.seating.bitmap import PUBLIC_STATES, pack
from sync_server.seating.live_seats import LiveSeats

GZIP: Final = "gzip"
LEVEL: Final = 6
PLAN_PREFIX: Final = b'{"plan":'
ENCODINGS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "zstd": lambda text: zstandard.ZstdCompressor(LEVEL).compress(text),
    GZIP: lambda text: gzip.compress(text, LEVEL, mtime=0),
}
"""In order of preference."""


@dataclass(slots=True)
class EncodedJson:
    """A JSON document, with the compressed forms requested so far."""

    name: str  # equal content has an equal name, in every process
    text: bytes
    plan: EncodedJson | None = None  # the plan that the text begins with
    _encoded: dict[str, bytes] = field(default_factory=dict)
    _gzip_prefix: Any = None  # compressed bytes and compressor state just after the plan

    def encode(self, encoding: str) -> bytes:
        """The document in one of ENCODINGS; uncompressed for ""."""
        if not encoding:
            return self.text
        if encoding not in self._encoded:
            from_plan = self.plan is not None and encoding == GZIP
            self._encoded[encoding] = self._gzip_from_plan() if from_plan else ENCODINGS[encoding](self.text)
        return self._encoded[encoding]

    def _gzip_from_plan(self) -> bytes:
        """Continue the gzip stream of the plan, which is nine tenths of the work and the same for every state."""
        plan = cast(EncodedJson, self.plan)
        if plan._gzip_prefix is None:
            compressor = zlib.compressobj(LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
            plan._gzip_prefix = compressor.compress(PLAN_PREFIX + plan.text), compressor
        prefix, compressor = plan._gzip_prefix
        continued = compressor.copy()
        rest = self.text[len(PLAN_PREFIX) + len(plan.text) :]
        return b"".join([prefix, continued.compress(rest), continued.flush()])


@dataclass(frozen=True, slots=True)
class MapVersion:
    """The state that a reader has: of which map base, up to which log entry and moment, with which companion seats."""

    basis: str
    version: int
    as_of: int
    companions: str

    def __str__(self) -> str:
        """The opaque form that readers send back."""
        return f"{self.basis}.{self.version}.{self.as_of}.{self.companions}"

    @classmethod
    def read(cls, text: str) -> MapVersion | None:
        """Parse what a reader sent; None if this server never issued it."""
        parts = text.split(".")
        if len(parts) != 4 or not all(part.isascii() and part.isdigit() and len(part) < 18 for part in parts[1:3]):
            return None
        return cls(parts[0], int(parts[1]), int(parts[2]), parts[3])


def map_version(basis: str, version: int, state: LiveSeats, companions: Collection[int]) -> MapVersion:
    """The version of a map in this state."""
    digest = f"{zlib.crc32(','.join(map(str, sorted(companions))).encode()):x}" if companions else "0"
    return MapVersion(basis, version, state.as_of, digest)


def visible_seats(state: LiveSeats, companions: Collection[int], *, organiser: bool) -> bytes:
    """One display state per seat; only organisers can tell held from taken."""
    seats = state.display_states(companions)
    return seats if organiser else seats.translate(PUBLIC_STATES)


def state_payload(
    version: MapVersion, state: LiveSeats, companions: Collection[int], days: ChosenDays, *, organiser: bool
) -> dict[str, Any]:
    """The state of every seat and zone; at an event of several days with the days that it is about."""
    seats = visible_seats(state, companions, organiser=organiser)
    return {
        "version": str(version),
        "plan": state.plan.drawing_id,
        "as_of": iso(state.as_of),
        "first": 1,
        "count": len(seats),
        "seats": b64encode(pack(seats)).decode(),
        "zones": occupancy.of_zones(state.zones(), organiser=organiser),
        "next_end": iso_or_none(state.next_end),
        **({"days": list(days.names)} if days.names else {}),
    }


def state_name(payload: dict[str, Any]) -> str:
    """A digest without the moment of the query, so that every process gives the same state the same name."""
    content = {key: value for key, value in payload.items() if key not in {"version", "as_of"}}
    return hashlib.blake2b(orjson.dumps(content), digest_size=10).hexdigest()


def full_map(name: str, plan: EncodedJson, state: bytes) -> EncodedJson:
    """Plan and state in one document."""
    return EncodedJson(name, b"".join([PLAN_PREFIX, plan.text, b',"state":', state, b"}"]), plan)
