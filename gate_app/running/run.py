"""Runs the gate: readers, lamps, screen and synchronisation, until it is stopped."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from rich.console import Console

from gate_app.app import http_transport, jitter
from gate_app.badges.opening import Parts, open_badges
from gate_app.badges.queue import BadgeQueue
from gate_app.command_line.commands import sync_line
from gate_app.command_line.printing import print_json, print_message
from gate_app.gate_context import GateContext
from gate_app.indicators import Indicators
from gate_app.journal.scrubber import JournalScrubber
from gate_app.running.enrolling import Enrolling
from gate_app.running.opening import being_opened, open_readers, readers_wanted
from gate_app.running.outputs import open_outputs, parties_of
from gate_app.running.phones import names_of, open_phones, open_secure_way
from gate_app.running.service_watch import ALIVE, READY, STOPPING, ServiceWatch
from gate_app.scanning.gate import Presentation
from gate_app.scanning.gathering import ScanOptions
from gate_app.scanning.parties import Parties
from gate_app.scanning.turns import Turns
from gate_app.screen import terminal
from gate_app.screen.control import Control
from gate_app.screen.feed import Feed
from gate_app.screen.hosts import address_for_others
from gate_app.screen.live_pictures import LivePictures
from gate_app.screen.server import ScreenServer
from gate_app.status import admitted_and_refused, status
from gate_app.storage.database import has_room
from gate_app.supervision.desk import Desk
from gate_app.sync.worker import Worker
from hardware.devices import open_typed_page
from hardware.ports import CodeReader, DeviceError, LivePicture
from hardware.reading import readings
from shared.admission import Mode, Verdict
from shared.errors import GatehouseError
from shared.words.wording import language_of

TYPED = "screen"
"""The reader of what scanners type into the gate's page."""
STATUS_EVERY_S = 2.0
STUCK_AFTER_S = 20.0
LAST_SYNC_S = 3.0
"""How long a stopping gate waits for a request in progress."""


class LampAndScreen:
    """Shows verdicts at a real gate: lamp, sound and barrier first, then the screen."""

    def __init__(
        self, outputs: Indicators, feed: Feed, turns: Turns | None = None, badges: BadgeQueue | None = None
    ) -> None:
        """Takes over devices that are open. `turns` hears for which admissions the barrier opened."""
        self._signals = outputs
        self._feed = feed
        self._turns = turns
        self._badges = badges

    def show(self, result: dict[str, Any], verdict: Verdict, mode: Mode) -> None:
        """A new verdict. Of a guest who stands elsewhere, at a telephone, lamp and barrier say nothing."""
        elsewhere = self._feed.has_lane(str(result.get("reader", "")))
        opened = not elsewhere and self._signals.show(verdict, mode)
        if opened and self._turns is not None and result["seq"] is not None:
            self._turns.opened(result["seq"])
        self._feed.show(result)
        if self._badges is not None:
            for each in (result.get("party") or {"members": [result]})["members"]:
                self._badges.recorded(each["seq"])

    def repeat(self, result: dict[str, Any]) -> None:
        """The same ticket again; the verdict stands."""
        if not self._feed.has_lane(str(result.get("reader", ""))):
            self._signals.repeat()
        self._feed.show(result)


@dataclass(frozen=True, slots=True)
class Again:
    """Everything must be opened again: the gate was enrolled, or its disk was full and has room."""

    news: str = ""
    """What its screen says for a while."""


