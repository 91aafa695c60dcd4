"""What all processes remember together, in Redis.

Every value carries the turns of its name, its family and the whole memory as they were before it was loaded. To forget
is to raise a turn: whatever was loaded before it, and whenever it is written, is not believed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

from redis import Redis

from sync_server.plumbing.cache import Count, Keep, Load, Name
from sync_server.plumbing.redis_line import RedisLine

LONGEST_S = 3_600
TURNS_KEPT_S = 2 * LONGEST_S
"""Longer than any value, so that none outlives the turn that condemned it."""

_Read = tuple[bytes | None, bytes]


class RedisCache:
    """A cache whose Redis may go and come: what could not be forgotten there is not believed when it is back."""

    def __init__(self, line: RedisLine, prefix: str, count: Count) -> None:
        """Asks nothing yet."""
        self._line, self._prefix, self._count = line, prefix, count
        self._owed = threading.Event()  # something was to be forgotten while Redis was away
        line.on_return.append(self._pay)

    def fetch(self, name: Name, keep: Keep, load: Load) -> bytes:
        """From Redis, else by loading."""
        if keep.far_s <= 0:
            return load()
        nothing: _Read | None = None
        read = self._line.ask(lambda redis: self._read(redis, name), nothing)
        if read is not None and read[0] is not None:
            self._count("far", True)
            return read[0]
        self._count("far", False)
        value = load()
        if read is not None:
            self._line.ask(lambda redis: self._write(redis, name, read[1] + value, keep), None)
        return value

    def forget(self, *names: Name) -> None:
        """Load these anew the next time, in every process."""
        self._raise_turns(_turn(str(name)) for name in names)

    def forget_family(self, place: str, family: str) -> None:
        """The same for all names of a family in one place."""
        self._raise_turns([_turn(f"{place}:{family}")])

    def _read(self, redis: Redis, name: Name) -> _Read:
        family = f"{name.place}:{name.family}"
        with redis.pipeline(transaction=False) as asked:
            for key in (str(name), _turn(str(name)), _turn(family), _turn("all")):
                asked.get(self._key(key))
            kept, *turns = asked.execute()
        stamp = b".".join(turn or b"" for turn in turns) + b"|"
        known = kept.removeprefix(stamp) if kept is not None and kept.startswith(stamp) else None
        return known, stamp

    def _write(self, redis: Redis, name: Name, value: bytes, keep: Keep) -> None:
        redis.set(self._key(str(name)), value, px=int(min(keep.far_s, LONGEST_S) * 1000))

    def _raise_turns(self, keys: Iterable[str]) -> None:
        wanted = list(keys)
        if not self._line.ask(lambda redis: self._raise(redis, wanted), instead=False):
            self._owed.set()

    def _raise(self, redis: Redis, keys: list[str]) -> bool:
        with redis.pipeline(transaction=False) as asked:
            for key in keys:
                asked.incr(self._key(key))
                asked.expire(self._key(key), TURNS_KEPT_S)
            asked.execute()
        return True

    def _pay(self, redis: Redis) -> None:
        if self._owed.is_set():
            redis.incr(self._key(_turn("all")))
            self._owed.clear()

    def _key(self, rest: str) -> str:
        return f"{self._prefix}:{rest}"


def _turn(of: str) -> str:
    return f"{of}#turn"
