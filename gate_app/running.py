"""The gate at work: readers, lamps, screen and synchronisation, until somebody stops it."""

from __future__ import annotations

import signal
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial
from typing import Any

from rich.console import Console

from gate_app import terminal
from gate_app.app import http_wire, jitter
from gate_app.commands import sync_line
from gate_app.config import ReaderWish
from gate_app.database import has_room
from gate_app.gate import Presented
from gate_app.gathering import Wish
from gate_app.lodge import Lodge
from gate_app.patrol import Patrol
from gate_app.posting import gate_at
from gate_app.printing import say, tell
from gate_app.scanner_pipe import feed_from_pipe
from gate_app.screen.feed import Feed
from gate_app.screen.server import ScreenServer
from gate_app.signals import Signals
from gate_app.status import admitted_and_refused, status
from gate_app.sync.worker import Worker
from hardware.devices import ReaderPlan, open_barrier, open_indicators, open_reader
from hardware.fakes import FakeReader
from hardware.ports import CodeReader, DeviceError
from hardware.reading import readings
from shared.admission import Mode, Verdict
from shared.errors import GatehouseError, SettingsError

STATUS_EVERY_S = 2.0
LAST_SYNC_S = 3.0
"""How long a gate that is stopped waits for a request that is under way."""


class LampAndScreen:
    """What a verdict does at a real door: lamp, sound and barrier first, then the screen."""

    def __init__(self, signals: Signals, feed: Feed) -> None:
        """Everything is open already."""
        self._signals = signals
        self._feed = feed

    def give(self, told: dict[str, Any], verdict: Verdict, mode: Mode) -> None:
        """A new verdict."""
        self._signals.give(verdict, mode)
        self._feed.show(told)

    def again(self, told: dict[str, Any]) -> None:
        """The same guest, a moment longer."""
        self._signals.again()
        self._feed.show(told)


def run_gate(lodge: Lodge, kinds: tuple[str, ...], screen_port: int | None, gate: str = "") -> bool:
    """Opens what the settings name and works until a signal comes. Raises SettingsError for a missing device.

    True where the disk was full at the start and has room again: everything is to be opened anew.
    """
    stop = _stop_on_signals()
    with ExitStack() as ends:
        standing_at = _allowed(lodge, gate)
        feed = _open_feed(lodge)
        lamp = LampAndScreen(_open_signals(lodge, feed, ends), feed)
        readers = _open_readers(lodge, kinds, feed, stop, ends)
        _open_screen(lodge, feed, screen_port, stop, ends)
        _count_houses(lodge)
        serve = partial(_serve, lodge, lamp=lamp, feed=feed, stop=stop)
        threads = [
            _thread(reader.name, partial(serve, reader, wish=Wish(asked.direction, gate=standing_at)))
            for asked, reader in readers
        ]
        ends.callback(_end, threads, stop)
        _start_sync(lodge, stop, say, ends)
        for thread in threads:
            thread.start()
        _keep_house(lodge, feed, stop)
        return not stop.is_set()


def keep_in_step(lodge: Lodge, stop: threading.Event) -> None:
    """Synchronises until a signal comes, telling every change."""
    _stop_on_signals(stop)
    with ExitStack() as ends:
        if not _start_sync(lodge, stop, say, ends):
            lodge.require_enrolled()
        told: dict[str, Any] = {}
        while not stop.wait(STATUS_EVERY_S):
            lodge.time.raise_floor()
            lodge.database.rest()
            line = sync_line(lodge)
            if {**line, "snapshot_age_s": 0} != {**told, "snapshot_age_s": 0}:
                tell(line)
            told = line


def _stop_on_signals(stop: threading.Event | None = None) -> threading.Event:
    stopping = stop or threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: stopping.set())
    return stopping


def _open_feed(lodge: Lodge) -> Feed:
    admitted, refused = admitted_and_refused(lodge.database.connection)
    return Feed(lodge.world.monotonic, admitted, refused)


def _open_signals(lodge: Lodge, feed: Feed, ends: ExitStack) -> Signals:
    try:
        indicators = open_indicators(lodge.config.indicators)
        barrier = open_barrier(lodge.config.barrier)
    except DeviceError as why:
        raise SettingsError(str(why)) from why
    signals = Signals(
        indicators,
        barrier,
        lambda fault: feed.fault(fault.device, str(fault)),
        lambda device: feed.fault(device, None),
    )
    ends.callback(signals.close)
    return signals


