"""Remembers what is costly to look up: near at hand for moments, in Redis for minutes, never as the truth."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from cachetools import TLRUCache

from shared.clock import MonotonicClock
from sync_server.plumbing.bus import Bus, Note
from sync_server.plumbing.logs import LOG

FORGET = "cache:forget"
NAMES_KEPT = 20_000

Load = Callable[[], bytes]
Count = Callable[[str, bool], None]
"""Told the tier's name, and whether it knew the answer."""


@dataclass(frozen=True, slots=True)
class Name:
    """What is remembered, under whose roof; a family can be forgotten as a whole."""

    place: str  # org:{<organisation>} or public: nothing crosses organisations
    family: str  # event, events:summary, feed
    rest: str

    def __str__(self) -> str:
        """As it stands in Redis, behind the prefix."""
        return f"{self.place}:{self.family}:{self.rest}"


def of_organisation(organisation_id: str, family: str, rest: str) -> Name:
    """Something of one organisation; the braces keep all of it on one node of a Redis cluster."""
    return Name(f"org:{{{organisation_id}}}", family, rest)


def public(family: str, rest: str) -> Name:
    """Something that everybody may see."""
    return Name("public", family, rest)


@dataclass(frozen=True, slots=True)
class Keep:
    """For how many seconds."""

    near_s: float  # in this process
    far_s: float = 0  # in Redis; 0: not at all


SUMMARY = Keep(30, 600)  # lists and summaries of events
EVENT = Keep(15, 300)  # one event
FEED = Keep(5, 15)  # pages of the public feed
CITIES = Keep(300, 3_600)  # suggestions


class Cache(Protocol):
    """Answers from memory, or loads; whatever happens to the memory, the answer is right at the time of its loading."""

    def fetch(self, name: Name, keep: Keep, load: Load) -> bytes:
        """What is remembered under the name, else what `load` brings; its errors are the caller's."""
        ...

    def forget(self, *names: Name) -> None:
        """Load these anew the next time; what is being loaded at this moment is not kept."""
        ...

    def forget_family(self, place: str, family: str) -> None:
        """The same for all names of a family in one place."""
        ...


class _Loading:
    """One load that others wait for."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.value: bytes | None = None


class NearCache:
    """Memory of this process, with another cache behind it or none: one load at a time for each name."""

    def __init__(
        self, monotonic: MonotonicClock, count: Count, *, behind: Cache | None = None, bus: Bus | None = None
    ) -> None:
        """With a `bus`, other processes forget what this one forgets."""
        self._behind, self._bus, self._count = behind, bus, count
        self._kept: TLRUCache[Name, tuple[bytes, float]] = TLRUCache(
            NAMES_KEPT, ttu=lambda _name, value, now: now + value[1], timer=lambda: monotonic() / 1e9
        )
        self._loading: dict[Name, _Loading] = {}
        self._turn = threading.Lock()

    def fetch(self, name: Name, keep: Keep, load: Load) -> bytes:
        """From memory, else from the one load that is going on, else by loading."""
        while True:
            with self._turn:
                known = self._kept.get(name)
                loading = self._loading.get(name)
                if known is None and loading is None:
                    mine = self._loading[name] = _Loading()
                    break
            self._count("near", True)
            if known is not None:
                return known[0]
            if loading is not None and loading.done.wait() and loading.value is not None:
                return loading.value
        self._count("near", False)
        return self._load(name, keep, load, mine)

    def _load(self, name: Name, keep: Keep, load: Load, mine: _Loading) -> bytes:
        try:
            mine.value = value = self._behind.fetch(name, keep, load) if self._behind else load()
            with self._turn:
                if self._loading.get(name) is mine:
                    self._kept[name] = value, keep.near_s
            return value
        finally:
            with self._turn:
                if self._loading.get(name) is mine:
                    del self._loading[name]
            mine.done.set()

    def forget(self, *names: Name) -> None:
        """Here, behind, and in other processes."""
        LOG.debug("cache_forgotten", names=[str(name) for name in names])
        if self._behind:
            self._behind.forget(*names)
        self._drop_exactly(names)
        self._tell([{"place": name.place, "family": name.family, "rest": name.rest} for name in names])

    def forget_family(self, place: str, family: str) -> None:
        """Here, behind, and in other processes."""
        LOG.debug("cache_forgotten", place=place, family=family)
        if self._behind:
            self._behind.forget_family(place, family)
        self._drop(lambda known: (known.place, known.family) == (place, family))
        self._tell([{"place": place, "family": family}])

    def serve(self, stop: threading.Event, look_every_s: float = 0.5) -> None:
        """Forget what other processes forget; where they may have gone unheard, forget everything."""
        if self._bus is None:
            return
        with self._bus.listen([FORGET]) as listener:
            while not stop.is_set():
                notes = listener.wait(look_every_s)
                if listener.missed():
                    self._drop(lambda _known: True)
                for note in notes:
                    self._drop_told(note.body)

    def _drop_exactly(self, names: Iterable[Name]) -> None:
        with self._turn:
            for name in names:
                self._kept.pop(name, None)
                self._loading.pop(name, None)

    def _drop(self, meant: Callable[[Name], bool]) -> None:
        with self._turn:
            for known in [*filter(meant, self._kept)]:
                self._kept.pop(known, None)
            for name in [*filter(meant, self._loading)]:
                del self._loading[name]

    def _drop_told(self, gone: Mapping[str, Any]) -> None:
        if "rest" in gone:
            self._drop_exactly([Name(gone["place"], gone["family"], gone["rest"])])
        else:
            self._drop(lambda known: (known.place, known.family) == (gone["place"], gone["family"]))

    def _tell(self, gone: list[dict[str, str]]) -> None:
        if self._bus is not None:
            self._bus.tell_all([Note(FORGET, one) for one in gone])