def run_gate(
    context: GateContext, kinds: tuple[str, ...], screen_port: int | None, gate: str = "", news: str = ""
) -> Again | None:
    """Opens what the settings name and runs until SIGINT or SIGTERM, or until everything must be opened again.

    Raises SettingsError for a missing device.
    """
    ending = _Ending()
    stop = ending.stop
    with ExitStack() as cleanup:
        context.choose_gate(gate)
        _count_occupancies(context)
        feed = _open_feed(context)
        enrolling = Enrolling(context, feed, ending.enrolled)
        badges = _open_badges(context, feed, stop, cleanup)
        outputs, turns = open_outputs(context, feed, cleanup)
        lamp = LampAndScreen(outputs, feed, turns, badges)
        parties = parties_of(context, feed, turns, stop)
        desk = context.desk(
            lamp,
            partial(feed.fault, "info"),
            parties,
            feed.taken_back,
            badges=badges,
            sound=partial(_sound, outputs, feed),
        )
        serve = partial(
            _serve, parties, lamp=lamp, feed=feed, stop=stop, looking=desk.looking, badges=badges, enrolling=enrolling
        )
        desk.enrol, desk.typed = enrolling.typed, open_typed_page(context.host.monotonic, TYPED)
        cleanup.callback(desk.typed.close)
        desk.phones = open_phones(context, desk.screens, feed, serve, cleanup)
        wanted, cameras, watch = readers_wanted(context, kinds), dict[str, LivePicture](), ServiceWatch(os.environ)
        feed.starting(being_opened(wanted))
        pictures = LivePictures(cameras, context.config.screen_picture)
        served = _open_screen(context, feed, desk, pictures, port=screen_port, stop=stop, cleanup=cleanup)
        readers = open_readers(context, wanted, feed, stop, cleanup, patient=watch.watches)
        cameras |= {reader.name: reader for _, reader in readers if isinstance(reader, LivePicture)}
        context.health.readers = partial(names_of, readers, desk.phones)
        context.health.faults = feed.faults
        desk.phones.begin(awaited=not readers)
        threads = [
            _thread(reader.name, partial(serve, reader, options=ScanOptions(settings.direction)))
            for settings, reader in readers
        ]
        threads += [_thread(TYPED, partial(serve, desk.typed, options=ScanOptions()))]
        threads += [_thread("turns", partial(turns.run, stop))] if turns else []
        cleanup.callback(_join, threads, stop)
        _start_sync(context, stop, print_message, cleanup)
        for thread in threads:
            thread.start()
        _say_started(feed, served, news)
        watch.tell(READY)
        _supervise(context, feed, stop, desk, watch)
        return ending.told(watch)


def run_sync(context: GateContext, stop: threading.Event) -> None:
    """Synchronises until SIGINT or SIGTERM, printing every change."""
    _on_signals(stop.set)
    with ExitStack() as cleanup:
        if not _start_sync(context, stop, print_message, cleanup):
            context.require_enrolled()
        last: dict[str, Any] = {}
        while not stop.wait(STATUS_EVERY_S):
            context.time.raise_floor()
            context.database.rest()
            line = sync_line(context)
            if {**line, "snapshot_age_s": 0} != {**last, "snapshot_age_s": 0}:
                print_json(line)
            last = line


