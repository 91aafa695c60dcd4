"""Remembers holds near at hand and in Redis, so that most who come too late are told so without asking the database.

Never the truth: only the database holds a seat, and only it, or two memories that agree, refuse one.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from cachetools import LRUCache
from redis import Redis

from shared.clock import Millis
from sync_server.plumbing.bus import Bus
from sync_server.plumbing.redis_line import RedisLine
from sync_server.plumbing.shapes import iso

FREED: Final = "holds:freed"
MOST: Final = 200_000
AT_ONCE: Final = 500

Key = tuple[str, str, int]
"""Organisation, event, seat by number."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A hold of a seat, as memories have it."""

    organisation_id: str
    event_id: str
    seat: int
    seat_id: str
    hold_id: str
    bearer_id: str
    until: Millis
    again: bool = False  # it lasts otherwise than at first

    @property
    def key(self) -> Key:
        """Under which it is found."""
        return self.organisation_id, self.event_id, self.seat


class Near:
    """The holds that this process made, and the seats it saw held by others, until their time is over."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._turn = threading.Lock()
        self._kept: LRUCache[Key, Kept] = LRUCache(MOST)
        self._seen: LRUCache[Key, Millis] = LRUCache(MOST)

    def keep(self, hold: Kept) -> None:
        """Remember it."""
        with self._turn:
            self._kept[hold.key] = hold

    def find(self, key: Key, now: Millis) -> Kept | None:
        """Whoever holds that seat now, as far as this process knows."""
        with self._turn:
            found = self._kept.get(key)
        return found if found is not None and found.until > now else None

    def see(self, key: Key, until: Millis) -> None:
        """Somebody was refused that seat because it is held, whoever has it."""
        with self._turn:
            self._seen[key] = until

    def expects(self, key: Key, now: Millis) -> bool:
        """Whether that seat is likely to be held: worth a short look before the long question."""
        with self._turn:
            kept = self._kept.get(key)
            return max(kept.until if kept is not None else 0, self._seen.get(key, 0)) > now

    def forget(self, keys: Iterable[Key]) -> None:
        """These are free again, or sold."""
        with self._turn:
            for key in keys:
                self._kept.pop(key, None)
                self._seen.pop(key, None)

    def forget_all(self) -> None:
        """Something may have been missed."""
        with self._turn:
            self._kept.clear()
            self._seen.clear()


class Far:
    """The same for all processes, in Redis, in keys that other programs may read; quick to give up."""

    def __init__(self, line: RedisLine, prefix: str) -> None:
        """Asks nothing yet."""
        self._line, self._prefix = line, prefix
        self._missed: deque[Kept] = deque(maxlen=MOST)  # ended while Redis was away
        line.on_return.append(self._catch_up)

    def keep(self, holds: Sequence[Kept], now: Millis) -> bool:
        """Remember them for as long as they last; whether Redis heard it."""
        return self._line.ask(lambda redis: self._keep(redis, holds, now), False)

    def whole(self) -> bool:
        """Whether Redis has all holds, as far as it can be asked: not where it began anew, or has been away."""
        return self._line.ask(lambda redis: bool(redis.exists(self._whole)), True)

    def now_whole(self) -> None:
        """Redis was told all holds."""
        self._line.ask(lambda redis: redis.set(self._whole, b"1"), None)

    def agrees(self, hold: Kept) -> bool:
        """Whether Redis knows the same hold of that seat; no answer is no agreement."""
        nothing: bytes | None = None
        found = self._line.ask(lambda redis: _bytes(redis.get(self._seat(hold.organisation_id, hold.seat_id))), nothing)
        return found is not None and found.startswith(hold.hold_id.encode())

    def forget(self, holds: Iterable[Kept]) -> None:
        """These are free again, or sold."""
        gone = list(holds)
        if gone and not self._line.ask(lambda redis: self._forget(redis, gone), False):
            self._missed.extend(gone)
            if not self._line.away:  # it came back in this very moment
                self._line.ask(self._catch_up, None)

    def forget_counts(self, organisation_id: str, event_id: str) -> None:
        """Let the event's occupancy be counted anew."""
        self._line.ask(lambda redis: redis.delete(self._event(organisation_id, event_id, "occupancy")), None)

    def _keep(self, redis: Redis, holds: Sequence[Kept], now: Millis) -> bool:
        before = {hold.hold_id: self._members(redis, hold) for hold in holds if hold.again}
        with redis.pipeline(transaction=False) as asked:
            for hold in holds:
                lasts = max(1, -(-(hold.until - now) // 1000))
                if old := before.get(hold.hold_id):
                    asked.zrem(self._holds(hold), *old)
                asked.zadd(self._holds(hold), {_member(hold): hold.until // 1000})
                asked.expire(self._holds(hold), lasts + 3600, gt=False)
                value = f"{hold.hold_id}:{hold.bearer_id}:{hold.until // 1000}"
                asked.set(self._seat(hold.organisation_id, hold.seat_id), value, ex=lasts)
                asked.delete(self._event(hold.organisation_id, hold.event_id, "occupancy"))
            asked.execute()
        return True

    def _members(self, redis: Redis, hold: Kept) -> list[bytes]:
        """What the event's set has of this hold, by the end that it had before."""
        value = _bytes(redis.get(self._seat(hold.organisation_id, hold.seat_id)))
        if value is None or not value.startswith(hold.hold_id.encode()):
            return []
        end = value.rpartition(b":")[2].decode()
        there: Any = redis.zrange(self._holds(hold), end, end, byscore=True)
        return [member for member in there if member.startswith(f"{hold.seat_id}:{hold.hold_id}:".encode())]

    def _catch_up(self, redis: Redis) -> None:
        """What ended while Redis was away must be refused to nobody now; and it has missed what was held, too."""
        redis.delete(self._whole)
        while some := list(islice(self._missed, AT_ONCE)):
            self._forget(redis, some)
            for _ in some:
                self._missed.popleft()

    def _forget(self, redis: Redis, gone: list[Kept]) -> bool:
        present = [
            _bytes(value) for value in redis.mget([self._seat(hold.organisation_id, hold.seat_id) for hold in gone])
        ]
        with redis.pipeline(transaction=False) as asked:
            for hold, value in zip(gone, present, strict=True):
                asked.zrem(self._holds(hold), _member(hold))
                # A seat of the hall may be held at another event meanwhile: that hold is not ours to forget.
                if value is not None and value.startswith(hold.hold_id.encode()):
                    asked.delete(self._seat(hold.organisation_id, hold.seat_id))
            for organisation_id, event_id in {(hold.organisation_id, hold.event_id) for hold in gone}:
                asked.delete(self._event(organisation_id, event_id, "occupancy"))
            asked.execute()
        return True

    @property
    def _whole(self) -> str:
        return f"{self._prefix}:public:holds_whole"

    def _holds(self, hold: Kept) -> str:
        return self._event(hold.organisation_id, hold.event_id, "seat_holds")

    def _event(self, organisation_id: str, event_id: str, what: str) -> str:
        return f"{self._prefix}:org:{{{organisation_id}}}:event:{event_id}:{what}"

    def _seat(self, organisation_id: str, seat_id: str) -> str:
        return f"{self._prefix}:org:{{{organisation_id}}}:seat:{seat_id}:hold"


def _member(hold: Kept) -> str:
    return f"{hold.seat_id}:{hold.hold_id}:{hold.bearer_id}:{iso(hold.until)}"


def _bytes(value: Any) -> bytes | None:
    return value if isinstance(value, bytes) else None


class Tiers:
    """Both memories, and who is told when something is free again."""

    def __init__(self, bus: Bus, far: Far | None, *, alone: bool) -> None:
        """`alone`: no other process writes to this database, so that what is near is the whole of it."""
        self.near, self.far = Near(), far
        self._bus, self._alone = bus, alone
        self._freed = bus.listen([FREED])

    def keep(self, hold: Kept, now: Millis) -> None:
        """After the commit of a hold."""
        self.near.keep(hold)
        if self.far is not None:
            self.far.keep([hold], now)

    def holder(self, key: Key, now: Millis) -> Kept | None:
        """Whoever surely holds that seat; None: ask the database."""
        self._hear()
        found = self.near.find(key, now)
        if found is None or self._alone:
            return found
        if self.far is None:
            return None
        if self.far.agrees(found):
            return found
        self.near.forget([key])
        return None

    def forget(self, holds: Iterable[Kept]) -> None:
        """After the commit that ended them; other processes hear of it."""
        gone = list(holds)
        self.near.forget(hold.key for hold in gone)
        if self.far is not None:
            self.far.forget(gone)
            self._bus.tell(FREED, {"keys": [list(hold.key) for hold in gone]})

    def _hear(self) -> None:
        """What other processes ended since the last look."""
        for note in self._freed.wait(0):
            self.near.forget((str(one), str(other), int(seat)) for one, other, seat in note.body["keys"])
        if self._freed.missed():
            self.near.forget_all()
