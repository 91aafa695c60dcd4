"""The telephones that are readers of this gate: each a lane of its own, for as long as its pairing lasts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from gate_app.supervision.screens import Role, Screen, Screens
from gate_app.words import say
from hardware.ports import CodeReader, DeviceError, Hint, SentPictures
from shared.errors import Conflict, Forbidden, SettingsError

MOST_PHONES = 6
ENDING_S = 3.0
ANY_PHONE = "phone"
"""What is said of a gate that waits for its first telephone is said under this name."""

OpenReader = Callable[[str], SentPictures]
"""Opens the reader of this name. Raises DeviceError."""
Serve = Callable[[CodeReader, str, threading.Event], None]
"""Judges what a reader reads, in this direction, until the event is set."""
Tell = Callable[[str, str | None], None]
"""Shows what is wrong with a reader, or with None that it works."""


@dataclass(frozen=True, slots=True)
class SecureWay:
    """Where browsers find the gate's pages over an encrypted connection."""

    port: int
    fingerprint: str


@dataclass(slots=True)
class PhoneLane:
    """One telephone, and the thread that judges what it reads."""

    screen: Screen
    reader: SentPictures
    thread: threading.Thread
    over: threading.Event
    sending: threading.Lock = field(default_factory=threading.Lock)
    """Held while a picture of it is taken: one at a time."""


class Phones:
    """Opens a lane for each paired telephone, and ends it with the pairing."""

    def __init__(
        self,
        screens: Screens,
        open_reader: OpenReader,
        serve: Serve,
        tell: Tell,
        *,
        lack: Tell,
        begin: Callable[[str], None] = lambda _name: None,
    ) -> None:
        """`lack` hears that nobody reads before the first telephone comes; `begin` of each reader before it reads."""
        self._screens = screens
        self._open_reader = open_reader
        self._serve = serve
        self._tell = tell
        self._lack = lack
        self._begins = begin
        self.open_way: Callable[[], SecureWay] | None = None
        """Opens the encrypted way to the pages; None where a gate has no pages."""
        self.way: Callable[[], SecureWay | None] = lambda: None
        """The encrypted way, once it is open."""
        self._awaited = False
        self._lanes: dict[str, PhoneLane] = {}
        self._changing = threading.Lock()

    def require_room(self) -> SecureWay:
        """The way to this gate for one more telephone. Raises Conflict or SettingsError."""
        if self.open_way is None:
            raise Conflict(say("phone.no_pages"), code="no_pages")
        if len(self._paired()) >= MOST_PHONES:
            raise Conflict(say("phone.too_many", n=MOST_PHONES), code="too_many_phones")
        try:
            self._open_reader("phone").close()
        except DeviceError as why:
            raise SettingsError(str(why)) from why
        return self.open_way()

    def lane(self, screen: Screen | None) -> PhoneLane:
        """The lane of a paired telephone. Raises Forbidden if it is none, or no longer."""
        if screen is None or screen.role is not Role.READER:
            raise Forbidden(say("phone.not_paired"), code="not_paired")
        if screen.id not in self._lanes:
            self.tidy()
        lane = self._lanes.get(screen.id)
        if lane is None:
            raise Conflict(say("phone.too_many", n=MOST_PHONES), code="too_many_phones")
        return lane

    @property
    def paired(self) -> bool:
        """Whether any telephone is a reader now, heard of or not."""
        return bool(self._paired())

    def names(self) -> list[str]:
        """The readers that are open."""
        return [lane.reader.name for lane in list(self._lanes.values())]

    def begin(self, *, awaited: bool = False) -> None:
        """Opens the lanes of those paired before; `awaited`: nobody reads at this gate until a telephone comes."""
        self._awaited = awaited
        self.tidy()

    def tidy(self) -> None:
        """Opens the lanes of telephones that were paired, and ends those whose pairing is over."""
        with self._changing:
            paired = self._paired()
            for number in self._lanes.keys() - paired.keys():
                self._end(self._lanes.pop(number))
            for number in paired.keys() - self._lanes.keys():
                if len(self._lanes) < MOST_PHONES:
                    self._begin(paired[number])
        self._lack(ANY_PHONE, say("phone.none_yet") if self._awaited and not self._lanes else None)

    def close(self) -> None:
        """Ends all lanes; the telephones stay paired."""
        with self._changing:
            ended = list(self._lanes.values())
            self._lanes.clear()
        for lane in ended:
            self._end(lane)
        for lane in ended:
            # What was read in the last moment is still recorded, before the journal is closed.
            lane.thread.join(ENDING_S)

    def _paired(self) -> dict[str, Screen]:
        return {screen.id: screen for screen in self._screens.paired() if screen.role is Role.READER}

    def _begin(self, screen: Screen) -> None:
        try:
            reader = self._open_reader(screen.name)
        except DeviceError as why:
            self._tell(screen.name, str(why))
            return
        over = threading.Event()
        arguments = (reader, screen.direction, over)
        thread = threading.Thread(target=self._serve, args=arguments, name=screen.name, daemon=True)
        self._begins(screen.name)
        self._lanes[screen.id] = PhoneLane(screen, reader, thread, over)
        thread.start()

    def _end(self, lane: PhoneLane) -> None:
        lane.over.set()
        lane.reader.close()
        self._tell(lane.reader.name, None)


def in_words(hint: Hint | None) -> str:
    """What to do better with the next photograph; empty after one that was read."""
    return say(f"hint.{hint}") if hint else ""