class _Ending:
    """Why a run of the gate ends: it was told to, or everything must be opened again."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self._told_to = threading.Event()
        self._news = ""
        _on_signals(self._end)

    def enrolled(self, news: str) -> None:
        """This gate is another one from now on."""
        self._news = news
        self.stop.set()

    def told(self, watch: ServiceWatch) -> Again | None:
        """What comes next. A service manager that heard of an end would not wait for another beginning."""
        if not self._told_to.is_set():
            return Again(self._news)
        watch.tell(STOPPING)
        return None

    def _end(self) -> None:
        self._told_to.set()
        self.stop.set()


def _on_signals(does: Callable[[], None]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: does())


def _say_started(feed: Feed, served: str, news: str) -> None:
    feed.starting("")
    feed.note(news)
    print_message(served)
    print_message(news)


def _open_feed(context: GateContext) -> Feed:
    admitted, refused = admitted_and_refused(context.database.connection)
    feed = Feed(context.host.monotonic, admitted, refused, STUCK_AFTER_S)
    # Before the first screen opens: what is not known yet must not look ready.
    feed.status(status(context.status_source()))
    return feed


def _open_badges(context: GateContext, feed: Feed, stop: threading.Event, cleanup: ExitStack) -> BadgeQueue | None:
    parts = Parts(context.home.badges, context.journal, context.roster, context.time, context.host.monotonic)
    settings = context.config.printer
    queue = open_badges(settings, parts, feed.fault, stop, cleanup)
    if settings is not None and queue is not None:
        context.health.printer = lambda: f"{settings.kind}: {queue.state}"
    return queue


def _sound(outputs: Indicators, feed: Feed, percent: int) -> None:
    outputs.set_loudness(percent)
    feed.loud(percent)


def _open_screen(
    context: GateContext,
    feed: Feed,
    desk: Desk,
    pictures: LivePictures,
    *,
    port: int | None,
    stop: threading.Event,
    cleanup: ExitStack,
) -> str:
    """Opens what people see of this gate; returns where, for the log."""
    config = context.config
    if port is None:
        _open_control(context, desk, "", cleanup)
        if sys.stdout.isatty():
            cleanup.callback(feed.wake)
            language = language_of(config.language)
            _thread("terminal", lambda: terminal.show(feed.views(stop), Console(), stop, language)).start()
        return ""
    screen = ScreenServer(
        feed,
        config.screen_host,
        port,
        names=config.screen_names,
        pictures=pictures,
        language=config.language,
        desk=desk,
    ).open()
    cleanup.callback(screen.close)
    desk.address = address_for_others(config.screen_host, screen.port)
    if desk.phones is not None:
        open_secure_way(context, desk.phones, screen, cleanup)
    _open_control(context, desk, desk.address, cleanup)
    return f"The gate's screen: {screen.address}"


def _open_control(context: GateContext, desk: Desk, screens_at: str, cleanup: ExitStack) -> None:
    control = Control(desk, context.home.control, context.host.entropy, screens_at).open()
    cleanup.callback(control.close)


def _count_occupancies(context: GateContext) -> None:
    """Counts who is inside before the first guest arrives, so that nobody waits for it."""
    for snapshot in context.roster.snapshots.values():
        context.gathering.occupancy(snapshot, context.time.now().at)


def _serve(
    parties: Parties,
    reader: CodeReader,
    *,
    options: ScanOptions,
    lamp: LampAndScreen,
    feed: Feed,
    stop: threading.Event,
    looking: Callable[[], bool] = lambda: False,
    badges: BadgeQueue | None = None,
    enrolling: Enrolling | None = None,
    words: Callable[[DeviceError], str] = str,
) -> None:
    def report(fault: DeviceError | None) -> None:
        feed.fault(reader.name, words(fault) if fault else None)

    for reading in readings(reader, stop, report):
        if stop.is_set():
            return
        if parties.busy:
            # Nothing is decided, and so nothing recorded: whoever comes next shows the ticket once more.
            feed.ask_to_wait(reader.name)
            continue
        try:
            if enrolling is not None and enrolling.takes(reading.text):
                continue
            presentation = Presentation(reading.text, reading.reader, options)
            if looking():
                feed.show(parties.look(presentation))
            else:
                if badges is not None:
                    badges.read(reading.text)
                parties.present(presentation, lamp)
        except Exception as why:
            # One scan that fails must not stop the reader: the next ticket may be fine.
            feed.fault("scan", str(why) or type(why).__name__)
        else:
            feed.fault("scan", None)


def _start_sync(context: GateContext, stop: threading.Event, report: Callable[[str], None], cleanup: ExitStack) -> bool:
    if context.identity is None:
        return False
    transport = http_transport(context.config)
    puller, pusher = context.sync(transport, context.config.sync_wait_s)
    worker = Worker(
        puller=puller,
        pusher=pusher,
        sync_state=context.sync_state,
        stop=stop,
        jitter=jitter,
        report=report,
        push_every_s=context.config.push_every_s,
        pulls=not context.database.cannot_write,  # nothing new could be stored; what was recorded can be delivered
    )
    # Closing the connection ends a long poll, so that a stop does not wait for the server.
    cleanup.callback(worker.join, LAST_SYNC_S)
    cleanup.callback(transport.close)
    cleanup.callback(stop.set)
    worker.start()
    return True


def _supervise(context: GateContext, feed: Feed, stop: threading.Event, desk: Desk, watch: ServiceWatch) -> None:
    """Updates status and time, and checks disk and journal, while the readers work."""
    scrubber = JournalScrubber(context.database.reading(), context.database.put, context.time.monotonic_ms)
    while not (context.database.cannot_write and has_room(context.home.database)):
        try:
            context.database.try_to_write()
            desk.looking()
            desk.parties.tidy()
            if desk.phones is not None:
                desk.phones.tidy()
            feed.status(status(context.status_source()))
            context.time.raise_floor()
            context.database.rest()
            scrubber.step(context.journal.head.seq)
            feed.fault("gate", None)
        except (GatehouseError, sqlite3.Error) as why:
            feed.fault("gate", str(why))
        watch.tell(ALIVE)
        if stop.wait(STATUS_EVERY_S):
            return


def _thread(name: str, target: Callable[[], None]) -> threading.Thread:
    return threading.Thread(target=target, name=name, daemon=True)


def _join(threads: Iterable[threading.Thread], stop: threading.Event) -> None:
    stop.set()
    for thread in threads:
        if thread.ident is not None:
            thread.join(LAST_SYNC_S)