def _open_readers(
    lodge: Lodge, kinds: tuple[str, ...], feed: Feed, stop: threading.Event, ends: ExitStack
) -> list[tuple[ReaderWish, CodeReader]]:
    wishes = tuple(ReaderWish.model_validate({"kind": kind}) for kind in kinds) or lodge.config.readers
    if not wishes:
        raise SettingsError(f"No reader is named. Use --reader, or name one in {lodge.home.settings}.")
    return [(wish, _open_reader(lodge, wish, feed, stop, ends)) for wish in wishes]


def _open_reader(lodge: Lodge, wish: ReaderWish, feed: Feed, stop: threading.Event, ends: ExitStack) -> CodeReader:
    plan = ReaderPlan(wish.kind, wish.name, wish.source, wish.width, wish.height)
    try:
        reader = open_reader(plan, lodge.world.monotonic, stop, feed.glimpse)
    except DeviceError as why:
        raise SettingsError(str(why)) from why
    ends.callback(reader.close)
    if isinstance(reader, FakeReader):
        pipe = lodge.home.folder / "scanner"
        thread = _thread("scanner pipe", lambda: feed_from_pipe(pipe, reader.scan, stop))
        ends.callback(_end, [thread], stop)
        thread.start()
        say(f"Simulated scanner: write codes, one a line, to {pipe}")
    return reader


def _open_screen(lodge: Lodge, feed: Feed, port: int | None, stop: threading.Event, ends: ExitStack) -> None:
    if port is None:
        if sys.stdout.isatty():
            ends.callback(feed.wake)
            _thread("terminal", lambda: terminal.show(feed.views(stop), Console(), stop)).start()
        return
    screen = ScreenServer(feed, lodge.config.screen_host, port, lodge.config.screen_names).open()
    ends.callback(screen.close)
    say(f"The gate's screen: {screen.address}")


def _count_houses(lodge: Lodge) -> None:
    """Before the first guest, so that none waits for it."""
    for book in lodge.roster.books.values():
        lodge.gathering.house(book, lodge.time.now().at)


def _serve(
    lodge: Lodge, reader: CodeReader, *, wish: Wish, lamp: LampAndScreen, feed: Feed, stop: threading.Event
) -> None:
    def report(fault: DeviceError | None) -> None:
        feed.fault(reader.name, str(fault) if fault else None)

    for reading in readings(reader, stop, report):
        try:
            lodge.gate.handle(Presented(reading.text, reading.reader, wish), lamp)
        except (GatehouseError, sqlite3.Error) as why:
            # One presentation that cannot be judged must not end the lane: the next guest is another question.
            feed.fault("gate", str(why))


def _allowed(lodge: Lodge, gate: str) -> str:
    """The gate that was picked, if this device may stand there at every event that it holds. Raises with words."""
    for event, post in lodge.posts.by_event.items():
        if gate and event in lodge.roster.books:
            gate_at(post, lodge.roster.books[event].facts.gates, gate)
    return gate


def _start_sync(lodge: Lodge, stop: threading.Event, report: Callable[[str], None], ends: ExitStack) -> bool:
    if lodge.identity is None or lodge.database.cannot_write:
        return False
    wire = http_wire(lodge.config)
    puller, pusher = lodge.sync(wire, lodge.config.sync_wait_s)
    worker = Worker(
        puller=puller,
        pusher=pusher,
        standing=lodge.standing,
        stop=stop,
        jitter=jitter,
        report=report,
        push_every_s=lodge.config.push_every_s,
    )
    # A long poll may be under way: closing its connection ends it, so that a stop does not wait for the server.
    ends.callback(worker.join, LAST_SYNC_S)
    ends.callback(wire.close)
    ends.callback(stop.set)
    worker.start()
    return True


def _keep_house(lodge: Lodge, feed: Feed, stop: threading.Event) -> None:
    """Status, time, disk and the journal's soundness, while the readers work."""
    patrol = Patrol(lodge.database.reading(), lodge.database.mark, lodge.time.monotonic_ms)
    while not (lodge.database.cannot_write and has_room(lodge.home.database)):
        try:
            feed.status(status(lodge.view()))
            lodge.time.raise_floor()
            lodge.database.rest()
            patrol.step(lodge.journal.head.seq)
        except (GatehouseError, sqlite3.Error) as why:
            feed.fault("gate", str(why))
        if stop.wait(STATUS_EVERY_S):
            return


def _thread(name: str, target: Callable[[], None]) -> threading.Thread:
    return threading.Thread(target=target, name=name, daemon=True)


def _end(threads: Iterable[threading.Thread], stop: threading.Event) -> None:
    stop.set()
    for thread in threads:
        if thread.ident is not None:
            thread.join(LAST_SYNC_S)
